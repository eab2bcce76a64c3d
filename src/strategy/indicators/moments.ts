/**
 * Sums of distances, of weighted distances and of squares over a window of the last `period` values. Those of the last 1, 2, 4, 8 … values
 * are each made of two halves; those of the window are made of the powers of two in `period`. All distances are from the newest value,
 * so prices far from 0 that hardly move lose no digits, and all results for equal values are exactly 0. Each result depends on its window
 * alone, to the last bit. Until `period` values were seen, the results are NaN.
 */

import type { Source } from '../indicator.ts';
import { exactWeightedDistances } from './windows.ts';

/** The smallest power of two of at least so many. */
const powerFrom = (count: number): number => 2 ** Math.ceil(Math.log2(count));

/** A ring of 2 × length entries for each length 1, 2, 4, 8 … up to the period, one after another. */
const ringsOf = (period: number): Float64Array => new Float64Array(4 * period);

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
  const [sums, products] = [ringsOf(period), ringsOf(period)];
  const past = new Float64Array(powerFrom(period + 1));
  const pastMask = past.length - 1;
  let row = 0;
  return (values, distances, weighted, count) => {
    for (let next = 0; next < count; next++) {
      const value = values[next] as number;
      past[row & pastMask] = value;
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
        sums[ring + (row & mask)] = sum;
        products[ring + (row & mask)] = product;
        if ((period & length) !== 0) {
          const slot = ring + ((row - done) & mask);
          const apart = (past[(row - done) & pastMask] as number) - value;
          const more = (sums[slot] as number) + length * apart;
          sumDone += more;
          productDone += (products[slot] as number) + done * more + apart * ((length * (length - 1)) / 2);
          done += length;
        }
        if (2 * length > period) break;
        const before = ring + ((row - length) & mask);
        const apart = (past[(row - length) & pastMask] as number) - value;
        const more = (sums[before] as number) + length * apart;
        sum += more;
        product += (products[before] as number) + length * more + apart * ((length * (length - 1)) / 2);
      }
      row++;
      distances[next] = row < period ? Number.NaN : sumDone;
      weighted[next] = row < period ? Number.NaN : productDone;
    }
  };
}

/** Writes to `distances` the sum of (value - newest), and to `squares` that of (value - mean)². */
export function squaredDistances(period: number): PairOfSums {
  const [sums, parts] = [ringsOf(period), ringsOf(period)];
  const past = new Float64Array(powerFrom(period + 1));
  const pastMask = past.length - 1;
  const shares = sharesOf(period);
  let row = 0;
  return (values, distances, squares, count) => {
    for (let next = 0; next < count; next++) {
      const value = values[next] as number;
      past[row & pastMask] = value;
      let sum = 0;
      let square = 0;
      let done = 0;
      let sumDone = 0;
      let squareDone = 0;
      for (let length = 1, level = 0, half = 0.5; ; length *= 2, half *= 0.5, level++) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        sums[ring + (row & mask)] = sum;
        parts[ring + (row & mask)] = square;
        if ((period & length) !== 0) {
          const slot = ring + ((row - done) & mask);
          const more = (sums[slot] as number) + length * ((past[(row - done) & pastMask] as number) - value);
          // How far the means of both parts are apart, times the lengths of both.
          const apart = done * more - length * sumDone;
          squareDone += (parts[slot] as number) + apart * apart * (shares[level] as number);
          sumDone += more;
          done += length;
        }
        if (2 * length > period) break;
        const before = ring + ((row - length) & mask);
        const more = (sums[before] as number) + length * ((past[(row - length) & pastMask] as number) - value);
        const apart = more - sum;
        square += (parts[before] as number) + apart * apart * half;
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
  const [sumsA, sumsB, products] = [ringsOf(period), ringsOf(period), ringsOf(period)];
  const [squaresA, squaresB] = [ringsOf(period), ringsOf(period)];
  const [pastA, pastB] = [new Float64Array(powerFrom(period + 1)), new Float64Array(powerFrom(period + 1))];
  const pastMask = pastA.length - 1;
  const shares = sharesOf(period);
  let row = 0;
  return (a, b, into, count) => {
    for (let next = 0; next < count; next++) {
      const valueA = a[next] as number;
      const valueB = b[next] as number;
      pastA[row & pastMask] = valueA;
      pastB[row & pastMask] = valueB;
      // Of the last `length` pairs.
      let sumA = 0;
      let sumB = 0;
      let squareA = 0;
      let squareB = 0;
      let product = 0;
      // Of the part of the window that is added.
      let done = 0;
      let doneA = 0;
      let doneB = 0;
      let totalA = 0;
      let totalB = 0;
      let total = 0;
      for (let length = 1, level = 0, half = 0.5; ; length *= 2, half *= 0.5, level++) {
        const start = 2 * length - 2;
        const mask = 2 * length - 1;
        const now = start + (row & mask);
        sumsA[now] = sumA;
        sumsB[now] = sumB;
        squaresA[now] = squareA;
        squaresB[now] = squareB;
        products[now] = product;
        if ((period & length) !== 0) {
          const slot = start + ((row - done) & mask);
          const at = (row - done) & pastMask;
          const moreA = (sumsA[slot] as number) + length * ((pastA[at] as number) - valueA);
          const moreB = (sumsB[slot] as number) + length * ((pastB[at] as number) - valueB);
          // How far the means of both parts are apart, times the lengths of both.
          const apartA = done * moreA - length * doneA;
          const apartB = done * moreB - length * doneB;
          totalA += (squaresA[slot] as number) + apartA * apartA * (shares[level] as number);
          totalB += (squaresB[slot] as number) + apartB * apartB * (shares[level] as number);
          total += (products[slot] as number) + apartA * apartB * (shares[level] as number);
          doneA += moreA;
          doneB += moreB;
          done += length;
        }
        if (2 * length > period) break;
        const before = start + ((row - length) & mask);
        const at = (row - length) & pastMask;
        const moreA = (sumsA[before] as number) + length * ((pastA[at] as number) - valueA);
        const moreB = (sumsB[before] as number) + length * ((pastB[at] as number) - valueB);
        const apartA = moreA - sumA;
        const apartB = moreB - sumB;
        squareA += (squaresA[before] as number) + apartA * apartA * half;
        squareB += (squaresB[before] as number) + apartB * apartB * half;
        product += (products[before] as number) + apartA * apartB * half;
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
