/** Bands around a price. */
import type { Indicator, Source } from '../indicator.ts';
import { exponential, meanOver } from './averages.ts';
import { growing, linesOf } from './calculated.ts';
import { squaredDistances } from './moments.ts';
import { averageRanges } from './ranges.ts';
import { extremes, type Kernel } from './windows.ts';

/**
 * Bollinger bands (Bollinger 2001): the simple average of the last `period` values, and bands at `deviations` population standard deviations
 * from it. `percentB` is 0 at the lower band and 1 at the upper one; 0.5 where all values are equal. `width` is the distance between the
 * bands over the middle.
 */
export const bollinger = (
  source: Source,
  period = 20,
  deviations = 2,
): Readonly<Record<'upper' | 'middle' | 'lower' | 'percentB' | 'width', Indicator>> =>
  linesOf({
    ...{ name: 'bollinger', sources: [source], periods: { period }, factors: { deviations } },
    lines: { upper: period, middle: period, lower: period, percentB: period, width: period },
    begin() {
      const mean = meanOver(source, period);
      const squaresOf = squaredDistances(period);
      return ([values], [upper, middle, lower, percentB, width], count) => {
        mean(values, middle, count);
        squaresOf(values, lower, upper, count);
        for (let row = 0; row < count; row++) {
          const center = middle[row] as number;
          const half = deviations * Math.sqrt((upper[row] as number) / period);
          // From the lower band to the value: the value is no difference of two prices, which would lose its digits.
          const above = half - (lower[row] as number) / period;
          upper[row] = center + half;
          lower[row] = center - half;
          percentB[row] = half === 0 ? 0.5 : above / (2 * half);
          width[row] = (2 * half) / center;
        }
      };
    },
  });

/**
 * Keltner channel: the EMA of the last `period` values, and bands at `ranges` average true ranges (`atr` of `atrPeriod`) from it (Raschke's
 * form of Keltner 1960). With `'hlc3'` it is TA-Lib's, with `'close'` TradingView's. It depends on its start as `ema` and `atr` do.
 */
export const keltner = (
  source: Source,
  period = 20,
  atrPeriod = 10,
  ranges = 2,
): Readonly<Record<'upper' | 'middle' | 'lower', Indicator>> => {
  const first = Math.max(period, atrPeriod + 1);
  return linesOf({
    ...{
      name: 'keltner',
      sources: [source],
      prices: ['high', 'low', 'close'],
      periods: { period, 'ATR period': atrPeriod },
    },
    ...{ factors: { 'number of ranges': ranges }, lines: { upper: first, middle: first, lower: first } },
    begin() {
      const average = exponential(period);
      const rangesOf = averageRanges(atrPeriod);
      let seen = 0;
      return ([values, high, low, close], [upper, middle, lower], count) => {
        // Both have their first value at the same kline: the one that needs fewer klines begins later.
        const toAverage = Math.min(count, Math.max(0, first - period - seen));
        const toRange = Math.min(count, Math.max(0, first - atrPeriod - 1 - seen));
        seen += count;
        middle.fill(Number.NaN, 0, toAverage);
        lower.fill(Number.NaN, 0, toRange);
        const from = (values: Float64Array, row: number): Float64Array => (row === 0 ? values : values.subarray(row));
        average(from(values, toAverage), from(middle, toAverage), count - toAverage);
        const prices = [from(high, toRange), from(low, toRange), from(close, toRange)] as const;
        rangesOf(...prices, from(lower, toRange), count - toRange);
        for (let row = 0; row < count; row++) {
          const center = middle[row] as number;
          const half = ranges * (lower[row] as number);
          upper[row] = center + half;
          lower[row] = center - half;
        }
      };
    },
  });
};

/** Donchian channel: the highest high and the lowest low of the last `period` klines, and the middle of both. */
export const donchian = (period = 20): Readonly<Record<'upper' | 'middle' | 'lower', Indicator>> =>
  linesOf({
    ...{ name: 'donchian', prices: ['high', 'low'], periods: { period } },
    lines: { upper: period, middle: period, lower: period },
    begin() {
      const highest = extremes(period, 1);
      const lowest = extremes(period, -1);
      return ([high, low], [upper, middle, lower], count) => {
        highest(high, upper, count);
        lowest(low, lower, count);
        for (let row = 0; row < count; row++) middle[row] = ((upper[row] as number) + (lower[row] as number)) / 2;
      };
    },
  });

/**
 * Ichimoku (Hosoda 1969): middles of the ranges of the last `conversionPeriod` and `basePeriod` klines, and the cloud. `leadA` and `leadB`
 * are its newest edges, which charts draw `displacement` klines ahead, the current one included. `spanA` and `spanB` are those drawn at
 * the current kline. There is no lagging span, which is the close drawn `displacement` klines back.
 */
export function ichimoku(
  conversionPeriod = 9,
  basePeriod = 26,
  spanPeriod = 52,
  displacement = 26,
): Readonly<Record<'conversion' | 'base' | 'leadA' | 'leadB' | 'spanA' | 'spanB', Indicator>> {
  const firstA = Math.max(conversionPeriod, basePeriod);
  const ahead = displacement - 1;
  return linesOf({
    ...{ name: 'ichimoku', prices: ['high', 'low'] },
    periods: {
      ...{ 'conversion period': conversionPeriod, 'base period': basePeriod },
      ...{ 'span period': spanPeriod, displacement },
    },
    lines: {
      ...{ conversion: conversionPeriod, base: basePeriod, leadA: firstA, leadB: spanPeriod },
      ...{ spanA: firstA + ahead, spanB: spanPeriod + ahead },
    },
    begin() {
      const middles = [conversionPeriod, basePeriod, spanPeriod].map(middlesOf) as [Middles, Middles, Middles];
      const [delayA, delayB] = [delayed(ahead), delayed(ahead)];
      return ([high, low], [conversion, base, leadA, leadB, spanA, spanB], count) => {
        middles[0](high, low, conversion, count);
        middles[1](high, low, base, count);
        middles[2](high, low, leadB, count);
        for (let row = 0; row < count; row++) leadA[row] = ((conversion[row] as number) + (base[row] as number)) / 2;
        delayA(leadA, spanA, count);
        delayB(leadB, spanB, count);
      };
    },
  });
}

type Middles = (high: Float64Array, low: Float64Array, into: Float64Array, count: number) => void;

/** Writes (highest high + lowest low) / 2 of the last `period` klines. */
function middlesOf(period: number): Middles {
  const highest = extremes(period, 1);
  const lowest = extremes(period, -1);
  const buffer = growing();
  return (high, low, into, count) => {
    const bottom = buffer(count);
    highest(high, into, count);
    lowest(low, bottom, count);
    for (let row = 0; row < count; row++) into[row] = ((into[row] as number) + (bottom[row] as number)) / 2;
  };
}

/** Writes the values of so many klines before. */
function delayed(by: number): Kernel {
  const past = new Float64Array(by).fill(Number.NaN);
  let first = 0;
  return (values, into, count) => {
    let place = first;
    for (let row = 0; row < count; row++) {
      const value = values[row] as number;
      into[row] = by === 0 ? value : (past[place] as number);
      past[place] = value;
      place = place + 1 >= by ? 0 : place + 1;
    }
    first = place;
  };
}
