/** Moving averages. Recursive ones count all values since the first, with weights that fade; each says when the rest is below 1e-9. */
import type { Indicator, Source } from '../indicator.ts';
import { calculated, growing, overOne } from './calculated.ts';
import { weightedDistances } from './moments.ts';
import { refuseInvalid } from './refuse.ts';
import { exactSums, type Kernel, Ring, sums } from './windows.ts';

/**
 * Simple moving average of the last `period` values. It depends on them alone, to the last bit. Equal values average to exactly their
 * value. Prices are summed exactly; the values of another indicator, which may be of any size, as distances from the newest.
 */
export const sma = (source: Source, period: number): Indicator =>
  overOne('sma', source, period, () => meanOver(source, period));

/** The kernel of `sma`. */
export function meanOver(source: Source, period: number): Kernel {
  if (typeof source === 'string') return exactSums(period, 'mean');
  const distanceOf = meanDistanceOver(source, period);
  return (values, into, count) => {
    distanceOf(values, into, count);
    for (let row = 0; row < count; row++) into[row] = (values[row] as number) + (into[row] as number);
  };
}

/** How far the mean of the last `period` values lies above the newest. */
export function meanDistanceOver(source: Source, period: number): Kernel {
  if (typeof source === 'string') return exactSums(period, 'distance');
  const distancesOf = weightedDistances(source, period);
  const unused = growing();
  return (values, into, count) => {
    distancesOf(values, into, unused(count), count);
    for (let row = 0; row < count; row++) into[row] = (into[row] as number) / period;
  };
}

/**
 * Exponential moving average: each value moves it by 2 / (`period` + 1) of the distance. It starts at the simple average of the first
 * `period` values, as TA-Lib does. The start counts less than 1e-9 after 10.4 × (`period` + 1) klines.
 */
export const ema = (source: Source, period: number): Indicator =>
  overOne('ema', source, period, () => exponential(period));

/** The kernel of `ema`. */
export function exponential(period: number): Kernel {
  const weight = 2 / (period + 1);
  // In this form the new value's part does not wait for the last average, which halves the time.
  const kept = 1 - weight;
  let [rows, sum, last] = [0, 0, Number.NaN];
  return (values, into, count) => {
    let next = 0;
    let value = last;
    for (; rows < period && next < count; next++) {
      sum += values[next] as number;
      rows++;
      if (rows === period) value = sum / period;
      into[next] = value;
    }
    for (; next < count; next++) {
      value = kept * value + weight * (values[next] as number);
      into[next] = value;
    }
    last = value;
  };
}

/** Weighted moving average of the last `period` values: the newest has the weight `period`, the oldest 1. */
export const wma = (source: Source, period: number): Indicator =>
  overOne('wma', source, period, () => {
    const distancesOf = weightedDistances(source, period);
    const buffer = growing();
    const weights = (period * (period + 1)) / 2;
    return (values, into, count) => {
      const weighted = buffer(count);
      distancesOf(values, into, weighted, count);
      for (let row = 0; row < count; row++)
        into[row] = (values[row] as number) + (period * (into[row] as number) - (weighted[row] as number)) / weights;
    };
  });

/**
 * Double exponential moving average, 2 × EMA - EMA of the EMA (Mulloy 1994). Each starts at a simple average, as in TA-Lib. The start counts
 * less than 1e-9 after 12.5 × (`period` + 1) klines.
 */
export function dema(source: Source, period: number): Indicator {
  refuseInvalid('dema', { sources: [source], periods: { period } });
  const once = ema(source, period);
  return weighted([once, ema(once, period)], [2, -1]);
}

/**
 * Triple exponential moving average, 3 × EMA - 3 × EMA of the EMA + EMA of that (Mulloy 1994). Each starts at a simple average, as in TA-Lib.
 * The start counts less than 1e-9 after 14.5 × (`period` + 1) klines.
 */
export function tema(source: Source, period: number): Indicator {
  refuseInvalid('tema', { sources: [source], periods: { period } });
  const once = ema(source, period);
  const twice = ema(once, period);
  return weighted([once, twice, ema(twice, period)], [3, -3, 1]);
}

/** Hull moving average: the WMA over √`period` values of 2 × WMA(`period` / 2) - WMA(`period`), both rounded down (Hull 2005). */
export function hma(source: Source, period: number): Indicator {
  refuseInvalid('hma', { sources: [source], periods: { period }, minPeriod: 2 });
  const faster = weighted([wma(source, Math.floor(period / 2)), wma(source, period)], [2, -1]);
  return wma(faster, Math.floor(Math.sqrt(period)));
}

/** The sum of up to three indicators, each times its weight. */
export const weighted = (sources: readonly Indicator[], weights: readonly number[]): Indicator =>
  calculated({
    ...{ name: 'weighted', sources, variant: weights.join(' '), warmup: 1 },
    begin() {
      const [a = 0, b = 0, c = 0] = weights;
      return ([one, two, other], [out], count) => {
        const three = c === 0 ? two : other;
        for (let row = 0; row < count; row++)
          out[row] = a * (one[row] as number) + b * (two[row] as number) + c * (three[row] as number);
      };
    },
  });

/**
 * Kaufman's adaptive moving average (Kaufman 1995): a value moves it by a part of the distance between that of an EMA of 30 and that of an
 * EMA of 2, the more efficient the last `period` moves were. Efficiency is their sum over the sum of their sizes; 1 where nothing moved, as
 * in TA-Lib. It starts at value `period`. How long the start counts depends
 * on the moves: at most 4,970 klines for 1e-9.
 */
export const kama = (source: Source, period: number): Indicator =>
  overOne(
    'kama',
    source,
    period,
    () => {
      const past = new Ring(period);
      const sizes = exactSums(period, 'sum');
      const moves = growing();
      const totals = growing();
      const slowest = 2 / 31;
      const fastest = 2 / 3;
      let last = Number.NaN;
      let average = Number.NaN;
      return (values, into, count) => {
        const size = moves(count);
        const total = totals(count);
        let before = last;
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          size[row] = Number.isNaN(before) ? 0 : Math.abs(value - before);
          before = value;
        }
        last = before;
        sizes(size, total, count);
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          if (past.seen < period) {
            average = value;
            into[row] = Number.NaN;
          } else {
            const moved = Math.abs(value - (past.values[past.from] as number));
            const sum = total[row] as number;
            const efficiency = sum > moved ? moved / sum : 1;
            const speed = (efficiency * (fastest - slowest) + slowest) ** 2;
            average += speed * (value - average);
            into[row] = average;
          }
          past.push(value);
        }
      };
    },
    { warmup: period + 1 },
  );

/** Volume-weighted moving average of the last `period` values; their plain average where nothing was traded. */
export const vwma = (source: Source, period: number): Indicator =>
  calculated({
    ...{ name: 'vwma', sources: [source], prices: ['volume'], periods: { period }, warmup: period },
    begin() {
      const amounts = sums(period);
      const volumes = sums(period);
      const buffer = growing();
      const total = growing();
      const past = new Ring(period);
      return ([price, size], [into], count) => {
        const amount = buffer(count);
        const traded = total(count);
        for (let row = 0; row < count; row++) amount[row] = (price[row] as number) * (size[row] as number);
        amounts(amount, into, count);
        volumes(size, traded, count);
        for (let row = 0; row < count; row++) {
          past.push(price[row] as number);
          const sum = traded[row] as number;
          if (sum === 0) into[row] = meanOf(past, period);
          else into[row] = (into[row] as number) / sum;
        }
      };
    },
  });

function meanOf({ values, from }: Ring, period: number): number {
  const newest = values[from + period - 1] as number;
  let distance = 0;
  for (let at = from; at < from + period; at++) distance += (values[at] as number) - newest;
  return newest + distance / period;
}
