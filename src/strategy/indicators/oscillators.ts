/** Where a price lies in the range or beside the average of its window, and how far it moved. Each depends on its window alone. */
import type { Indicator, Source } from '../indicator.ts';
import { meanDistanceOver } from './averages.ts';
import { calculated, growing, linesOf, overOne, type Recipe } from './calculated.ts';
import { refuseInvalid } from './refuse.ts';
import { rsi } from './strength.ts';
import { after, exactSums, extremes, Ring } from './windows.ts';

/** The close in the range of highs and lows. */
const range = { prices: ['close', 'high', 'low'] } as const;

type Stochastic = Readonly<Record<'k' | 'd', Indicator>>;

/** Writes where values lie between the lowest low (0) and the highest high (100) of the last `period`; 50 where both are equal. */
function positions(
  period: number,
): (values: Float64Array, high: Float64Array, low: Float64Array, into: Float64Array, count: number) => void {
  const highest = extremes(period, 1);
  const lowest = extremes(period, -1);
  const buffer = growing();
  return (values, high, low, into, count) => {
    const bottom = buffer(count);
    lowest(low, bottom, count);
    highest(high, into, count);
    for (let row = 0; row < count; row++) {
      const min = bottom[row] as number;
      const span = (into[row] as number) - min;
      into[row] = span === 0 ? 50 : (100 * ((values[row] as number) - min)) / span;
    }
  };
}

/** A position and its averages, of the close in the range of klines or of one source in its own range. */
const smoothed = (
  of: Pick<Recipe<'k'>, 'name' | 'sources' | 'prices'>,
  period: number,
  smoothK: number,
  smoothD: number,
): Stochastic =>
  linesOf({
    ...of,
    periods: { period, 'smoothing of k': smoothK, 'smoothing of d': smoothD },
    lines: { k: period + smoothK - 1, d: period + smoothK + smoothD - 2 },
    begin() {
      const position = positions(period);
      const averageK = after(period - 1, exactSums(smoothK, 'mean'));
      const averageD = after(period + smoothK - 2, exactSums(smoothD, 'mean'));
      return ([values, high, low], [k, d], count) => {
        if (of.prices === undefined) position(values, values, values, d, count);
        else position(values, high, low, d, count);
        averageK(d, k, count);
        averageD(k, d, count);
      };
    },
  });

/**
 * Stochastic (Lane 1984): the close between the lowest low (0) and the highest high (100) of the last `period` klines, 50 where both are
 * equal. `k` is its average over `smoothK` klines, `d` the average of `k` over `smoothD`. With `smoothK` 1 it is the fast stochastic.
 */
export const stochastic = (period = 14, smoothK = 3, smoothD = 3): Stochastic =>
  smoothed({ name: 'stochastic', ...range }, period, smoothK, smoothD);

/**
 * Stochastic of the RSI (Chande and Kroll 1994): `rsi(source, rsiPeriod)` between its lowest (0) and highest (100) of the last `period`
 * values; 50 where both are equal, as where nothing moves. `k` and `d` as in `stochastic`. TA-Lib's has `smoothK` 1. It depends on its
 * start as `rsi` does.
 */
export function stochRsi(source: Source, rsiPeriod = 14, period = 14, smoothK = 3, smoothD = 3): Stochastic {
  refuseInvalid('stochRsi', {
    sources: [source],
    periods: { 'RSI period': rsiPeriod, period, 'smoothing of k': smoothK, 'smoothing of d': smoothD },
  });
  return smoothed({ name: 'stochastic', sources: [rsi(source, rsiPeriod)] }, period, smoothK, smoothD);
}

/** Williams %R (Williams 1973): the close between the lowest low (-100) and the highest high (0) of the last `period` klines; -50 where both are equal. */
export const williamsR = (period: number): Indicator =>
  calculated({
    ...{ name: 'williamsR', ...range, periods: { period }, warmup: period },
    begin() {
      const highest = extremes(period, 1);
      const lowest = extremes(period, -1);
      const buffer = growing();
      return ([close, high, low], [out], count) => {
        const bottom = buffer(count);
        lowest(low, bottom, count);
        highest(high, out, count);
        for (let row = 0; row < count; row++) {
          const top = out[row] as number;
          const span = top - (bottom[row] as number);
          out[row] = span === 0 ? -50 : (100 * ((close[row] as number) - top)) / span;
        }
      };
    },
  });

/**
 * Commodity channel index (Lambert 1980): how far the value lies from the mean of the last `period`, over 0.015 × the mean absolute distance
 * from that mean; 0 where all are equal. Lambert's source is `'hlc3'`. Its time grows with the period.
 */
export const cci = (source: Source, period: number): Indicator =>
  overOne('cci', source, period, () => {
    const distanceOf = meanDistanceOver(source, period);
    const past = new Ring(period);
    const { values: window } = past;
    return (values, into, count) => {
      distanceOf(values, into, count);
      for (let row = 0; row < count; row++) {
        const value = values[row] as number;
        past.push(value);
        const mean = into[row] as number;
        const apart = sumOfDistances(window, past.from, past.from + period, value, mean);
        into[row] = apart === 0 ? 0 : (-mean * period) / (0.015 * apart);
      }
    };
  });

/** The sum of |value - newest - mean|; in four parts, which a processor adds side by side. */
function sumOfDistances(values: Float64Array, from: number, to: number, newest: number, mean: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = from;
  for (; at + 3 < to; at += 4) {
    a += Math.abs((values[at] as number) - newest - mean);
    b += Math.abs((values[at + 1] as number) - newest - mean);
    c += Math.abs((values[at + 2] as number) - newest - mean);
    d += Math.abs((values[at + 3] as number) - newest - mean);
  }
  for (; at < to; at++) a += Math.abs((values[at] as number) - newest - mean);
  return a + b + (c + d);
}

/** Rate of change: by how many percent the value is above that of `period` klines before; 0 after a value of 0. */
export const roc = (source: Source, period: number): Indicator => since('roc', source, period);

/** Momentum: the value minus that of `period` klines before. */
export const momentum = (source: Source, period: number): Indicator => since('momentum', source, period);

const since = (name: 'roc' | 'momentum', source: Source, period: number): Indicator =>
  overOne(
    name,
    source,
    period,
    () => {
      const past = new Float64Array(period);
      const isPercent = name === 'roc';
      let place = 0;
      let seen = 0;
      return (values, into, count) => {
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          const before = past[place] as number;
          const move = value - before;
          if (seen < period) into[row] = Number.NaN;
          else if (isPercent) into[row] = before === 0 ? 0 : (100 * move) / before;
          else into[row] = move;
          past[place] = value;
          place = place + 1 === period ? 0 : place + 1;
          seen++;
        }
      };
    },
    { warmup: period + 1 },
  );
