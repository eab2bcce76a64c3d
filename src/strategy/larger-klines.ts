/**
 * Klines of a larger interval, made from a strategy's own klines as those close: a backtest and a live session see the same ones, and
 * nobody sees one before it has closed. Days, weeks and months are those of UTC, whatever zone an exchange counts its own in.
 */
import { closeTime, type Interval, intervalMs, intervals, isWithin, openTimeOf } from '../domain/interval.ts';
import { type Columns, mapColumns } from '../domain/market.ts';
import { wholeColumn } from './column-pieces.ts';
import { SignalError } from './fault.ts';
import type { Indicator, TimedPrices } from './indicators.ts';
import { plusVolume } from './volumes.ts';

/** One larger kline while it grows. */
interface Growing {
  openTime: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

/** Why klines of `larger` cannot be made from klines of `own`, or undefined. */
export const frameFault = (own: Interval, larger: Interval): string | undefined =>
  own === larger || isWithin(own, larger)
    ? undefined
    : `klines of ${larger} cannot be made from klines of ${own}: give the strategy a smaller interval`;

/**
 * Takes klines of `own` one after another and hands over each of `larger` once it has closed: with the last kline inside it, or, where
 * that is missing, before the next one that there is. One that the klines begin inside is not whole and is left out.
 */
export function framing(
  own: Interval,
  larger: Interval,
  closed: (kline: TimedPrices) => void,
): (kline: TimedPrices) => void {
  const fault = frameFault(own, larger);
  if (fault !== undefined) throw new Error(fault);
  let growing: Growing | undefined;
  let closesAt = Number.NEGATIVE_INFINITY;
  const end = (): void => {
    const whole = growing;
    growing = undefined;
    if (whole !== undefined) closed(whole);
  };
  return ({ openTime, open, high, low, close, volume }) => {
    if (openTime >= closesAt) {
      end();
      const opensAt = openTimeOf(larger, openTime);
      const isFirst = closesAt === Number.NEGATIVE_INFINITY;
      closesAt = closeTime(larger, opensAt);
      if (!isFirst || opensAt === openTime) growing = { openTime: opensAt, open, high, low, close, volume: 0 };
    }
    if (growing !== undefined) {
      if (high > growing.high) growing.high = high;
      if (low < growing.low) growing.low = low;
      growing.close = close;
      growing.volume = plusVolume(growing.volume, volume);
    }
    if (closeTime(own, openTime) >= closesAt) end();
  };
}

/** Larger klines as columns, and the row of the own klines with which each was known. */
export interface Frames {
  readonly columns: Columns;
  readonly knownAt: Int32Array;
}

/** All larger klines that close within these columns. */
export function framesOf(own: Interval, larger: Interval, klines: Columns): Frames {
  const rows = klines.openTime.length;
  const [first, last] = [klines.openTime[0] ?? 0, klines.openTime[rows - 1] ?? 0];
  // February is the shortest month.
  const shortest = larger === '1month' ? 28 * 86_400_000 : intervalMs(larger, 0);
  const most = Math.min(rows, Math.ceil((last - first) / shortest) + 2);
  const column = (): Float64Array => new Float64Array(most);
  const [openTime, open, high, low, close, volume] = [column(), column(), column(), column(), column(), column()];
  const knownAt = new Int32Array(most);
  let count = 0;
  let row = 0;
  const take = framing(own, larger, (kline) => {
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
 * The indicator over klines of a larger interval: its value is the one at the last of them that has closed. `on('60min', sma('close', 50))`
 * in a strategy of 1-minute klines is an average over fifty hours that moves once an hour.
 */
export function on(interval: Interval, indicator: Indicator): Indicator {
  if (!intervals.includes(interval))
    throw new SignalError(`on('${interval}', …): there is no interval ${interval}; there are ${intervals.join(', ')}`);
  if (indicator.of !== undefined)
    throw new Error(`on('${interval}', …): the indicator is over klines of ${indicator.of} already; name one interval`);
  const { key } = indicator.column;
  const column = (klines: Columns, own: Interval): Float64Array => {
    if (own === interval) return wholeColumn(indicator, klines, own);
    const { columns, knownAt } = framesOf(own, interval, klines);
    const values = wholeColumn(indicator, columns, interval);
    const out = new Float64Array(klines.openTime.length).fill(Number.NaN);
    for (let frame = 0; frame < knownAt.length; frame++)
      out.fill(values[frame] as number, knownAt[frame], knownAt[frame + 1] ?? out.length);
    return out;
  };
  return {
    warmup: indicator.warmup,
    of: interval,
    column: key === undefined ? column : Object.assign(column, { key: `${key} on ${interval}` }),
    stream(own) {
      const next = indicator.stream(interval);
      if (own === interval) return next;
      let value = Number.NaN;
      const take = framing(own, interval, (kline) => {
        value = next(kline);
      });
      return (kline) => {
        take(kline);
        return value;
      };
    },
  };
}

/** Klines of `own` until this indicator has its first value, wherever in a larger kline they begin. */
export function ownWarmup({ warmup, of }: Pick<Indicator, 'warmup' | 'of'>, own: Interval): number {
  if (of === undefined || of === own || warmup === 0) return warmup;
  // A month has 31 days at most, and the one that the klines begin inside is left out.
  return Math.ceil(((warmup + 1) * intervalMs(of, 0)) / intervalMs(own, 0)) - 1;
}
