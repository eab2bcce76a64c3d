/** Where a price lies in the range or beside the average of its window, and how far it moved. Each depends on its window alone. */
import type { Indicator, Source } from '../indicator.ts';
import { sma } from './averages.ts';
import { calculated, growing, overOne } from './calculated.ts';
import { weightedDistances } from './moments.ts';
import { refuseInvalid } from './refuse.ts';
import { rsi } from './strength.ts';
import { extremes, Ring } from './windows.ts';

type Stochastic = Readonly<Record<'k' | 'd', Indicator>>;

/** From the lowest low (0) to the highest high (`scale`) of the last `period` values; `flat` where both are equal. */
const positionIn = (
  name: string,
  sources: readonly [value: Source, high: Source, low: Source],
  period: number,
  [offset, scale, flat]: readonly [offset: number, scale: number, flat: number],
): Indicator =>
  calculated({
    ...{ name, sources, periods: { period }, warmup: period },
    begin() {
      const [highest, lowest] = [extremes(period, 1), extremes(period, -1)];
      const buffer = growing();
      return ([values, high, low], [out], count) => {
        const bottom = buffer(count);
        highest(high, out, count);
        lowest(low, bottom, count);
        for (let row = 0; row < count; row++) {
          const [top, least] = [out[row] as number, bottom[row] as number];
          const from = offset === 0 ? least : top;
          out[row] = top === least ? flat : (scale * ((values[row] as number) - from)) / (top - least);
        }
      };
    },
  });

/**
 * Stochastic (Lane 1984): the close between the lowest low (0) and the highest high (100) of the last `period` klines, 50 where both are
 * equal. `k` is its average over `smoothK` klines, `d` the average of `k` over `smoothD`. With `smoothK` 1 it is the fast stochastic.
 */
export function stochastic(period = 14, smoothK = 3, smoothD = 3): Stochastic {
  refuseInvalid('stochastic', { periods: { period, 'smoothing of k': smoothK, 'smoothing of d': smoothD } });
  return smoothed(positionIn('stochastic', ['close', 'high', 'low'], period, [0, 100, 50]), smoothK, smoothD);
}

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
  const strength = rsi(source, rsiPeriod);
  return smoothed(positionIn('stochastic', [strength, strength, strength], period, [0, 100, 50]), smoothK, smoothD);
}

function smoothed(raw: Indicator, smoothK: number, smoothD: number): Stochastic {
  const k = sma(raw, smoothK);
  return { k, d: sma(k, smoothD) };
}

/** Williams %R (Williams 1973): the close between the lowest low (-100) and the highest high (0) of the last `period` klines; -50 where both are equal. */
export const williamsR = (period: number): Indicator =>
  positionIn('williamsR', ['close', 'high', 'low'], period, [1, 100, -50]);

/**
 * Commodity channel index (Lambert 1980): how far the value lies from the mean of the last `period`, over 0.015 × the mean absolute distance
 * from that mean; 0 where all are equal. Lambert's source is `'hlc3'`. Its time grows with the period.
 */
export const cci = (source: Source, period: number): Indicator =>
  overOne('cci', source, period, () => {
    const distancesOf = weightedDistances(period);
    const past = new Ring(period);
    const { values: window } = past;
    const unused = growing();
    return (values, into, count) => {
      distancesOf(values, into, unused(count), count);
      for (let row = 0; row < count; row++) {
        const value = values[row] as number;
        past.push(value);
        const mean = (into[row] as number) / period;
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
export const roc = (source: Source, period: number): Indicator =>
  since('roc', source, period, (value, before) => (before === 0 ? 0 : (100 * (value - before)) / before));

/** Momentum: the value minus that of `period` klines before. */
export const momentum = (source: Source, period: number): Indicator =>
  since('momentum', source, period, (value, before) => value - before);

const since = (
  name: string,
  source: Source,
  period: number,
  compare: (value: number, before: number) => number,
): Indicator =>
  overOne(
    name,
    source,
    period,
    () => {
      const past = new Float64Array(period);
      let [place, seen] = [0, 0];
      return (values, into, count) => {
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          into[row] = seen < period ? Number.NaN : compare(value, past[place] as number);
          past[place] = value;
          place = place + 1 === period ? 0 : place + 1;
          seen++;
        }
      };
    },
    { warmup: period + 1 },
  );
