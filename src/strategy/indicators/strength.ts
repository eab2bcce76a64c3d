/** Oscillators that compare rises with falls. */
import { SignalError } from '../fault.ts';
import type { Indicator, Source } from '../indicator.ts';
import { calculated, growing, overOne } from './calculated.ts';
import { argumentsText, refuseInvalid } from './refuse.ts';
import { exactSums, sums } from './windows.ts';

type Moves = (values: Float64Array, rises: Float64Array, falls: Float64Array, count: number) => void;

/**
 * Average rises and falls by Wilder's average, up to a factor that both share: where nothing moves, both only shrink, and their ratio stays
 * exactly what it was. NaN until `period` moves were seen.
 */
function wildersMoves(period: number): Moves {
  const weight = 1 / period;
  const kept = 1 - weight;
  // By how much both would have shrunk since the last move.
  let [rows, last, lastRise, lastFall, lastShrunk] = [0, Number.NaN, 0, 0, 1];
  return (values, rises, falls, count) => {
    let next = 0;
    let [previous, rise, fall, shrunk] = [last, lastRise, lastFall, lastShrunk];
    for (; rows <= period && next < count; next++) {
      const value = values[next] as number;
      const move = rows === 0 ? 0 : value - previous;
      previous = value;
      if (move > 0) rise += move;
      else fall -= move;
      if (rows === period) {
        rise /= period;
        fall /= period;
      }
      rises[next] = rows === period ? rise : Number.NaN;
      falls[next] = rows === period ? fall : Number.NaN;
      rows++;
    }
    for (; next < count; next++) {
      const value = values[next] as number;
      const move = value - previous;
      previous = value;
      if (move === 0) shrunk *= kept;
      else {
        // Without a branch: a processor cannot predict which way a price moves.
        const gain = (move + Math.abs(move)) / 2;
        const left = kept * shrunk;
        rise = left * rise + weight * gain;
        fall = left * fall + weight * (gain - move);
        shrunk = 1;
      }
      rises[next] = rise;
      falls[next] = fall;
    }
    [last, lastRise, lastFall, lastShrunk] = [previous, rise, fall, shrunk];
  };
}

/** Sums of rises and of falls over the last `period` moves. */
function summedMoves(period: number): Moves {
  const [sumRises, sumFalls] = [exactSums(period, 'sum'), exactSums(period, 'sum')];
  const buffer = growing();
  let [last, isFirst] = [0, true];
  return (values, rises, falls, count) => {
    const moves = buffer(count);
    let before = last;
    for (let row = 0; row < count; row++) {
      const value = values[row] as number;
      moves[row] = value - before;
      before = value;
    }
    last = before;
    // No value is known before the first.
    const from = isFirst && count > 0 ? 1 : 0;
    if (from === 1) [rises[0], falls[0], isFirst] = [Number.NaN, Number.NaN, false];
    for (let row = from; row < count; row++) {
      const move = moves[row] as number;
      rises[row] = Math.max(move, 0);
      falls[row] = Math.max(-move, 0);
    }
    const [up, down] = [rises.subarray(from, count), falls.subarray(from, count)];
    sumRises(up, up, count - from);
    sumFalls(down, down, count - from);
  };
}

/**
 * Wilder's relative strength index, 0 to 100: rises over all moves (Wilder 1978). Both are averages that start at the simple ones of the first
 * `period` moves; each move then moves them by 1 / `period`, as in TA-Lib. 50 where nothing moved yet; where nothing moves, it stays. The
 * start counts less than 1e-9 after 20.8 × `period` klines that move.
 */
export const rsi = (source: Source, period: number): Indicator =>
  overOne(
    'rsi',
    source,
    period,
    () => {
      const moves = wildersMoves(period);
      const buffer = growing();
      return (values, into, count) => {
        const falls = buffer(count);
        moves(values, into, falls, count);
        for (let row = 0; row < count; row++) {
          const rise = into[row] as number;
          const fall = falls[row] as number;
          into[row] = rise + fall === 0 ? 50 : (100 * rise) / (rise + fall);
        }
      };
    },
    { warmup: period + 1 },
  );

/**
 * Chande's momentum oscillator, -100 to 100: rises minus falls over all moves; 0 where nothing moved. With the averages of `rsi`, as TA-Lib's
 * CMO has them, or with `'sum'` plain sums of the last `period` moves, as Chande (1994) and TradingView have them.
 */
export function cmo(source: Source, period: number, moves: 'average' | 'sum' = 'average'): Indicator {
  if (moves !== 'average' && moves !== 'sum')
    throw new SignalError(`cmo(${argumentsText([source, period, moves])}): the moves must be 'average' or 'sum'`);
  return overOne(
    'cmo',
    source,
    period,
    () => {
      const movesOf = moves === 'sum' ? summedMoves(period) : wildersMoves(period);
      const buffer = growing();
      return (values, into, count) => {
        const falls = buffer(count);
        movesOf(values, into, falls, count);
        for (let row = 0; row < count; row++) {
          const rise = into[row] as number;
          const fall = falls[row] as number;
          into[row] = rise + fall === 0 ? 0 : (100 * (rise - fall)) / (rise + fall);
        }
      };
    },
    { warmup: period + 1, variant: moves },
  );
}

/**
 * Money flow index, 0 to 100 (Quong and Soudack 1989): of the amounts hlc3 × volume of the last `period` klines, those of klines with a
 * higher hlc3 than the one before over those of klines with a higher or a lower one; 50 where there are none.
 */
export const mfi = (period: number): Indicator =>
  calculated({
    ...{ name: 'mfi', prices: ['high', 'low', 'close', 'volume'], periods: { period }, warmup: period + 1 },
    begin() {
      const ups = sums(period);
      const downs = sums(period);
      const rising = growing();
      const falling = growing();
      let last = 0;
      let isFirst = true;
      return ([high, low, close, volume], [out], count) => {
        const up = rising(count);
        const down = falling(count);
        let before = last;
        for (let row = 0; row < count; row++) {
          const price = (high[row] as number) + (low[row] as number) + (close[row] as number);
          const amount = price * (volume[row] as number);
          // Prices are decimals: equal sums of three may differ in their last bits.
          const isMoved = Math.abs(price - before) > price * 2e-15;
          up[row] = isMoved && price > before ? amount : 0;
          down[row] = isMoved && price < before ? amount : 0;
          before = price;
        }
        last = before;
        const from = isFirst && count > 0 ? 1 : 0;
        if (from === 1) [out[0], isFirst] = [Number.NaN, false];
        const rises = up.subarray(from, count);
        const falls = down.subarray(from, count);
        ups(rises, rises, count - from);
        downs(falls, falls, count - from);
        for (let row = from; row < count; row++) {
          const rise = up[row] as number;
          const fall = down[row] as number;
          out[row] = rise + fall === 0 ? 50 : (100 * rise) / (rise + fall);
        }
      };
    },
  });

/**
 * Ultimate oscillator, 0 to 100 (Williams 1985): how far closes lie above the true low, over the true range, both summed over three
 * windows that count 4, 2 and 1. A window without any range counts as 0.5.
 */
export function ultimateOscillator(fast = 7, middle = 14, slow = 28): Indicator {
  const names = { 'fast period': fast, 'middle period': middle, 'slow period': slow };
  refuseInvalid('ultimateOscillator', { periods: names });
  return calculated({
    ...{ name: 'ultimateOscillator', prices: ['high', 'low', 'close'], periods: names },
    warmup: Math.max(fast, middle, slow) + 1,
    begin() {
      const windows = [fast, middle, slow]
        .toSorted((a, b) => a - b)
        .map((period, index) => ({
          weight: [4, 2, 1][index] as number,
          pressures: exactSums(period, 'sum'),
          ranges: exactSums(period, 'sum'),
        }));
      const pressures = growing();
      const ranges = growing();
      const pressureSums = growing();
      const rangeSums = growing();
      let last = Number.NaN;
      return ([high, low, close], [out], count) => {
        const [pressure, range, above, whole] = [
          pressures(count),
          ranges(count),
          pressureSums(count),
          rangeSums(count),
        ];
        const from = Number.isNaN(last) && count > 0 ? 1 : 0;
        if (from === 1) out[0] = Number.NaN;
        let before = from === 1 ? (close[0] as number) : last;
        for (let row = from; row < count; row++) {
          const lowest = Math.min(low[row] as number, before);
          pressure[row - from] = (close[row] as number) - lowest;
          range[row - from] = Math.max(high[row] as number, before) - lowest;
          before = close[row] as number;
        }
        if (count > 0) last = before;
        for (const [index, window] of windows.entries()) {
          window.pressures(pressure, above, count - from);
          window.ranges(range, whole, count - from);
          for (let row = from; row < count; row++) {
            const total = whole[row - from] as number;
            const part = total === 0 ? 0.5 : (above[row - from] as number) / total;
            out[row] = (index === 0 ? 0 : (out[row] as number)) + (window.weight * 100 * part) / 7;
          }
        }
      };
    },
  });
}
