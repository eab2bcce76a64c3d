/** Reads klines from a CSV file that a configuration names. Faults are refused with their line, or repaired on request. */
import { basename } from 'node:path';
import { allIntervals, type Interval, intervalMs, openTimeOf } from '../domain/interval.ts';
import { type Columns, type FeedGap, mapColumns } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import type { StoredKlines } from './catalogue/run-data.ts';
import { accepted, type Finding, findingText, type Repaired, refuseNamed } from './check/finding.ts';
import { findGaps } from './check/gaps.ts';
import { otherValues, SwappedColumns } from './check/klines.ts';
import {
  cutNotes,
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
} from './data-warnings.ts';
import { repairRows } from './import/repair.ts';
import { isWholeMs } from './import/times.ts';
import { namedCsv, readNamedTable } from './named-file.ts';
import { isPossible } from './price-jumps.ts';
import { klineColumns } from './tape.ts';

export interface KlineFile extends Stretch {
  /** `.csv` or `.csv.gz` with the header `time_ms,open,high,low,close,volume`; times are UTC ms at which klines open. */
  readonly path: string;
  readonly symbol: string;
  readonly interval: Interval;
  /** The instrument's: prices with more decimals are refused. */
  readonly pricePrecision: number;
  /** Sorts rows and drops repeated ones instead of refusing them. */
  readonly repair?: boolean;
  /** Prices that jump to another scale are taken. */
  readonly acceptJumps?: boolean;
}

/** Warnings are about the rows `from` to `to`. */
export interface KlineData extends Notes {
  readonly columns: Columns;
  readonly gaps: readonly FeedGap[];
  /** Of the file as it was read, hex. */
  readonly sha256: string;
}

/** Reads and checks a file of klines. Throws a `Refusal` with the line of each fault that would falsify a result. */
export function loadKlines(file: KlineFile): KlineData {
  const { path } = file;
  const price = { role: 'number', maxDecimals: file.pricePrecision } as const;
  const names = [
    { name: 'time_ms', role: 'epoch' } as const,
    ...['open', 'high', 'low', 'close'].map((name) => ({ name, ...price })),
    { name: 'volume', role: 'number' } as const,
  ];
  const remedy = `correct the file, or import it without them (sluice data import ${path} --repair unreadable)`;
  const { ended, sha256, ...table } = readNamedTable(namedCsv(path, names, remedy), 'klines');
  const read = klineColumns(table.columns);
  const { columns, part, repaired } = checked(file, read);
  const gaps = findGaps(file, columns.openTime);
  return { columns, gaps, ...notesFor(file, columns, gaps, part, repaired, ended), sha256 };
}

/** The same for klines that code gives, without repairs; messages call them `data`. */
export function givenKlines(of: Omit<KlineFile, 'path' | 'repair' | 'acceptJumps'>, columns: Columns): StoredKlines {
  const file = { path: 'data', ...of };
  refuseColumns(columns, of.pricePrecision);
  const found = klineFindings(of.interval, columns);
  const part = partFindings(file, columns);
  const faults = [...found.filter(isRefused), ...part.filter(({ refused, check }) => refused && check === 'scale')];
  if (faults.length > 0) throw new Refusal(`data: not used: ${faults.map((fault) => findingText(fault)).join('; ')}`);
  const gaps = findGaps(file, columns.openTime);
  return { columns, gaps, ...notesFor(file, columns, gaps, part, [], true), sha256: '' };
}

function refuseColumns(columns: Columns, pricePrecision: number): void {
  const { openTime, open, high, low, close } = columns;
  const rows = openTime.length;
  if (rows === 0) throw new Refusal('data has no klines: give at least one');
  for (const [name, { length }] of Object.entries(columns))
    if (length !== rows)
      throw new Refusal(`data: ${name} has ${length} values, openTime ${rows}: give one for each kline`);
  const scale = 10 ** pricePrecision;
  for (let row = 0; row < rows; row++) {
    const time = openTime[row] as number;
    if (!isWholeMs(time))
      throw new Refusal(`data, kline ${row}: openTime is ${time}: it must be UTC ms, such as ${Date.UTC(2024, 0, 1)}`);
    for (const column of [open, high, low, close]) {
      const price = column[row] as number;
      // Dividing a whole number by a power of ten gives the double that the text of the decimal gives.
      if (Number.isFinite(price) && Math.round(price * scale) / scale !== price)
        throw new Refusal(
          `data, kline ${row}: the price ${price} has more than the ${pricePrecision} decimals of its instrument: round it, or give an instrument with a larger pricePrecision`,
        );
    }
  }
}

/** After the header. */
const firstLine = 2;

/** Checks the rows as an import would, and repairs them if asked for. `part`: findings in the rows `from` to `to`. Throws a `Refusal` with their faults. */
function checked(file: KlineFile, read: Columns) {
  const part = partFindings(file, read);
  // Nearly all files are sound: then each row is checked once.
  if (!(part.some(({ refused }) => refused) || hasFaultsOutsideRange(file, read)))
    return { columns: read, part, repaired: [] };
  const found = klineFindings(file.interval, read, firstLine);
  const isRepairable = found.some(({ check }) => check === 'disorder' || check === 'duplicates');
  if (file.repair !== true || !isRepairable) {
    refuseFaults(file, read, found, partFindings(file, read, firstLine));
    return { columns: read, part, repaired: [] };
  }
  const { openTime, open, high, low, close, volume } = read;
  const table = { kind: 'klines', columns: [openTime, open, high, low, close, volume], rows: openTime.length } as const;
  const { table: rest, repaired } = repairRows(table, new Set(['sort', 'duplicates'] as const));
  const columns = klineColumns(rest.columns);
  // Repaired rows have no line.
  const repairedPart = partFindings(file, columns);
  refuseFaults(file, columns, klineFindings(file.interval, columns), repairedPart);
  return { columns, part: repairedPart, repaired };
}

/** Jumps count only in the part that a run uses. Klines of several intervals are refused by every run, whatever their source. */
const isRefused = ({ refused, check }: Finding): boolean => refused && check !== 'scale' && check !== 'mixed';

function partFindings(file: KlineFile, columns: Columns, line = 0): readonly Finding[] {
  const [first, end] = rowsWithin(columns.openTime, file);
  const part = mapColumns(columns, (column) => column.subarray(first, end));
  return klineFindings(file.interval, part, line === 0 ? 0 : line + first);
}

/** Whether a row outside `from` to `to` may have a fault: this is cheaper than the checks, which then say which. */
function hasFaultsOutsideRange({ interval, ...stretch }: KlineFile, columns: Columns): boolean {
  const { openTime, open, high, low, close, volume } = columns;
  const [first, end] = rowsWithin(openTime, stretch);
  const swapped = new SwappedColumns();
  swapped.add(openTime, open, close, openTime.length);
  if (swapped.isSwapped) return true;
  const isFaulty = (row: number): boolean => {
    const time = openTime[row] as number;
    if (row > 0 && time <= (openTime[row - 1] as number)) return true;
    const [top, bottom] = [high[row] as number, low[row] as number];
    if (!isPossible(open[row] as number, top, bottom, close[row] as number, volume[row] as number)) return true;
    return openTimeOf(interval, time) !== time;
  };
  for (let row = 0; row <= first && row < openTime.length; row++) if (isFaulty(row)) return true;
  for (let row = Math.max(0, end); row < openTime.length; row++) if (isFaulty(row)) return true;
  return false;
}

/** Throws a `Refusal` with the faults of all rows, and with jumps in the part that a run uses. */
function refuseFaults(
  { path, symbol, interval, acceptJumps = false, repair = false }: KlineFile,
  { openTime }: Columns,
  found: readonly Finding[],
  part: readonly Finding[],
): void {
  const jumps = accepted(part, acceptJumps).filter(({ check }) => check === 'scale');
  const faults = [...found.filter(isRefused), ...jumps];
  const smaller = faults.some(({ check }) => check === 'off-grid') ? smallerOf(openTime, interval) : undefined;
  // Local times would be sorted into wrong places.
  const mayRepair = !repair && !faults.some(({ check }) => check === 'zone');
  const adviceFor = ({ check, what, advice }: Finding): string | undefined => {
    if (check === 'off-grid' && smaller !== undefined)
      return `these are ${smaller} klines: set dataIntervals: { ${symbol}: ${smaller} }, and Sluice makes the ${interval} klines from them`;
    if (check === 'off-grid') return advice?.replace('(--interval)', `(dataIntervals: { ${symbol}: INTERVAL })`);
    const isRepairable = check === 'disorder' || (check === 'duplicates' && !what.endsWith(otherValues));
    return mayRepair && isRepairable
      ? 'correct the file, or write repair: true in the configuration, which sorts rows and drops repeated ones'
      : advice;
  };
  const advised = faults.map((one) => {
    const advice = adviceFor(one);
    return advice === undefined ? one : { ...one, advice };
  });
  refuseNamed(path, advised, openTime.length);
}

function notesFor(
  file: KlineFile,
  columns: Columns,
  gaps: readonly FeedGap[],
  found: readonly Finding[],
  repaired: readonly Repaired[],
  ended: boolean,
): Notes {
  const name = basename(file.path);
  const [first, end] = rowsWithin(columns.openTime, file);
  const part = mapColumns(columns, (column) => column.subarray(first, end));
  const repairs = repaired.map(({ repair, rows }) => `${name}: ${repairText(repair, rows)}`);
  return together(
    { warnings: repairs, doubts: repairs },
    gapNotes(name, gapsWithin(gaps, file), file.interval),
    cutNotes(name, ended),
    notesOf(name, found),
    recordedNotes(name, part, found),
  );
}

/** The smaller interval that nearly all rows are of, if there is one. */
function smallerOf(openTime: Float64Array, interval: Interval): Interval | undefined {
  return allIntervals.slice(0, allIntervals.indexOf(interval)).find((smaller) => {
    const lengthMs = intervalMs(smaller, 0);
    let steps = 0;
    for (let row = 1; row < openTime.length; row++) {
      const time = openTime[row] as number;
      if (time - (openTime[row - 1] as number) === lengthMs && openTimeOf(smaller, time) === time) steps++;
    }
    return steps > 0.9 * (openTime.length - 1);
  });
}
