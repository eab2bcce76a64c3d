/**
 * Indicators, each in two forms of one arithmetic: `column` over a whole series, in pieces too (backtests), and `stream` kline by kline
 * (live). Both add the same numbers in the same order, so they agree to the last bit; NaN until warm. Those in this file are recursive: where
 * the klines begin has a part in their values, which fades.
 */

import { inPieces } from './column-pieces.ts';
import { type Indicator, type Prices, refuseInvalid, type Source } from './indicator.ts';

export type { Columns } from '../domain/market.ts';
export type { Indicator, Prices, Source, TimedPrices } from './indicator.ts';
export { sma } from './windows.ts';

/** Exponential moving average, 2 / (period + 1), seeded with the simple average of the first `period` values (as TA-Lib does). */
export function ema(source: Source, period: number): Indicator {
  refuseInvalid('ema', period, `${source}`);
  const weight = 2 / (period + 1);
  // The new value's part does not wait for the average before it: half the time of moving the average by a part of the distance.
  const kept = 1 - weight;
  const stream = (): ((prices: Prices) => number) => {
    let sum = 0;
    let seen = 0;
    let value = Number.NaN;
    return (prices) => {
      const next = prices[source];
      seen++;
      if (seen <= period) {
        sum += next;
        if (seen === period) value = sum / period;
      } else value = kept * value + weight * next;
      return value;
    };
  };
  return {
    warmup: period,
    column: inPieces(`ema ${source} ${period}`, (klines) => {
      const values = klines[source];
      let [sum, last] = [0, Number.NaN];
      return (into, from, to) => {
        let at = from;
        let value = last;
        for (const warm = Math.min(period, to); at < warm; at++) {
          sum += values[at] as number;
          if (at === period - 1) value = sum / period;
          into[at - from] = value;
        }
        for (; at < to; at++) {
          value = kept * value + weight * (values[at] as number);
          into[at - from] = value;
        }
        last = value;
      };
    }),
    stream,
  };
}

/**
 * Wilder's relative strength index, 0 to 100: rises over all moves of the last klines, both smoothed by 1 / period and seeded with
 * simple averages of the first `period` moves (as TA-Lib does); 50 where nothing moved.
 */
export function rsi(source: Source, period: number): Indicator {
  refuseInvalid('rsi', period, `${source}`);
  const weight = 1 / period;
  const kept = 1 - weight;
  return {
    warmup: period + 1,
    column: inPieces(`rsi ${source} ${period}`, (klines) => {
      const values = klines[source];
      let [lastRise, lastFall] = [0, 0];
      return (into, from, to) => {
        let at = from;
        let rise = lastRise;
        let fall = lastFall;
        for (const warm = Math.min(period + 1, to); at < warm; at++) {
          const move = at === 0 ? 0 : (values[at] as number) - (values[at - 1] as number);
          if (move > 0) rise += move;
          else fall -= move;
          if (at === period) {
            rise /= period;
            fall /= period;
          }
          into[at - from] = at === period ? strength(rise, fall) : Number.NaN;
        }
        for (; at < to; at++) {
          const move = (values[at] as number) - (values[at - 1] as number);
          // Without a branch: nobody can foretell which way a price moves, a processor neither.
          const gain = (move + Math.abs(move)) / 2;
          rise = kept * rise + weight * gain;
          fall = kept * fall + weight * (gain - move);
          into[at - from] = strength(rise, fall);
        }
        lastRise = rise;
        lastFall = fall;
      };
    }),
    stream() {
      let [rise, fall, seen, before] = [0, 0, 0, Number.NaN];
      return (prices) => {
        const value = prices[source];
        const move = seen === 0 ? 0 : value - before;
        before = value;
        seen++;
        if (seen <= period + 1) {
          if (move > 0) rise += move;
          else fall -= move;
          if (seen <= period) return Number.NaN;
          rise /= period;
          fall /= period;
        } else {
          const gain = (move + Math.abs(move)) / 2;
          rise = kept * rise + weight * gain;
          fall = kept * fall + weight * (gain - move);
        }
        return strength(rise, fall);
      };
    },
  };
}

const strength = (rise: number, fall: number): number => (rise + fall === 0 ? 50 : (100 * rise) / (rise + fall));

/** Wilder's average true range, seeded with the simple average of the first `period` true ranges. */
export function atr(period: number): Indicator {
  refuseInvalid('atr', period);
  const stream = (): ((prices: Prices) => number) => {
    let previous = Number.NaN;
    let sum = 0;
    let seen = 0;
    let value = Number.NaN;
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
        for (let at = from; at < to; at++) {
          prices.high = high[at] as number;
          prices.low = low[at] as number;
          prices.close = close[at] as number;
          into[at - from] = next(prices);
        }
      };
    }),
    stream,
  };
}

const trueRange = (high: number, low: number, previousClose: number): number =>
  Number.isNaN(previousClose) ? high - low : Math.max(high, previousClose) - Math.min(low, previousClose);
