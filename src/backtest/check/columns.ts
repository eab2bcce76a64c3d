/** The klines of a check, cut short or changed, to test whether a strategy depends on later ones. */
import { closeTime, type Interval, openTimeOf } from '../../domain/interval.ts';
import { type Columns, mapColumns } from '../../domain/market.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { joinedOf } from '../engine/joined-series.ts';
import type { RunInput, RunSeries } from '../run.ts';

export const fields = ['open', 'high', 'low', 'close', 'volume'] as const;
export type Field = (typeof fields)[number];

/** Rows of klines: of one market its klines, of several the moments at which klines of any of them close. */
export interface CheckedKlines {
  readonly series: readonly RunSeries[];
  /** The smallest of a strategy's intervals. */
  readonly interval: Interval;
  /** By row, UTC ms: when the kline opened, or of several markets when klines closed. */
  readonly times: Float64Array;
  /** By series and row: how many of its klines have closed. */
  readonly closed: readonly Int32Array[];
  readonly hasSeveralMarkets: boolean;
}

/** The strategy of a check, its klines, and the first row at which it may decide. */
export function checkedIn({ hosted: [hosted], series }: RunInput): {
  readonly hosted: NamedHosted;
  readonly klines: CheckedKlines;
  readonly first: number;
} {
  const [one] = series;
  if (hosted === undefined || one === undefined) throw new Error('a check runs one strategy');
  if (hosted.markets === undefined) {
    const { columns, interval, first } = one;
    const closed = [Int32Array.from(columns.openTime, (_, row) => row + 1)];
    return { hosted, first, klines: { series, interval, times: columns.openTime, closed, hasSeveralMarkets: false } };
  }
  const times = joinedOf(hosted.markets, series).openTime;
  const interval = smallestOf(hosted.markets.map((market) => market.interval));
  const closed = series.map((each) => closedBy(each, times));
  const traded = series.filter((each) => each.first < each.end);
  const begins = Math.min(...traded.map(({ columns, first }) => columns.openTime[first] as number));
  const from = times.findIndex((time) => time > begins);
  const first = from < 0 ? times.length : from;
  return { hosted, first, klines: { series, interval, times, closed, hasSeveralMarkets: true } };
}

/** The smallest of intervals. */
export const smallestOf = (all: readonly Interval[]): Interval =>
  all.reduce((smallest, one) => (closeTime(one, 0) < closeTime(smallest, 0) ? one : smallest));

function closedBy({ columns: { openTime }, interval }: RunSeries, times: Float64Array): Int32Array {
  let count = 0;
  return Int32Array.from(times, (time) => {
    while (count < openTime.length && closeTime(interval, openTime[count] as number) <= time) count++;
    return count;
  });
}

/** When the klines of a row opened and closed, UTC ms; of several markets, those of the smallest interval. */
export function spanOfRow(
  { times, interval, hasSeveralMarkets }: CheckedKlines,
  row: number,
): [opens: number, closes: number] {
  const time = times[row] as number;
  return hasSeveralMarkets ? [openTimeOf(interval, time - 1), time] : [time, closeTime(interval, time)];
}

const closedBefore = ({ closed }: CheckedKlines, index: number, row: number): number =>
  row === 0 ? 0 : ((closed[index] as Int32Array)[row - 1] as number);

/** Rows from `from` to before `to` in their own memory: nothing can be read beyond them. */
export function cut(klines: CheckedKlines, from: number, to: number): CheckedKlines {
  const series = klines.series.map((one, index) => {
    const [begin, end] = [closedBefore(klines, index, from), closedBefore(klines, index, to)];
    return { ...one, columns: mapColumns(one.columns, (column) => column.slice(begin, end)) };
  });
  const closed = klines.closed.map((counts, index) => {
    const before = closedBefore(klines, index, from);
    return counts.slice(from, to).map((count) => count - before);
  });
  return { ...klines, series, closed, times: klines.times.slice(from, to) };
}

/** The series of a run over these klines that may decide from row `first` on. */
export const runSeries = (klines: CheckedKlines, first: number): readonly RunSeries[] =>
  klines.series.map((one, index) => ({
    ...{ ...one, gaps: [], first: closedBefore(klines, index, first), end: one.columns.openTime.length },
  }));

/**
 * Changes the rows from `from` to before `to`: they get the prices from the end backwards, times `factor`. They remain possible klines with
 * as many decimals as before.
 */
export function poisoned(
  klines: CheckedKlines,
  from: number,
  to: number,
  { factor, pricePrecision }: { readonly factor: number; readonly pricePrecision: (symbol: string) => number },
): CheckedKlines {
  const series = klines.series.map((one, index) => {
    const [begin, end] = [closedBefore(klines, index, from), closedBefore(klines, index, to)];
    return { ...one, columns: poisonedColumns(one.columns, begin, end, factor, 10 ** pricePrecision(one.symbol)) };
  });
  return { ...klines, series };
}

function poisonedColumns(columns: Columns, from: number, to: number, factor: number, scale: number): Columns {
  const last = columns.openTime.length - 1;
  return mapColumns(columns, (column, name) => {
    if (name === 'openTime' || from >= to) return column;
    const copy = column.slice();
    for (let row = from; row < to; row++) {
      const value = column[last - (row - from)] as number;
      copy[row] = name === 'volume' ? value * factor * factor : Math.max(1, Math.round(value * factor * scale)) / scale;
    }
    return copy;
  });
}

/** The places of the series of which a kline closes at a row. */
export const closingAt = (klines: CheckedKlines, row: number): readonly number[] =>
  klines.series.flatMap((_, index) =>
    closedBefore(klines, index, row + 1) > closedBefore(klines, index, row) ? [index] : [],
  );

/** Multiplies one value of the kline of a series that closes at a row by `factor`. */
export const spoiled = (
  klines: CheckedKlines,
  index: number,
  row: number,
  field: Field,
  factor: number,
): CheckedKlines => ({
  ...klines,
  series: klines.series.map((one, at) => {
    if (at !== index) return one;
    const columns = mapColumns(one.columns, (column, name) => {
      if (name !== field) return column;
      const copy = column.slice();
      const own = closedBefore(klines, index, row + 1) - 1;
      copy[own] = (copy[own] as number) * factor;
      return copy;
    });
    return { ...one, columns };
  }),
});
