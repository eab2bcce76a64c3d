/**
 * Klines of a larger interval, made from a strategy's own klines as those close. Backtests and live sessions see the same ones, each
 * only after it has closed. Days, weeks and months are those of UTC, whatever time zone the exchange uses.
 */
import { aggregator } from '../domain/aggregator.ts';
import { type Interval, intervalMs, isInterval, unknownInterval } from '../domain/interval.ts';
import { type Columns, mapColumns } from '../domain/market.ts';
import { SignalError } from './fault.ts';
import { type Indicator, type TimedPrices, wholeColumn } from './indicator.ts';

/** Larger klines as columns, and for each the row of the own kline that closed it. */
export interface Aggregated {
  readonly columns: Columns;
  readonly knownAt: Int32Array;
}

/** All larger klines that close within these columns. */
export function aggregate(own: Interval, larger: Interval, klines: Columns): Aggregated {
  const rows = klines.openTime.length;
  const [first, last] = [klines.openTime[0] ?? 0, klines.openTime[rows - 1] ?? 0];
  // February is the shortest month.
  const shortest = larger === '1month' ? 28 * 86_400_000 : intervalMs(larger, 0);
  const max = Math.min(rows, Math.ceil((last - first) / shortest) + 2);
  const column = (): Float64Array => new Float64Array(max);
  const [openTime, open, high, low, close, volume] = [column(), column(), column(), column(), column(), column()];
  const knownAt = new Int32Array(max);
  let count = 0;
  let row = 0;
  const take = aggregator(own, larger, (kline) => {
    openTime[count] = kline.openTime;
    open[count] = kline.open;
    high[count] = kline.high;
    low[count] = kline.low;
    close[count] = kline.close;
    volume[count] = kline.volume;
    knownAt[count++] = row;
  });
  for (; row < rows; row++) take(pricesAt(klines, row));
  const columns = { openTime, open, high, low, close, volume };
  return { columns: mapColumns(columns, (whole) => whole.subarray(0, count)), knownAt: knownAt.subarray(0, count) };
}

/** The prices of a row. */
export const pricesAt = ({ openTime, open, high, low, close, volume }: Columns, row: number): TimedPrices => ({
  openTime: openTime[row] as number,
  open: open[row] as number,
  high: high[row] as number,
  low: low[row] as number,
  close: close[row] as number,
  volume: volume[row] as number,
});

/**
 * The indicator over klines of a larger interval. Its value is the one at the last of them that has closed. In a strategy of 1-minute
 * klines, `on('60min', sma('close', 50))` is an average over 50 hours that changes once an hour.
 */
export function on(interval: Interval, indicator: Indicator): Indicator {
  if (!isInterval(interval)) throw new SignalError(`on('${String(interval)}', …): ${unknownInterval(interval)}`);
  if (indicator.of !== undefined)
    throw new Error(`on('${interval}', …): the indicator is over klines of ${indicator.of} already; name one interval`);
  const { key } = indicator.column;
  const column = (klines: Columns, own: Interval): Float64Array => {
    if (own === interval) return wholeColumn(indicator, klines, own);
    const { columns, knownAt } = aggregate(own, interval, klines);
    const values = wholeColumn(indicator, columns, interval);
    const out = new Float64Array(klines.openTime.length).fill(Number.NaN);
    for (const [index, row] of knownAt.entries())
      out.fill(values[index] as number, row, knownAt[index + 1] ?? out.length);
    return out;
  };
  const larger: Indicator = {
    warmup: indicator.warmup,
    of: interval,
    ...(indicator.after === undefined ? {} : { after: indicator.after }),
    column: key === undefined ? column : Object.assign(column, { key: `${key} on ${interval}` }),
    stream(own) {
      const next = indicator.stream(interval);
      if (own === interval) return next;
      let value = Number.NaN;
      const take = aggregator(own, interval, (kline) => {
        value = next(kline);
      });
      return (kline) => {
        take(kline);
        return value;
      };
    },
  };
  inners.set(larger, indicator);
  return larger;
}

/** By what `on` made, so that another indicator can be calculated over the larger klines, too. Copies, which users change, have none. */
const inners = new WeakMap<Indicator, Indicator>();

/** The indicator over larger klines that `on` was given; undefined for what `on` did not make. */
export const innerOf = (indicator: Indicator): Indicator | undefined => inners.get(indicator);

/** Klines of `own` that this indicator needs before its first value, wherever in a larger kline they begin. */
export function ownWarmup({ warmup, of, after }: Pick<Indicator, 'warmup' | 'of' | 'after'>, own: Interval): number {
  // Up to one kline less than such an interval passes before the first start of one.
  const before = after === undefined ? 0 : Math.ceil(intervalMs(after, 0) / intervalMs(own, 0)) - 1;
  if (of === undefined || of === own || warmup === 0) return before + warmup;
  // A month has at most 31 days. The larger kline in which the klines begin is left out.
  return before + Math.ceil(((warmup + 1) * intervalMs(of, 0)) / intervalMs(own, 0)) - 1;
}
