/**
 * Sums of distances, of weighted distances and of squares over a window of the last `period` values. Those of the last 1, 2, 4, 8 … values
 * are each made of two halves; those of the window are made of the powers of two in `period`. All distances are from the newest value,
 * so prices far from 0 that hardly move lose no digits, and all results for equal values are exactly 0. Each result depends on its window
 * alone, to the last bit. Until `period` values were seen, the results are NaN.
 *
 * Each length has a ring of 2 × length entries, one ring after another. What an entry holds lies side by side: reading it from arrays
 * of their own takes a quarter longer.
 */

import type { Source } from '../indicator.ts';
import { exactWeightedDistances } from './windows.ts';

/**
 * By power of two in `period`, the factor of the squared distance of the means, times both lengths, of the part before and this one. A
 * division for each would take longer than all else.
 */
function sharesOf(period: number): Float64Array {
  const shares = new Float64Array(32);
  let done = 0;
  for (let level = 0; 2 ** level <= period; level++) {
    const length = 2 ** level;
    if ((period & length) === 0) continue;
    if (done > 0) shares[level] = 1 / (done * length * (done + length));
    done += length;
  }
  return shares;
}

/** Reads the first `count` values and writes as many of two sums. */
type PairOfSums = (values: Float64Array, first: Float64Array, second: Float64Array, count: number) => void;

/**
 * Writes to `distances` the sum of (value - newest), and to `weighted` that of age × (value - newest); the newest has the age 0. Values of a
 * price are summed exactly while the windows are short: of longer ones too few digits would be left.
 */
export const weightedDistances = (source: Source, period: number): PairOfSums =>
  typeof source === 'string' && period <= longestExact ? exactWeightedDistances(period) : halvedDistances(period);

const longestExact = 128;

function halvedDistances(period: number): PairOfSums {
  // By entry: the newest value, the sum of distances from it, that of age × distance; the fourth is unused.
  const rings = new Float64Array(16 * period);
  let row = 0;
  return (values, distances, weighted, count) => {
    for (let next = 0; next < count; next++) {
      const value = values[next] as number;
      // Of the last `length` values.
      let sum = 0;
      let product = 0;
      // Of the part of the window that is added.
      let done = 0;
      let sumDone = 0;
      let productDone = 0;
      for (let length = 1; ; length *= 2) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        const pairs = (length * (length - 1)) / 2;
        const now = (ring + (row & mask)) << 2;
        rings[now] = value;
        rings[now + 1] = sum;
        rings[now + 2] = product;
        if ((period & length) !== 0) {
          const slot = (ring + ((row - done) & mask)) << 2;
          const apart = (rings[slot] as number) - value;
          const more = (rings[slot + 1] as number) + length * apart;
          sumDone += more;
          productDone += (rings[slot + 2] as number) + done * more + apart * pairs;
          done += length;
        }
        if (2 * length > period) break;
        const before = (ring + ((row - length) & mask)) << 2;
        const apart = (rings[before] as number) - value;
        const more = (rings[before + 1] as number) + length * apart;
        sum += more;
        product += (rings[before + 2] as number) + length * more + apart * pairs;
      }
      row++;
      distances[next] = row < period ? Number.NaN : sumDone;
      weighted[next] = row < period ? Number.NaN : productDone;
    }
  };
}

/** Writes to `distances` the sum of (value - newest), and to `squares` that of (value - mean)². */
export function squaredDistances(period: number): PairOfSums {
  // By entry: the newest value, the sum of distances from it, that of squares around the mean; the fourth is unused.
  const rings = new Float64Array(16 * period);
  const shares = sharesOf(period);
  let row = 0;
  return (values, distances, squares, count) => {
    for (let next = 0; next < count; next++) {
      const value = values[next] as number;
      let sum = 0;
      let square = 0;
      let done = 0;
      let sumDone = 0;
      let squareDone = 0;
      for (let length = 1, level = 0, half = 0.5; ; length *= 2, half *= 0.5, level++) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        const now = (ring + (row & mask)) << 2;
        rings[now] = value;
        rings[now + 1] = sum;
        rings[now + 2] = square;
        if ((period & length) !== 0) {
          const slot = (ring + ((row - done) & mask)) << 2;
          const more = (rings[slot + 1] as number) + length * ((rings[slot] as number) - value);
          // How far the means of both parts are apart, times the lengths of both.
          const apart = done * more - length * sumDone;
          squareDone += (rings[slot + 2] as number) + apart * apart * (shares[level] as number);
          sumDone += more;
          done += length;
        }
        if (2 * length > period) break;
        const before = (ring + ((row - length) & mask)) << 2;
        const more = (rings[before + 1] as number) + length * ((rings[before] as number) - value);
        const apart = more - sum;
        square += (rings[before + 2] as number) + apart * apart * half;
        sum += more;
      }
      row++;
      distances[next] = row < period ? Number.NaN : sumDone;
      squares[next] = row < period ? Number.NaN : squareDone;
    }
  };
}

/** The sums of (a - mean of a)², of (b - mean of b)² and of their products, over pairs of values. */
export interface PairSums {
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly products: Float64Array;
}

/** Reads the first `count` pairs and writes as many sums. */
type PairKernel = (a: Float64Array, b: Float64Array, into: PairSums, count: number) => void;

export function pairedDistances(period: number): PairKernel {
  // By entry: both newest values, both sums of distances, both sums of squares, that of products; the eighth is unused.
  const rings = new Float64Array(32 * period);
  const shares = sharesOf(period);
  let row = 0;
  return (a, b, into, count) => {
    for (let next = 0; next < count; next++) {
      const valueA = a[next] as number;
      const valueB = b[next] as number;
      let sumA = 0;
      let sumB = 0;
      let squareA = 0;
      let squareB = 0;
      let product = 0;
      let done = 0;
      let doneA = 0;
      let doneB = 0;
      let totalA = 0;
      let totalB = 0;
      let total = 0;
      for (let length = 1, level = 0, half = 0.5; ; length *= 2, half *= 0.5, level++) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        const now = (ring + (row & mask)) << 3;
        rings[now] = valueA;
        rings[now + 1] = valueB;
        rings[now + 2] = sumA;
        rings[now + 3] = sumB;
        rings[now + 4] = squareA;
        rings[now + 5] = squareB;
        rings[now + 6] = product;
        if ((period & length) !== 0) {
          const slot = (ring + ((row - done) & mask)) << 3;
          const moreA = (rings[slot + 2] as number) + length * ((rings[slot] as number) - valueA);
          const moreB = (rings[slot + 3] as number) + length * ((rings[slot + 1] as number) - valueB);
          const apartA = done * moreA - length * doneA;
          const apartB = done * moreB - length * doneB;
          const share = shares[level] as number;
          totalA += (rings[slot + 4] as number) + apartA * apartA * share;
          totalB += (rings[slot + 5] as number) + apartB * apartB * share;
          total += (rings[slot + 6] as number) + apartA * apartB * share;
          doneA += moreA;
          doneB += moreB;
          done += length;
        }
        if (2 * length > period) break;
        const before = (ring + ((row - length) & mask)) << 3;
        const moreA = (rings[before + 2] as number) + length * ((rings[before] as number) - valueA);
        const moreB = (rings[before + 3] as number) + length * ((rings[before + 1] as number) - valueB);
        squareA += (rings[before + 4] as number) + (moreA - sumA) ** 2 * half;
        squareB += (rings[before + 5] as number) + (moreB - sumB) ** 2 * half;
        product += (rings[before + 6] as number) + (moreA - sumA) * (moreB - sumB) * half;
        sumA += moreA;
        sumB += moreB;
      }
      row++;
      into.a[next] = row < period ? Number.NaN : totalA;
      into.b[next] = row < period ? Number.NaN : totalB;
      into.products[next] = row < period ? Number.NaN : total;
    }
  };
}
