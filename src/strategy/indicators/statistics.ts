/** Statistics of a window of values. Each depends on its window alone, to the last bit. */
import type { Indicator, Source } from '../indicator.ts';
import { calculated, growing, linesOf, overOne } from './calculated.ts';
import { pairedDistances, squaredDistances, weightedDistances } from './moments.ts';
import { refuseInvalid } from './refuse.ts';
import { extremes, Ring } from './windows.ts';

/** The highest of the last `period` values: of highs, the upper band of Donchian. */
export const highest = (source: Source, period: number): Indicator =>
  overOne('highest', source, period, () => extremes(period, 1));

/** The lowest of the last `period` values: of lows, the lower band of Donchian. */
export const lowest = (source: Source, period: number): Indicator =>
  overOne('lowest', source, period, () => extremes(period, -1));

/** Population standard deviation of the last `period` values, as in Bollinger bands; exactly 0 where all are equal. */
export const stdev = (source: Source, period: number): Indicator =>
  overOne('stdev', source, period, () => {
    const squaresOf = squaredDistances(period);
    const buffer = growing();
    return (values, into, count) => {
      squaresOf(values, buffer(count), into, count);
      for (let row = 0; row < count; row++) into[row] = Math.sqrt((into[row] as number) / period);
    };
  });

/** How many population standard deviations the value lies above the mean of the last `period`; 0 where all are equal. */
export const zScore = (source: Source, period: number): Indicator =>
  overOne('zScore', source, period, () => {
    const squaresOf = squaredDistances(period);
    const buffer = growing();
    return (values, into, count) => {
      const squares = buffer(count);
      squaresOf(values, into, squares, count);
      for (let row = 0; row < count; row++) {
        const square = squares[row] as number;
        into[row] = square === 0 ? 0 : -(into[row] as number) / Math.sqrt(square * period);
      }
    };
  });

/**
 * The straight line of least squares through the last `period` values: its `value` at the newest kline, its `slope` for each kline, and
 * `r2`, the share of the variance that it explains, 0 to 1; 0 where all values are equal.
 */
export const linearRegression = (
  source: Source,
  period: number,
): Readonly<Record<'value' | 'slope' | 'r2', Indicator>> =>
  linesOf({
    ...{ name: 'linearRegression', sources: [source], periods: { period }, minPeriod: 2 },
    lines: { value: period, slope: period, r2: period },
    begin() {
      const distancesOf = weightedDistances(source, period);
      const squaresOf = squaredDistances(period);
      const half = (period - 1) / 2;
      const spread = (period * (period * period - 1)) / 12;
      return ([values], [atNewest, slopes, r2], count) => {
        // The distances are the same in both.
        squaresOf(values, atNewest, r2, count);
        distancesOf(values, atNewest, slopes, count);
        for (let row = 0; row < count; row++) {
          const distance = atNewest[row] as number;
          const square = r2[row] as number;
          const rise = (half * distance - (slopes[row] as number)) / spread;
          slopes[row] = rise;
          atNewest[row] = (values[row] as number) + distance / period + rise * half;
          r2[row] = square === 0 ? 0 : Math.min(1, (rise * rise * spread) / square);
        }
      };
    },
  });

/** The percentage of the `period` values before that are below the value, 0 to 100 (as TA-Lib counts; equal ones are not below). */
export const percentRank = (source: Source, period: number): Indicator =>
  overOne(
    'percentRank',
    source,
    period,
    () => {
      const past = new Ring(period);
      const { values: window } = past;
      return (values, into, count) => {
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          const { from } = past;
          let below = 0;
          for (let at = from; at < from + period; at++) below += Number((window[at] as number) < value);
          into[row] = past.seen < period ? Number.NaN : (100 * below) / period;
          past.push(value);
        }
      };
    },
    { warmup: period + 1 },
  );

/** Pearson's correlation of two sources over the last `period` values, -1 to 1; 0 where all values of one are equal. */
export const correlation = (a: Source, b: Source, period: number): Indicator =>
  calculated({
    ...{ name: 'correlation', sources: [a, b], periods: { period }, minPeriod: 2, warmup: period },
    begin() {
      const sumsOf = pairedDistances(period);
      const ofA = growing();
      const ofB = growing();
      return ([one, other], [products], count) => {
        const into = { a: ofA(count), b: ofB(count), products };
        sumsOf(one, other, into, count);
        for (let row = 0; row < count; row++) {
          const scale = Math.sqrt(into.a[row] as number) * Math.sqrt(into.b[row] as number);
          const value = (products[row] as number) / scale;
          products[row] = scale === 0 ? 0 : Math.max(-1, Math.min(1, value));
        }
      };
    },
  });

/**
 * By how many percent `source` moves with 1 % of `benchmark`: the slope of the line of least squares through the last `period` pairs of
 * their changes from kline to kline. 0 where the benchmark's changes are all equal. TA-Lib's BETA has the two the other way around.
 */
export function beta(source: Source, benchmark: Source, period: number): Indicator {
  refuseInvalid('beta', { sources: [source, benchmark], periods: { period }, minPeriod: 2 });
  return calculated({
    ...{ name: 'beta', sources: [change(source), change(benchmark)], variant: period, warmup: period },
    begin() {
      const sumsOf = pairedDistances(period);
      const ofA = growing();
      const ofB = growing();
      return ([own, other], [products], count) => {
        const into = { a: ofA(count), b: ofB(count), products };
        sumsOf(own, other, into, count);
        for (let row = 0; row < count; row++) {
          const square = into.b[row] as number;
          products[row] = square === 0 ? 0 : (products[row] as number) / square;
        }
      };
    },
  });
}

/** The change from one value to the next, as a part of the first; 0 after a value of 0. */
const change = (source: Source): Indicator =>
  calculated({
    ...{ name: 'change', sources: [source], warmup: 2 },
    begin() {
      let last = Number.NaN;
      return ([values], [out], count) => {
        let before = last;
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          out[row] = before === 0 ? 0 : (value - before) / before;
          before = value;
        }
        last = before;
      };
    },
  });
