/** Recursive indicators: all klines since the first one count, with a weight that fades. NaN until warm. */
import { type Indicator, inPieces, overSource, type Prices, refuseInvalid, type Source } from './indicator.ts';

export type { Columns } from '../domain/market.ts';
export type { Indicator, Prices, Source, TimedPrices } from './indicator.ts';
export { sma } from './windows.ts';

/** Exponential moving average, 2 / (period + 1), seeded with the simple average of the first `period` values (as TA-Lib does). */
export const ema = (source: Source, period: number): Indicator =>
  overSource('ema', source, period, (values) => {
    const weight = 2 / (period + 1);
    // In this form the new value's part does not wait for the last average, which halves the time.
    const kept = 1 - weight;
    let [rows, sum, last] = [0, 0, Number.NaN];
    return (into, from, to) => {
      let next = from;
      let value = last;
      for (; rows < period && next < to; next++) {
        sum += values[next] as number;
        rows++;
        if (rows === period) value = sum / period;
        into[next - from] = value;
      }
      for (; next < to; next++) {
        value = kept * value + weight * (values[next] as number);
        into[next - from] = value;
      }
      last = value;
    };
  });

/**
 * Wilder's relative strength index, 0 to 100: rises over all moves of the last klines, both smoothed by 1 / period and seeded with
 * simple averages of the first `period` moves (as TA-Lib does); 50 where nothing moved.
 */
export const rsi = (source: Source, period: number): Indicator =>
  overSource(
    'rsi',
    source,
    period,
    (values) => {
      const weight = 1 / period;
      const kept = 1 - weight;
      let [rows, last, lastRise, lastFall] = [0, Number.NaN, 0, 0];
      return (into, from, to) => {
        let next = from;
        let [previous, rise, fall] = [last, lastRise, lastFall];
        for (; rows <= period && next < to; next++) {
          const value = values[next] as number;
          const move = rows === 0 ? 0 : value - previous;
          previous = value;
          if (move > 0) rise += move;
          else fall -= move;
          if (rows === period) {
            rise /= period;
            fall /= period;
          }
          into[next - from] = rows === period ? strength(rise, fall) : Number.NaN;
          rows++;
        }
        for (; next < to; next++) {
          const value = values[next] as number;
          const move = value - previous;
          previous = value;
          // Without a branch: a processor cannot predict which way a price moves.
          const gain = (move + Math.abs(move)) / 2;
          rise = kept * rise + weight * gain;
          fall = kept * fall + weight * (gain - move);
          into[next - from] = strength(rise, fall);
        }
        [last, lastRise, lastFall] = [previous, rise, fall];
      };
    },
    period + 1,
  );

const strength = (rise: number, fall: number): number => (rise + fall === 0 ? 50 : (100 * rise) / (rise + fall));

/** Wilder's average true range, seeded with the simple average of the first `period` true ranges. */
export function atr(period: number): Indicator {
  refuseInvalid('atr', period);
  const stream = (): ((prices: Prices) => number) => {
    let [previous, sum, seen, value] = [Number.NaN, 0, 0, Number.NaN];
    return (prices) => {
      const range = trueRange(prices.high, prices.low, previous);
      previous = prices.close;
      seen++;
      if (seen <= period) {
        sum += range;
        if (seen === period) value = sum / period;
      } else value = (value * (period - 1) + range) / period;
      return value;
    };
  };
  return {
    warmup: period,
    column: inPieces(`atr ${period}`, ({ high, low, close }) => {
      const next = stream();
      const prices = { open: 0, high: 0, low: 0, close: 0, volume: 0 };
      return (into, from, to) => {
        for (let row = from; row < to; row++) {
          prices.high = high[row] as number;
          prices.low = low[row] as number;
          prices.close = close[row] as number;
          into[row - from] = next(prices);
        }
      };
    }),
    stream,
  };
}

const trueRange = (high: number, low: number, previousClose: number): number =>
  Number.isNaN(previousClose) ? high - low : Math.max(high, previousClose) - Math.min(low, previousClose);
