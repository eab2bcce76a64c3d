/** The range of klines (Wilder 1978, New Concepts in Technical Trading Systems). */
import type { Indicator } from '../indicator.ts';
import { calculated, growing } from './calculated.ts';
import type { Kernel } from './windows.ts';

/** From the lower to the higher of a kline and of the close before it. */
export const rangeOf = (high: number, low: number, closeBefore: number): number =>
  Math.max(high, closeBefore) - Math.min(low, closeBefore);

/** Writes the true range of each kline; NaN for the first one, which no close is known before. */
export function trueRanges(): (
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  into: Float64Array,
  count: number,
) => void {
  let last = Number.NaN;
  return (high, low, close, into, count) => {
    let before = last;
    for (let row = 0; row < count; row++) {
      into[row] = rangeOf(high[row] as number, low[row] as number, before);
      before = close[row] as number;
    }
    last = before;
  };
}

/** The true range: from the lower to the higher of the kline and of the close before it; in quote. */
export const trueRange = (): Indicator =>
  calculated({
    ...{ name: 'trueRange', prices: ['high', 'low', 'close'], warmup: 2 },
    begin() {
      const ranges = trueRanges();
      return ([high, low, close], [out], count) => ranges(high, low, close, out, count);
    },
  });

/** Wilder's average: it starts at the simple average of the first `period` values; each value then moves it by 1 / `period`. Skips NaN. */
export function wilders(period: number): Kernel {
  let [seen, sum, last] = [0, 0, Number.NaN];
  return (values, into, count) => {
    let average = last;
    for (let row = 0; row < count; row++) {
      const value = values[row] as number;
      if (seen >= period) average = (average * (period - 1) + value) / period;
      else if (!Number.isNaN(value)) {
        sum += value;
        seen++;
        if (seen === period) average = sum / period;
      }
      into[row] = average;
    }
    last = average;
  };
}

/** Writes average true ranges. */
export function averageRanges(period: number): ReturnType<typeof trueRanges> {
  const ranges = trueRanges();
  const average = wilders(period);
  const buffer = growing();
  return (high, low, close, into, count) => {
    const range = buffer(count);
    ranges(high, low, close, range, count);
    average(range, into, count);
  };
}

/**
 * Wilder's average true range, in quote. It starts at the simple average of the first `period` true ranges; each then moves it by
 * 1 / `period`, as in TA-Lib. The start counts less than 1e-9 after 20.8 × `period` klines.
 */
export const atr = (period: number): Indicator =>
  calculated({
    ...{ name: 'atr', prices: ['high', 'low', 'close'], periods: { period }, warmup: period + 1 },
    begin() {
      const ranges = averageRanges(period);
      return ([high, low, close], [out], count) => ranges(high, low, close, out, count);
    },
  });

/** The average true range in percent of the close. The start counts as long as that of `atr`. */
export const natr = (period: number): Indicator =>
  calculated({
    ...{ name: 'natr', prices: ['high', 'low', 'close'], periods: { period }, warmup: period + 1 },
    begin() {
      const ranges = averageRanges(period);
      return ([high, low, close], [out], count) => {
        ranges(high, low, close, out, count);
        for (let row = 0; row < count; row++) out[row] = (100 * (out[row] as number)) / (close[row] as number);
      };
    },
  });
