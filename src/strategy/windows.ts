/** Indicators over a window of the last `period` values. Each value depends on its window alone, to the last bit, wherever the klines begin. */

import { type Indicator, overSource, type Piece, type Source } from './indicator.ts';

/** The highest of the last `period` values: of highs, the upper band of Donchian. */
export const highest = (source: Source, period: number): Indicator =>
  overSource('highest', source, period, greatest(period, 1));

/** The lowest of the last `period` values: of lows, the lower band of Donchian. */
export const lowest = (source: Source, period: number): Indicator =>
  overSource('lowest', source, period, greatest(period, -1));

/**
 * The greatest of values times `sign`, times `sign` again. A value is dropped as soon as a later one is at least as large. So the kept
 * values fall from first to last, and each is compared twice at most.
 */
const greatest =
  (period: number, sign: 1 | -1) =>
  (source: Float64Array): Piece => {
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
        const end = (first + count) % period;
        values[end] = own;
        rows[end] = row;
        count++;
        row++;
        into[next - from] = row < period ? Number.NaN : sign * (values[first] as number);
      }
    };
  };

/** Larger values count as 1.1e15: no market has them, and their sums would not be exact. */
const largestSummed = 2 ** 50;

/** Adding this number to a value and subtracting it again rounds the value to steps of 2^`power`: a double so large has no finer digits. */
const rounderTo = (power: number): number => 1.5 * 2 ** (52 + power);

/**
 * Simple moving average. A plain running sum would keep the rounding errors of all values that ever were in it. So each value is split
 * into three parts, each a whole number of steps. The steps are so large that the three running sums stay below 2^53 of them and are
 * exact. Digits below the smallest step are rounded away: 2^-86 for 50 values, 2^-74 for 1,000. The average is the newest value plus the
 * mean distance from it, so equal values average to exactly their value.
 */
export const sma = (source: Source, period: number): Indicator =>
  overSource('sma', source, period, (values) => {
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
 * Population standard deviation of the last `period` values, as in Bollinger bands. Sums and squares of the last 1, 2, 4, 8 … values are
 * each made of two halves; those of the window are made of the powers of two in `period`. Squares are taken around the mean of their own
 * values, so everything added is at least 0, and exactly 0 for equal values.
 */
export const stdev = (source: Source, period: number): Indicator =>
  overSource('stdev', source, period, (values) => {
    // A ring of 2 × length entries for each length, one after another.
    const sums = new Float64Array(4 * period);
    const squares = new Float64Array(4 * period);
    let row = 0;
    return (into, from, to) => {
      for (let next = from; next < to; next++) {
        const value = values[next] as number;
        let sum = value;
        let square = 0;
        // Of the part of the window that is added: its length, the sum of its distances from `value`, its squares.
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
            const slot = ring + ((row - done) & mask);
            const more = (sums[slot] as number) - length * value;
            const apart = done * more - length * distance;
            around += squares[slot] as number;
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
