/** The klines of one symbol that a run covered, and how their rows are found by time. */
import { type Interval, intervalMs, openTimeOf } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';

export interface MetricSeries {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  /** The first row of the run, and one past its last. */
  readonly first: number;
  readonly end: number;
}

/**
 * One past the last row between `from` and `end` that opened at or before a time, UTC ms. Fastest where no kline of `lengthMs` is missing, then
 * where the row is near `from`.
 */
export function rowsOpenedBy(
  openTime: Float64Array,
  time: number,
  lengthMs: number,
  { from, end }: { readonly from: number; readonly end: number },
): number {
  const guess = from + Math.floor((time - (openTime[from] as number)) / lengthMs) + 1;
  if (guess > from && guess < end && (openTime[guess - 1] as number) <= time && time < (openTime[guess] as number))
    return guess;
  let low = from;
  let step = 1;
  while (low + step <= end && (openTime[low + step - 1] as number) <= time) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((openTime[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One past the last row between `from` and `end` that has closed by a time, UTC ms. */
export function rowsClosedBy(
  openTime: Float64Array,
  interval: Interval,
  time: number,
  range: { readonly from: number; readonly end: number },
): number {
  // Months differ in length: the one that contains `time` is open until the next one opens.
  const latest = interval === '1month' ? openTimeOf(interval, time) - 1 : time - intervalMs(interval, 0);
  return rowsOpenedBy(openTime, latest, intervalMs(interval, 0), range);
}
