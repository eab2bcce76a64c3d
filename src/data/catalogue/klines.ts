/** Klines of the catalogue as a run wants them: of the interval asked for, made from smaller ones where only those are stored. */
import { type Interval, intervals, isWithin } from '../../domain/interval.ts';
import { type Columns, type FeedGap, mapColumns } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Notes, rowsWithin, type Stretch, together } from '../data-warnings.ts';
import { findGaps } from '../gaps.ts';
import { resampleKlines, resampleTrades } from '../resample.ts';
import { changedSource, isMade, remaking, seriesHash, staleText } from './derived-series.ts';
import { ledgerOf } from './gap-ledger.ts';
import { seriesName } from './kinds.ts';
import { loadSeries, type Span } from './load.ts';
import { listSeries, type Manifest } from './manifest.ts';
import type { Table } from './parquet.ts';
import { partial } from './partial-klines.ts';
import { readAgain } from './retry-read.ts';
import { stampsOf } from './series-warnings.ts';

/** Rows of klines (`of` names their interval) or trades, from the first to the last, UTC ms. */
export interface Held {
  readonly of: string;
  readonly from: number;
  readonly to: number;
}

export interface StoredKlines extends Notes {
  readonly columns: Columns;
  readonly gaps: readonly FeedGap[];
  /** What they are or were made of, where that is stored: also what was not loaded. */
  readonly held?: Held;
  /** Where they come from, such as an exchange, where an import said so. */
  readonly source?: string;
  /** Of the stored months, hex: the same rows have the same hash. */
  readonly sha256: string;
}

/** The columns of klines by name. */
export function klineColumns({ columns }: Table): Columns {
  const [openTime, open, high, low, close, volume] = columns;
  if (!openTime || !open || !high || !low || !close || !volume) throw new Error('klines have six columns');
  return { openTime, open, high, low, close, volume };
}

/** Loads klines. A kept series whose source changed since is not used: they are made anew. A `Refusal` says what is stored when that is not it. */
export const storedKlines = (dir: string, wanted: Wanted): Promise<StoredKlines> =>
  readAgain(dir, () => klinesNow(dir, wanted));

interface Wanted extends Span {
  readonly symbol: string;
  readonly interval: Interval;
  readonly pricePrecision: number;
  /** Of which part something is told; of all where it is left out. */
  readonly told?: Stretch;
}

async function klinesNow(dir: string, wanted: Wanted): Promise<StoredKlines> {
  const { symbol, interval, pricePrecision } = wanted;
  const stored = listSeries(dir, (one) => one.symbol === symbol);
  const all = stored.filter(({ kind }) => kind === 'klines');
  const series = all.filter((one) => one.symbol === symbol && one.zone === undefined);
  const kept = series.find((one) => one.interval === interval) ?? finest(series, interval);
  if (kept === undefined) throw notStored(dir, all, symbol, interval);
  // Rows that were imported beside made ones are nowhere else: such a series is used, and called stale.
  const changed = isMade(kept) ? changedSource(stored, kept) : undefined;
  const found = changed ?? kept;
  if (found.priceDecimals > pricePrecision)
    throw new Refusal(
      `${symbol} ${found.interval ?? found.kind}: its prices have up to ${found.priceDecimals} decimals, the instrument ${pricePrecision}: set its pricePrecision to what the data have`,
    );
  const table = await loadSeries(dir, found, wanted);
  const sha256 = seriesHash(found);
  const stale = staleNotes(stored, kept, changed);
  const columns = found.interval === undefined ? fromTrades(table, interval) : klineColumns(table);
  const part = wanted.told ?? {};
  const notes = stampsOf(found, part, found.interval === undefined ? undefined : within(columns, part));
  const last = columns.openTime.at(-1) ?? 0;
  const gaps = ledgerOf(found).filter(({ to }) => to <= last);
  const doubts = kept.staleBy === undefined || changed !== undefined ? [] : stale;
  const telling = (...more: readonly string[]): Notes => together(notes, { warnings: [...stale, ...more], doubts });
  const [firstMonth, lastMonth] = [found.months[0], found.months.at(-1)];
  const held = { of: found.interval ?? found.kind, from: firstMonth?.from ?? 0, to: lastMonth?.to ?? 0 };
  const source = found.source === 'unknown' ? {} : { source: found.source };
  if (found.interval === interval) return { columns, gaps, held, ...source, ...telling(), sha256 };
  const larger = found.interval === undefined ? columns : resampleKlines(found.interval, columns, { interval });
  const made = madeNotes(found, within(larger, part).openTime, { symbol, interval });
  const between = findGaps({ symbol, interval }, larger.openTime);
  return { columns: larger, gaps: between, held, ...source, ...telling(...made), sha256 };
}

function within(columns: Columns, part: Stretch): Columns {
  const [first, end] = rowsWithin(columns.openTime, part);
  return mapColumns(columns, (column) => column.subarray(first, end));
}

/** What is to be known of klines that are made for a run. */
function madeNotes(
  source: Manifest,
  opens: Float64Array,
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
): readonly string[] {
  const finer = source.interval;
  const hint =
    finer === undefined
      ? ''
      : `: orders fill by these; by those of ${finer} with dataIntervals: { ${symbol}: ${finer} }`;
  const cut = partial(source, opens, { interval }).map(
    ({ what, effect }) => `${symbol} ${interval}: ${what}: ${effect}`,
  );
  return [...cut, `${symbol}: ${interval} made from ${finer ?? source.kind}${hint}`];
}

function staleNotes(stored: readonly Manifest[], kept: Manifest, changed: Manifest | undefined): readonly string[] {
  const { symbol, interval } = kept;
  if (changed !== undefined)
    return [
      `${symbol}: the klines of ${interval} that are kept are not used, because their source ${seriesName(changed)} changed (${remaking(kept)} makes them anew)`,
    ];
  const inPart = staleText(stored, kept);
  return inPart === undefined ? [] : [`${symbol} ${interval}: ${inPart}`];
}

function fromTrades({ columns: [time, price, quantity] }: Table, interval: Interval): Columns {
  if (!time || !price || !quantity) throw new Error('trades have times, prices and quantities');
  return resampleTrades({ time, price, quantity }, { interval });
}

/** The largest that the wanted interval consists of: the fewest rows to read. */
const finest = (series: readonly Manifest[], wanted: Interval): Manifest | undefined =>
  series
    .filter(({ interval }) => interval !== undefined && isWithin(interval, wanted))
    .toSorted((a, b) => intervals.indexOf(b.interval ?? '1min') - intervals.indexOf(a.interval ?? '1min'))[0];

function notStored(dir: string, all: readonly Manifest[], symbol: string, interval: Interval): Refusal {
  const same = all.filter((one) => one.symbol === symbol);
  const names = same.map((one) => `${one.interval}${one.zone === undefined ? '' : ` of ${one.zone}`}`);
  const ofPlaces = same.some(({ zone }) => zone !== undefined)
    ? '; days of a place (resample --zone) are for looking at, runs go by those of UTC'
    : '';
  const what =
    same.length > 0
      ? `of ${symbol} it holds ${names.join(', ')}, of which ${interval} cannot be made${ofPlaces}`
      : all.length > 0
        ? `it holds ${[...new Set(all.map((one) => one.symbol))].slice(0, 8).join(', ')}`
        : 'it holds no klines';
  return new Refusal(
    `${symbol} ${interval} is not in the catalogue ${dir}: ${what}; import it (sluice data import FILE), or name a file (data: { ${symbol}: FILE })`,
  );
}
