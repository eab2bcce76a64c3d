/** Confidence intervals by the stationary bootstrap, which keeps serial dependence (Politis and Romano). */
import type { Rng } from '../../clock/clock.ts';
import { ascending, mean, quantile, type Sample } from '../sample-moments.ts';

/** The sum of products of values `lag` apart. */
function crossed(values: Float64Array, lag: number): number {
  let total = 0;
  for (let index = lag; index < values.length; index++)
    total += (values[index] as number) * (values[index - lag] as number);
  return total;
}

/** Expected block length that fits the sample's serial dependence (Politis and White 2004, corrected by Patton et al. 2009). */
export function blockLengths(sample: Sample) {
  const count = sample.length;
  const at = mean(sample);
  const off = Float64Array.from(sample, (value) => value - at);
  const max = Math.ceil(Math.min(3 * Math.sqrt(count), count / 3));
  const run = Math.max(5, Math.floor(Math.log10(count)));
  const furthest = Math.min(Math.ceil(Math.sqrt(count)) + run, count - 2);
  const covariances = new Float64Array(furthest + 1);
  const correlations = new Float64Array(furthest + 1);
  const total = crossed(off, 0);
  let [withoutFirst, withoutLast] = [total, total];
  for (let lag = 0; lag <= furthest; lag++) {
    const product = crossed(off, lag);
    withoutFirst -= (off[lag] as number) ** 2;
    withoutLast -= (off[count - 1 - lag] as number) ** 2;
    covariances[lag] = product / count;
    correlations[lag] = Math.abs(product) / Math.sqrt(withoutFirst * withoutLast);
  }
  const dependent = dependence(correlations, run, 2 * Math.sqrt(Math.log10(count) / count));
  const lags = Math.min(dependent === undefined ? furthest : 2 * Math.max(dependent, 1), furthest);
  let slope = 0;
  let level = covariances[0] as number;
  for (let lag = 1; lag <= lags; lag++) {
    const weight = lag / lags <= 0.5 ? 1 : 2 * (1 - lag / lags);
    slope += 2 * weight * lag * (covariances[lag] as number);
    level += 2 * weight * (covariances[lag] as number);
  }
  const length = (factor: number): number =>
    level === 0 ? 1 : Math.min(Math.cbrt((2 * slope * slope) / (factor * level * level)) * Math.cbrt(count), max);
  return { stationary: length(2), circular: length(4 / 3) };
}

/** The lag after which `run` correlations in a row are too small to count. */
function dependence(correlations: Float64Array, run: number, min: number): number | undefined {
  for (let lag = run; lag < correlations.length; lag++)
    if (correlations.subarray(lag - run, lag).every((value) => value < min)) return lag - run;
  return undefined;
}

const draws = 1_000;

/** Cumulative sums of the values and of their squares, over the sample twice: the sums of a block take two reads. */
function cumulative(values: Sample): readonly [sums: Float64Array, squares: Float64Array] {
  const { length } = values;
  const [sums, squares] = [new Float64Array(2 * length + 1), new Float64Array(2 * length + 1)];
  for (let row = 0; row < 2 * length; row++) {
    const value = values[row % length] as number;
    sums[row + 1] = (sums[row] as number) + value;
    squares[row + 1] = (squares[row] as number) + value * value;
  }
  return [sums, squares];
}

/** Draws `count` rows in blocks that begin anywhere and wrap around; `ends` is the probability that a block ends with a row. */
export function drawBlocks(count: number, ends: number, rng: Rng, take: (from: number, length: number) => void): void {
  const logContinue = Math.log(1 - ends);
  for (let left = count; left > 0; ) {
    // Drawing a geometric length takes two random numbers a block instead of one a value.
    const length = Math.min(left, ends === 1 ? 1 : 1 + Math.floor(Math.log(1 - rng()) / logContinue));
    left -= length;
    take(Math.floor(rng() * count), length);
  }
}

/**
 * The 95 % interval of the yearly Sharpe ratio. Undefined below `least` returns. 1,000 draws of blocks whose lengths are geometric
 * around the automatic one.
 */
export function sharpeInterval(returns: Sample, periods: number, rng: Rng, min = 30) {
  const count = returns.length;
  if (count < min) return undefined;
  const ends = 1 / Math.max(1, blockLengths(returns).stationary);
  const [sums, squaresTo] = cumulative(returns);
  const ratios = new Float64Array(draws);
  let kept = 0;
  for (let draw = 0; draw < draws; draw++) {
    let total = 0;
    let squares = 0;
    drawBlocks(count, ends, rng, (from, length) => {
      total += (sums[from + length] as number) - (sums[from] as number);
      squares += (squaresTo[from + length] as number) - (squaresTo[from] as number);
    });
    const variance = (squares - (total * total) / count) / (count - 1);
    if (variance > 0) ratios[kept++] = (total / count / Math.sqrt(variance)) * Math.sqrt(periods);
  }
  if (kept < draws / 2) return undefined;
  const sorted = ascending(ratios.subarray(0, kept));
  return { low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) };
}
