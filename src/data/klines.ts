/** Recorded klines from a CSV file into columns, checked row by row: what is wrong is said with its line, nothing is mended unasked. */
import { basename } from 'node:path';
import { type Interval, intervalMs, intervals, openTimeOf } from '../domain/interval.ts';
import { type Columns, type FeedGap, mapColumns } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import { type AsRecorded, asRecorded } from './as-recorded.ts';
import { withBlocks } from './bytes.ts';
import { lowerBound } from './catalogue/rows.ts';
import { type Finding, findingText } from './check/finding.ts';
import { findGaps, missingIn } from './gaps.ts';
import { mostPrice } from './leaps.ts';
import { readNumberTable } from './number-table.ts';
import { sortedOnce } from './repair.ts';
import {
  gapNotes,
  gapsWithin,
  klineFindings,
  type Notes,
  notesOf,
  recordedNotes,
  repairText,
  rowsWithin,
  type Stretch,
  together,
} from './told.ts';

export interface KlineFile extends Stretch {
  /** `.csv` or `.csv.gz` with the header `time_ms,open,high,low,close,volume`; times are UTC ms at which klines open. */
  readonly path: string;
  readonly symbol: string;
  readonly interval: Interval;
  /** The instrument's: prices with more decimals are refused. */
  readonly pricePrecision: number;
  /** Sort the rows and drop repeated ones instead of refusing them. */
  readonly repair?: boolean;
  /** Prices that jump to another scale are taken. */
  readonly acceptJumps?: boolean;
}

/** Of its rows `from` to `to` it says what an import would. */
export interface KlineData extends Notes {
  readonly columns: Columns;
  readonly gaps: readonly FeedGap[];
  readonly findings: KlineFindings;
  /** Of the file as it was read, hex. */
  readonly sha256: string;
}

export interface KlineFindings extends AsRecorded {
  /** Klines that are not there although later ones are. */
  readonly missing: number;
  /** By a repair. */
  readonly duplicatesDropped: number;
  readonly rowsOutOfOrder: number;
}

/** Reads and checks a file of klines. Throws a `Refusal` with the line number for everything that would falsify a result. */
export function loadKlines(file: KlineFile): KlineData {
  const { path } = file;
  const price = { mostDecimals: file.pricePrecision };
  const names = [
    { name: 'time_ms' },
    { name: 'open', ...price },
    { name: 'high', ...price },
    { name: 'low', ...price },
    { name: 'close', ...price },
    { name: 'volume' },
  ];
  const remedy = `correct the file, or import it without them (sluice data import ${path} --repair unreadable)`;
  const { value: table, sha256 } = withBlocks(path, (source) => readNumberTable(path, source, names, remedy));
  const [openTime, open, high, low, close, volume] = table.columns;
  if (!openTime || !open || !high || !low || !close || !volume) throw new Error('the table has six columns');
  if (openTime.length === 0) throw new Refusal(`${path} has no rows: fetch the file again`);
  const read: Columns = { openTime, open, high, low, close, volume };
  checkRows(file, read);
  const { columns, duplicatesDropped, rowsOutOfOrder } = sortedOnce(file, read);
  const gaps = findGaps(file, columns.openTime);
  const findings = {
    ...asRecorded(columns),
    missing: missingIn(gaps, { interval: file.interval }),
    duplicatesDropped,
    rowsOutOfOrder,
  };
  return { columns, gaps, findings, ...told(file, columns, gaps, findings, table.ended), sha256 };
}

/** Refuses prices that jump to another scale, as an import does; the rest is told. */
function told(
  file: KlineFile,
  columns: Columns,
  gaps: readonly FeedGap[],
  { duplicatesDropped, rowsOutOfOrder }: KlineFindings,
  ended: boolean,
): Notes {
  const name = basename(file.path);
  const [first, end] = rowsWithin(columns.openTime, file);
  const part = mapColumns(columns, (column) => column.subarray(first, end));
  const found = klineFindings(file.interval, part);
  refuseJump(file, columns.openTime, found);
  const mended = [
    ...(duplicatesDropped > 0 ? [repairText('duplicates', duplicatesDropped)] : []),
    ...(rowsOutOfOrder > 0 ? [repairText('sort', rowsOutOfOrder)] : []),
  ].map((text) => `${name}: ${text}`);
  const cut = ended ? [] : [`${name}: the last line has no end: the file may be cut off`];
  return together(
    { warnings: mended, doubts: mended },
    gapNotes(name, gapsWithin(gaps, file), file.interval),
    { warnings: cut, doubts: [] },
    notesOf(name, found),
    recordedNotes(name, part, found),
  );
}

function refuseJump(
  { path, acceptJumps = false, repair = false }: KlineFile,
  openTime: Float64Array,
  found: readonly Finding[],
): void {
  const jump = found.find(({ check, refused }) => check === 'scale' && refused);
  if (jump === undefined || acceptJumps) return;
  // Of mended rows nobody knows the line.
  const places = jump.places.map((place) =>
    repair ? place : { ...place, line: rowAt(openTime, place.time ?? 0) + 2 },
  );
  const advice = `cut the file up by symbol or unit; if the market did it, import it and say so (sluice data import ${path} --accept-jumps), and write catalogue for its name in the configuration`;
  throw new Refusal(`${path}: ${findingText({ ...jump, places, advice })}`);
}

/** The first row that opens at `time` (UTC ms) or later; the number of rows when there is none. */
export const rowAt = (openTime: Float64Array, time: number): number => lowerBound(openTime, openTime.length, time);

/** Refuses rows that no market can have made, counting them all and naming the first. */
function checkRows({ path, symbol, interval }: KlineFile, columns: Columns): void {
  let impossible = 0;
  let swapped = 0;
  let first: { readonly line: number; readonly fault: string } | undefined;
  const rows = columns.openTime.length;
  for (let row = 0; row < rows; row++) {
    const fault = faultOf(columns, row, interval);
    if (fault === undefined) continue;
    impossible++;
    if (fault === highBelowLow) swapped++;
    first ??= { line: row + 2, fault };
  }
  if (first === undefined) return;
  const smaller = smallerOf(columns.openTime, interval);
  const where = `line ${first.line}: ${first.fault}`;
  if (smaller !== undefined && swapped <= rows / 2)
    throw new Refusal(
      `${path} has klines of ${smaller}, not of ${interval}: say so (dataIntervals: { ${symbol}: ${smaller} }), and those of ${interval} are made from them (${where}; as with ${impossible} of ${rows} rows)`,
    );
  const hint =
    swapped > rows / 2
      ? 'the columns are probably not in the order time_ms,open,high,low,close,volume (open, close, high, low?)'
      : 'correct or remove these rows, or fetch the file again';
  throw new Refusal(`${path}, ${where} (${impossible} of ${rows} rows are impossible): ${hint}`);
}

/** The smaller interval at whose openings nearly all rows stand, one after the other: a file of that, and not a wrong one. */
function smallerOf(openTime: Float64Array, interval: Interval): Interval | undefined {
  return intervals.slice(0, intervals.indexOf(interval)).find((smaller) => {
    const lengthMs = intervalMs(smaller, 0);
    let steps = 0;
    for (let row = 1; row < openTime.length; row++) {
      const time = openTime[row] as number;
      if (time - (openTime[row - 1] as number) === lengthMs && openTimeOf(smaller, time) === time) steps++;
    }
    return steps > 0.9 * (openTime.length - 1);
  });
}

const highBelowLow = 'high is below low';

function faultOf(columns: Columns, row: number, interval: Interval): string | undefined {
  const time = columns.openTime[row] as number;
  const low = columns.low[row] as number;
  const high = columns.high[row] as number;
  const close = columns.close[row] as number;
  const open = columns.open[row] as number;
  const volume = columns.volume[row] as number;
  if (high < low) return highBelowLow;
  if (close < low || close > high) return `close ${close} lies outside [${low}, ${high}]`;
  if (!(low > 0 && open > 0)) return 'a price is not above 0';
  if (!(high < mostPrice && open < mostPrice)) return `a price is ${mostPrice} or above`;
  if (!(volume >= 0 && volume < Number.POSITIVE_INFINITY)) return `volume ${volume} is impossible`;
  if (openTimeOf(interval, time) === time) return undefined;
  return `time ${time} does not open a kline of ${interval} (times are UTC ms at which klines open)`;
}
