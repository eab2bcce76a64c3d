/** Klines of the catalogue for a run: of the interval asked for, made from smaller ones where only those are stored. */
import { compareIntervals, type Interval, isWithin } from '../../domain/interval.ts';
import { type Columns, type FeedGap, mapColumns } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import { findGaps } from '../check/gaps.ts';
import { type Notes, rowsWithin, type Stretch, together } from '../data-warnings.ts';
import { resampleKlines, resampleTrades } from '../resample.ts';
import { booksOf, depthColumns, klineColumns, type Tape, tradeColumns } from '../tape.ts';
import { changedSource, isMade, remaking, seriesHash, staleText } from './derived-series.ts';
import { ledgerOf, partialFindings } from './gap-ledger.ts';
import { type Kind, type SeriesKey, seriesName } from './kinds.ts';
import { loadSeries, type Span } from './load.ts';
import { listSeries, type Manifest, readAgain } from './manifest.ts';
import { seriesNotes } from './series-warnings.ts';

/** All stored rows of klines (`of` names their interval) or trades, from the first to the last, UTC ms. */
export interface StoredSpan {
  readonly of: string;
  readonly from: number;
  readonly to: number;
}

export interface StoredKlines extends Notes {
  readonly columns: Columns;
  readonly gaps: readonly FeedGap[];
  /** What they are or were made of, also the part that was not loaded. */
  readonly stored?: StoredSpan;
  /** Where an import said they come from, such as an exchange. */
  readonly source?: string;
  /** Of the stored months, hex. */
  readonly sha256: string;
}

interface KlineQuery extends Span {
  readonly symbol: string;
  readonly interval: Interval;
  readonly pricePrecision: number;
  /** The part that warnings are about; all where it is left out. */
  readonly part?: Stretch;
}

/** Loads klines. A resampled series whose source changed is made again in memory. Throws a `Refusal` that lists the stored series. */
export const storedKlines = (dir: string, query: KlineQuery): Promise<StoredKlines> =>
  readAgain(dir, () => klinesNow(dir, query));

async function klinesNow(dir: string, query: KlineQuery): Promise<StoredKlines> {
  const { symbol, interval, part = {} } = query;
  const all = listSeries(dir, (one) => one.symbol === symbol);
  const klines = all.filter((one) => one.kind === 'klines');
  const series = klines.filter((one) => one.symbol === symbol && one.zone === undefined);
  const found = series.find((one) => one.interval === interval) ?? largestWithin(series, interval);
  if (found === undefined) throw notStored(dir, klines, symbol, interval);
  // Rows that were imported beside made ones are nowhere else: such a series is used, with a warning.
  const changed = isMade(found) ? changedSource(all, found) : undefined;
  const source = changed ?? found;
  refuseFine(source, query.pricePrecision);
  const table = await loadSeries(dir, source, query);
  const stale = staleNotes(all, found, changed);
  const columns =
    source.interval === undefined
      ? resampleTrades(tradeColumns(table.columns), { interval })
      : klineColumns(table.columns);
  const isSame = source.interval === interval;
  const made =
    isSame || source.interval === undefined ? columns : resampleKlines(source.interval, columns, { interval });
  const last = columns.openTime.at(-1) ?? 0;
  return {
    columns: made,
    gaps: isSame ? ledgerOf(source).filter(({ to }) => to <= last) : findGaps({ symbol, interval }, made.openTime),
    stored: {
      of: source.interval ?? source.kind,
      from: source.months[0]?.from ?? 0,
      to: source.months.at(-1)?.to ?? 0,
    },
    ...(source.source !== 'unknown' && { source: source.source }),
    ...together(seriesNotes(source, part, source.interval === undefined ? undefined : within(columns, part)), {
      warnings: [...stale, ...(isSame ? [] : madeNotes(source, within(made, part).openTime, query))],
      doubts: found.staleBy === undefined || changed !== undefined ? [] : stale,
    }),
    sha256: seriesHash(source),
  };
}

/** Throws a `Refusal` where prices have more decimals than the instrument. */
export function refuseFine({ symbol, interval, kind, priceDecimals }: Manifest, pricePrecision: number): void {
  if (priceDecimals > pricePrecision)
    throw new Refusal(
      `${symbol} ${interval ?? kind}: its prices have up to ${priceDecimals} decimals, the instrument ${pricePrecision}: raise the instrument's pricePrecision to match`,
    );
}

function within(columns: Columns, part: Stretch): Columns {
  const [first, end] = rowsWithin(columns.openTime, part);
  return mapColumns(columns, (column) => column.subarray(first, end));
}

function madeNotes(
  source: Manifest,
  opens: Float64Array,
  { symbol, interval }: Pick<KlineQuery, 'symbol' | 'interval'>,
): readonly string[] {
  const smaller = source.interval;
  const hint =
    smaller === undefined
      ? ''
      : `: orders fill by these; to fill by ${smaller} klines, set dataIntervals: { ${symbol}: ${smaller} }`;
  const cut = partialFindings(source, opens, { interval });
  return [
    ...cut.map(({ what, effect }) => `${symbol} ${interval}: ${what}: ${effect}`),
    `${symbol}: ${interval} made from ${smaller ?? source.kind}${hint}`,
  ];
}

function staleNotes(all: readonly Manifest[], found: Manifest, changed: Manifest | undefined): readonly string[] {
  const { symbol, interval } = found;
  if (changed !== undefined)
    return [
      `${symbol}: the stored klines of ${interval} are not used, because their source ${seriesName(changed)} has changed (update them: ${remaking(found)})`,
    ];
  const text = staleText(all, found);
  return text === undefined ? [] : [`${symbol} ${interval}: ${text}`];
}

/** The series of the largest interval that the asked one consists of: the fewest rows to read. */
const largestWithin = (series: readonly Manifest[], asked: Interval): Manifest | undefined =>
  series
    .filter(({ interval }) => interval !== undefined && isWithin(interval, asked))
    .toSorted((a, b) => compareIntervals(b.interval ?? '1min', a.interval ?? '1min'))[0];

function notStored(dir: string, klines: readonly Manifest[], symbol: string, interval: Interval): Refusal {
  const same = klines.filter((one) => one.symbol === symbol);
  const names = same.map((one) => `${one.interval}${one.zone === undefined ? '' : ` of ${one.zone}`}`);
  const ofPlaces = same.some(({ zone }) => zone !== undefined)
    ? '; runs use UTC days, not those of another zone (resample --zone)'
    : '';
  const what =
    same.length > 0
      ? `it has ${names.join(', ')}, from which ${interval} cannot be made${ofPlaces}`
      : klines.length > 0
        ? `it holds ${[...new Set(klines.map((one) => one.symbol))].slice(0, 8).join(', ')}`
        : 'it has no klines';
  return new Refusal(
    `${symbol} ${interval} is not in the catalogue ${dir}: ${what}; import it (sluice data import FILE), or name a file (data: { ${symbol}: FILE })`,
  );
}

export interface StoredTape extends Tape, Notes {
  /** Of the stored months of trades and depth, hex. */
  readonly sha256: readonly string[];
}

interface TapeQuery extends Span {
  readonly symbol: string;
  readonly pricePrecision: number;
  readonly kinds: readonly Kind[];
}

export const storedTape = (dir: string, query: TapeQuery): Promise<StoredTape> =>
  readAgain(dir, () => tapeNow(dir, query));

async function tapeNow(dir: string, query: TapeQuery): Promise<StoredTape> {
  const isAsked = (one: Pick<SeriesKey, 'kind' | 'symbol'>): boolean =>
    one.symbol === query.symbol && query.kinds.includes(one.kind);
  const stored = listSeries(dir, isAsked).filter(isAsked);
  for (const one of stored) refuseFine(one, query.pricePrecision);
  const trades = stored.find(({ kind }) => kind === 'trades');
  const depth = stored.find(({ kind }) => kind === 'depth');
  const tradeRows = trades && (await loadSeries(dir, trades, query)).columns;
  const depthRows = depth && (await loadSeries(dir, depth, query)).columns;
  return {
    ...(tradeRows && { trades: tradeColumns(tradeRows) }),
    ...(depthRows && { books: booksOf(depthColumns(depthRows)) }),
    gaps: trades === undefined ? [] : ledgerOf(trades),
    ...together(...stored.map((one) => seriesNotes(one, query))),
    sha256: stored.map(seriesHash),
  };
}
