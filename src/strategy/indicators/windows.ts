/**
 * Sums and extremes of a window of the last `period` values. Each result depends on its window alone, to the last bit, wherever the data
 * begin.
 */

/** Reads the first `count` values and writes as many results. Each call continues after the last. */
export type Kernel = (values: Float64Array, into: Float64Array, count: number) => void;

/** Larger values count as 1.1e15: no market has such prices, and their sums would not be exact. */
const largestSummed = 2 ** 50;

/** Adding this number to a value and subtracting it again rounds the value to steps of 2^`power`: a double so large has no finer digits. */
const rounderTo = (power: number): number => 1.5 * 2 ** (52 + power);

/**
 * The exact sum, or the mean, or the distance of the mean from the newest value. A plain running sum would keep the rounding errors of all values that ever were in it. So each value is
 * split into three parts, each a whole number of steps. The steps are so large that the three running sums stay below 2^53 of them and are
 * exact. Digits below the smallest step are rounded away: 2^-86 for 50 values, 2^-74 for 1,000. The mean is the newest value plus the mean
 * distance from it, so equal values average to exactly their value. NaN until `period` values were seen.
 */
export function exactSums(period: number, of: 'sum' | 'mean' | 'distance'): Kernel {
  const bits = 32 - Math.clz32(period - 1);
  const rounders = Float64Array.of(rounderTo(bits), rounderTo(2 * bits - 52), rounderTo(3 * bits - 104));
  const [highs, mids, lows] = [new Float64Array(period), new Float64Array(period), new Float64Array(period)];
  const sums = new Float64Array(3);
  // One form for all, without a branch: the mean is the value and the mean distance from it, the sum has neither.
  const own = of === 'mean' ? 1 : 0;
  const around = of === 'sum' ? 0 : period;
  const parts = of === 'sum' ? 1 : period;
  let rows = 0;
  let first = 0;
  return (values, into, count) => {
    const [coarse = 0, middle = 0, fine = 0] = rounders;
    let [high = 0, mid = 0, low = 0] = sums;
    let [row, place] = [rows, first];
    for (let next = 0; next < count; next++) {
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
      const distance = high - around * a + (mid - around * b) + (low - around * c);
      row++;
      into[next] = row < period ? Number.NaN : own * value + distance / parts;
    }
    [rows, first] = [row, place];
    sums.set([high, mid, low]);
  };
}

/**
 * By the same three parts, with room for sums of age × value: writes to `distances` the sum of (value - newest) and to `weighted` that of
 * age × (value - newest). With each value, all before it grow one older, so their sum is added once. Digits below 2^-74 for 20 values and
 * 2^-62 for 100 are rounded away. NaN until `period` values were seen.
 */
export function exactWeightedDistances(
  period: number,
): (values: Float64Array, distances: Float64Array, weighted: Float64Array, count: number) => void {
  const bits = 2 * (32 - Math.clz32(period - 1));
  const rounders = Float64Array.of(rounderTo(bits), rounderTo(2 * bits - 52), rounderTo(3 * bits - 104));
  const [highs, mids, lows] = [new Float64Array(period), new Float64Array(period), new Float64Array(period)];
  const state = new Float64Array(6);
  const ages = (period * (period - 1)) / 2;
  let rows = 0;
  let first = 0;
  return (values, distances, weighted, count) => {
    const [coarse = 0, middle = 0, fine = 0] = rounders;
    let [high = 0, mid = 0, low = 0, highAge = 0, midAge = 0, lowAge = 0] = state;
    let [row, place] = [rows, first];
    for (let next = 0; next < count; next++) {
      const value = Math.min(values[next] as number, largestSummed);
      const a = value + coarse - coarse;
      const rest = value - a;
      const b = rest + middle - middle;
      const c = rest - b + fine - fine;
      const oldA = highs[place] as number;
      const oldB = mids[place] as number;
      const oldC = lows[place] as number;
      highAge += high - period * oldA;
      midAge += mid - period * oldB;
      lowAge += low - period * oldC;
      high += a - oldA;
      mid += b - oldB;
      low += c - oldC;
      highs[place] = a;
      mids[place] = b;
      lows[place] = c;
      place = place + 1 === period ? 0 : place + 1;
      row++;
      const distance = high - period * a + (mid - period * b) + (low - period * c);
      distances[next] = row < period ? Number.NaN : distance;
      const aged = highAge - ages * a + (midAge - ages * b) + (lowAge - ages * c);
      weighted[next] = row < period ? Number.NaN : aged;
    }
    [rows, first] = [row, place];
    state.set([high, mid, low, highAge, midAge, lowAge]);
  };
}

/**
 * The sum of values of any size. Sums of the last 1, 2, 4, 8 … values are each made of two halves; that of the window is made of the powers
 * of two in `period`. Nothing is subtracted, so the sum of values of one sign has all its digits. NaN until `period` values were seen.
 */
export function sums(period: number): Kernel {
  // A ring of 2 × length entries for each length, one after another.
  const rings = new Float64Array(4 * period);
  let row = 0;
  return (values, into, count) => {
    for (let next = 0; next < count; next++) {
      let sum = values[next] as number;
      let total = 0;
      let done = 0;
      for (let length = 1; ; length *= 2) {
        const ring = 2 * length - 2;
        const mask = 2 * length - 1;
        rings[ring + (row & mask)] = sum;
        if ((period & length) !== 0) {
          total += rings[ring + ((row - done) & mask)] as number;
          done += length;
        }
        if (2 * length > period) break;
        sum += rings[ring + ((row - length) & mask)] as number;
      }
      row++;
      into[next] = row < period ? Number.NaN : total;
    }
  };
}

/**
 * The highest (`sign` 1) or lowest (-1) value, by van Herk (1992) and Gil and Werman (1993): the values are cut into blocks of `period`. A
 * window is the end of one block and the beginning of the next, and the extremes of both are known. NaN until `period` values were seen.
 */
export function extremes(period: number, sign: 1 | -1): Kernel {
  // Up to `place` the values of this block; from there on, each the extreme of its own to the last value of the block before.
  const block = new Float64Array(period);
  const begun = Float64Array.of(Number.NEGATIVE_INFINITY);
  let first = 0;
  let isWarm = false;
  return (values, into, count) => {
    let place = first;
    let extreme = begun[0] as number;
    let next = 0;
    while (next < count) {
      const end = Math.min(count, next + period - 1 - place);
      for (; next < end; next++) {
        const value = sign * (values[next] as number);
        block[place++] = value;
        extreme = Math.max(extreme, value);
        into[next] = sign * Math.max(extreme, block[place] as number);
      }
      if (!isWarm) into.fill(Number.NaN, Math.max(0, next - place), next);
      if (next === count) break;
      const value = sign * (values[next] as number);
      block[place] = value;
      into[next++] = sign * Math.max(extreme, value);
      let last = Number.NEGATIVE_INFINITY;
      for (let at = period - 1; at >= 0; at--) {
        last = Math.max(last, block[at] as number);
        block[at] = last;
      }
      place = 0;
      extreme = Number.NEGATIVE_INFINITY;
      isWarm = true;
    }
    first = place;
    begun[0] = extreme;
  };
}

/** The same kernel, which leaves out the first values: they are not known yet. */
export function after(rows: number, kernel: Kernel): Kernel {
  let left = rows;
  return (values, into, count) => {
    const skipped = Math.min(left, count);
    left -= skipped;
    into.fill(Number.NaN, 0, skipped);
    if (skipped === 0) kernel(values, into, count);
    else kernel(values.subarray(skipped), into.subarray(skipped), count - skipped);
  };
}

/** The last `period` values in one piece, oldest first: each is kept twice, a window apart. */
export class Ring {
  readonly values: Float64Array;
  readonly #period: number;
  /** Where the window begins. */
  from = 0;
  seen = 0;

  constructor(period: number) {
    this.#period = period;
    this.values = new Float64Array(2 * period);
  }

  push(value: number): void {
    this.values[this.from] = value;
    this.values[this.from + this.#period] = value;
    this.from = this.from + 1 === this.#period ? 0 : this.from + 1;
    this.seen++;
  }
}
