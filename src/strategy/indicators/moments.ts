/**
 * Sums of distances, of weighted distances and of squares over a window of the last `period` values. Those of the last 1, 2, 4, 8 … values
 * are each made of two halves; those of the window are made of the powers of two in `period`. All distances are from the newest value,
 * so prices far from 0 that hardly move lose no digits, and all results for equal values are exactly 0. Each result depends on its window
 * alone, to the last bit. Until `period` values were seen, the results are NaN.
 */

/** The smallest power of two of at least so many. */
const powerFrom = (count: number): number => 2 ** Math.ceil(Math.log2(count));

/** Writes to `distances` the sum of (value - newest), and to `weighted` that of age × (value - newest); the newest has the age 0. */
export function weightedDistances(
  period: number,
): (values: Float64Array, distances: Float64Array, weighted: Float64Array, count: number) => void {
  const [sums, products] = [new Float64Array(4 * period), new Float64Array(4 * period)];
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
export function squaredDistances(
  period: number,
): (values: Float64Array, distances: Float64Array, squares: Float64Array, count: number) => void {
  const [sums, parts] = [new Float64Array(4 * period), new Float64Array(4 * period)];
  const past = new Float64Array(powerFrom(period + 1));
  const pastMask = past.length - 1;
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
      for (let length = 1; ; length *= 2) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        sums[ring + (row & mask)] = sum;
        parts[ring + (row & mask)] = square;
        if ((period & length) !== 0) {
          const slot = ring + ((row - done) & mask);
          const more = (sums[slot] as number) + length * ((past[(row - done) & pastMask] as number) - value);
          // How far the means of both parts are apart, times the lengths of both.
          const apart = done * more - length * sumDone;
          squareDone += parts[slot] as number;
          if (done > 0) squareDone += (apart * apart) / (done * length * (done + length));
          sumDone += more;
          done += length;
        }
        if (2 * length > period) break;
        const before = ring + ((row - length) & mask);
        const more = (sums[before] as number) + length * ((past[(row - length) & pastMask] as number) - value);
        const apart = more - sum;
        square += (parts[before] as number) + (apart * apart) / (2 * length);
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

export function pairedDistances(
  period: number,
): (a: Float64Array, b: Float64Array, into: PairSums, count: number) => void {
  const ring = (): Float64Array => new Float64Array(4 * period);
  const [sumsA, sumsB, squaresA, squaresB, products] = [ring(), ring(), ring(), ring(), ring()];
  const [pastA, pastB] = [new Float64Array(powerFrom(period + 1)), new Float64Array(powerFrom(period + 1))];
  const pastMask = pastA.length - 1;
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
      for (let length = 1; ; length *= 2) {
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
          const share = done === 0 ? 0 : 1 / (done * length * (done + length));
          totalA += (squaresA[slot] as number) + apartA * apartA * share;
          totalB += (squaresB[slot] as number) + apartB * apartB * share;
          total += (products[slot] as number) + apartA * apartB * share;
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
        const share = 1 / (2 * length);
        squareA += (squaresA[before] as number) + apartA * apartA * share;
        squareB += (squaresB[before] as number) + apartB * apartB * share;
        product += (products[before] as number) + apartA * apartB * share;
        sumA += moreA;
        sumB += moreB;
      }
      row++;
      const isWarm = row >= period;
      into.a[next] = isWarm ? totalA : Number.NaN;
      into.b[next] = isWarm ? totalB : Number.NaN;
      into.products[next] = isWarm ? total : Number.NaN;
    }
  };
}
