/**
 * Indicators over a window, the last `period` values. Each value is a function of its window alone, to the last bit, wherever the klines begin:
 * a live session has what a backtest has.
 */

import { inPieces, type Piece } from './column-pieces.ts';
import { type Indicator, type Prices, refuseInvalid, type Source } from './indicator.ts';

/** Takes values one after another, in pieces of any length, and writes what their windows come to. */
type Machine = (values: Float64Array) => Piece;

/** A column and a stream of one machine. */
function overLast(name: string, source: Source, period: number, machine: Machine): Indicator {
  refuseInvalid(name, period, `${source}`);
  return {
    warmup: period,
    column: inPieces(`${name} ${source} ${period}`, (klines) => machine(klines[source])),
    stream() {
      const value = new Float64Array(1);
      const result = new Float64Array(1);
      const next = machine(value);
      return (prices: Prices) => {
        value[0] = prices[source];
        next(result, 0, 1);
        return result[0] as number;
      };
    },
  };
}

/** The highest of the last `period` values: of highs, the upper band of Donchian. */
export const highest = (source: Source, period: number): Indicator =>
  overLast('highest', source, period, greatest(period, 1));

/** The lowest of the last `period` values: of lows, the lower band of Donchian. */
export const lowest = (source: Source, period: number): Indicator =>
  overLast('lowest', source, period, greatest(period, -1));

/**
 * The greatest of values times `sign`, times `sign` again. Those that a later one hides, because it is no smaller, are forgotten at once:
 * what is left falls from the first on, and each value is looked at twice at most.
 */
const greatest =
  (period: number, sign: 1 | -1): Machine =>
  (source) => {
    const values = new Float64Array(period);
    const rows = new Float64Array(period);
    let first = 0;
    let count = 0;
    let row = 0;
    return (into, from, to) => {
      for (let next = from; next < to; next++) {
        const own = sign * (source[next] as number);
        if (count > 0 && (rows[first] as number) <= row - period) {
          first = first + 1 === period ? 0 : first + 1;
          count--;
        }
        while (count > 0 && (values[(first + count - 1) % period] as number) <= own) count--;
        const at = (first + count) % period;
        values[at] = own;
        rows[at] = row;
        count++;
        row++;
        into[next - from] = row < period ? Number.NaN : sign * (values[first] as number);
      }
    };
  };

/** Larger values count as this one, 1.1e15: no market has them, and sums of them would no longer be exact. */
const largestSummed = 2 ** 50;

/** A value added to this and taken away again is rounded to whole steps of 2^`power`: a double so large has no finer digits. */
const rounderTo = (power: number): number => 1.5 * 2 ** (52 + power);

/**
 * Simple moving average. A running sum of the values themselves would keep what rounding left of all that was ever in it. So each value is split
 * into three parts, whole numbers of steps so large that the parts in a window come to less than 2^53 of them: each of the three sums is
 * exact, and that of its window. What is finer than the last step, 2^-86 for 50 values and 2^-74 for 1,000, is rounded away. The average is the
 * newest value and the mean distance from it, so that equal values have their own value as average.
 */
export const sma = (source: Source, period: number): Indicator =>
  overLast('sma', source, period, (values) => {
    const bits = 32 - Math.clz32(period - 1);
    const rounders = Float64Array.of(rounderTo(bits), rounderTo(2 * bits - 52), rounderTo(3 * bits - 104));
    const [highs, mids, lows] = [new Float64Array(period), new Float64Array(period), new Float64Array(period)];
    const sums = new Float64Array(3);
    let rows = 0;
    let first = 0;
    return (into, from, to) => {
      const [coarse = 0, middle = 0, fine = 0] = rounders;
      let [high = 0, mid = 0, low = 0] = sums;
      let [row, place] = [rows, first];
      for (let next = from; next < to; next++) {
        const value = Math.min(values[next] as number, largestSummed);
        const a = value + coarse - coarse;
        const rest = value - a;
        const b = rest + middle - middle;
        const c = rest - b + fine - fine;
        high += a - (highs[place] as number);
        mid += b - (mids[place] as number);
        low += c - (lows[place] as number);
        highs[place] = a;
        mids[place] = b;
        lows[place] = c;
        place = place + 1 === period ? 0 : place + 1;
        const distance = high - period * a + (mid - period * b) + (low - period * c);
        row++;
        into[next - from] = row < period ? Number.NaN : value + distance / period;
      }
      [rows, first] = [row, place];
      sums.set([high, mid, low]);
    };
  });

/**
 * The standard deviation of the last `period` values, of all of them and not of a sample, as Bollinger's bands have it. Sums and squares of
 * the last 1, 2, 4, 8 … values are made of two halves each, and those of the window from the lengths that `period` consists of. Squares
 * are those around the mean of their own values: all that is added is at least 0, and exactly 0 where values are equal.
 */
export const stdev = (source: Source, period: number): Indicator =>
  overLast('stdev', source, period, (values) => {
    // A ring of 2 × length entries for each length, one behind another.
    const sums = new Float64Array(4 * period);
    const squares = new Float64Array(4 * period);
    let row = 0;
    return (into, from, to) => {
      for (let next = from; next < to; next++) {
        const value = values[next] as number;
        let sum = value;
        let square = 0;
        // Of the part of the window that is done: its length, the sum of its distances from `value`, its squares.
        let done = 0;
        let distance = 0;
        let around = 0;
        for (let length = 1; ; length *= 2) {
          const ring = 2 * length - 2;
          const mask = 2 * length - 1;
          const now = ring + (row & mask);
          sums[now] = sum;
          squares[now] = square;
          if ((period & length) !== 0) {
            const at = ring + ((row - done) & mask);
            const more = (sums[at] as number) - length * value;
            const apart = done * more - length * distance;
            around += squares[at] as number;
            if (done > 0) around += (apart * apart) / (done * length * (done + length));
            distance += more;
            done += length;
          }
          if (2 * length > period) break;
          const before = ring + ((row - length) & mask);
          const apart = sum - (sums[before] as number);
          square += (squares[before] as number) + (apart * apart) / (2 * length);
          sum += sums[before] as number;
        }
        row++;
        into[next - from] = row < period ? Number.NaN : Math.sqrt(around / period);
      }
    };
  });
