/**
 * How much of a Sharpe ratio luck can make (Bailey and López de Prado). Ratios here are of one period, not yearly; kurtosis is
 * raw (3 for a normal distribution).
 */
import { normalQuantile, normalShare } from './normal.ts';

export interface Shape {
  readonly skewness: number;
  readonly kurtosis: number;
}
export const normalShape: Shape = { skewness: 0, kurtosis: 3 };

/** What the variance of an estimated ratio is, times the number of returns less one. */
function spread(ratio: number, { skewness, kurtosis }: Shape): number {
  return 1 - skewness * ratio + ((kurtosis - 1) / 4) * ratio * ratio;
}

/** Standard deviation of an estimated Sharpe ratio; undefined where the moments allow none. */
export function sharpeDeviation(ratio: number, count: number, shape: Shape): number | undefined {
  const variance = spread(ratio, shape);
  return count < 2 || variance <= 0 ? undefined : Math.sqrt(variance / (count - 1));
}

/** The probability that the true ratio lies above `beyond` (PSR). */
export function probabilisticSharpe(ratio: number, count: number, shape: Shape, beyond = 0): number | undefined {
  const deviation = sharpeDeviation(ratio, count, shape);
  return deviation === undefined ? undefined : normalShare((ratio - beyond) / deviation);
}

/** How many returns it takes until the probability that the true ratio lies above `beyond` is `sure` (MinTRL). */
export function leastTrackRecord(ratio: number, shape: Shape, beyond = 0, sure = 0.95): number | undefined {
  const variance = spread(ratio, shape);
  return ratio <= beyond || variance <= 0 ? undefined : 1 + variance * (normalQuantile(sure) / (ratio - beyond)) ** 2;
}

const eulerMascheroni = 0.577_215_664_901_532_9;

/** The largest of so many standard normal draws, on average; at least 2. */
export const expectedLargest = (count: number): number =>
  (1 - eulerMascheroni) * normalQuantile(1 - 1 / count) + eulerMascheroni * normalQuantile(1 - 1 / (count * Math.E));

/** The best ratio that so many tries without any skill are expected to show; `variance` is that of the tries' ratios. */
export const luckySharpe = (variance: number, tries: number): number =>
  tries < 2 ? 0 : Math.sqrt(variance) * expectedLargest(tries);

/** The probability that the true ratio lies above what luck alone shows in so many tries (DSR). */
export const deflatedSharpe = (
  ratio: number,
  count: number,
  shape: Shape,
  { variance, tries }: { readonly variance: number; readonly tries: number },
): number | undefined => probabilisticSharpe(ratio, count, shape, luckySharpe(variance, tries));

/** Years below which the best of so many tries without skill is expected to show a yearly ratio of `target` (MinBTL). */
export const leastBacktestYears = (tries: number, target = 1): number =>
  tries < 2 ? 0 : (expectedLargest(tries) / target) ** 2;
