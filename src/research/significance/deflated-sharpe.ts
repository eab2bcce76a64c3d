/**
 * Probabilistic and deflated Sharpe ratio (Bailey and López de Prado). Ratios here are of one period, not yearly; kurtosis is raw (3 for a
 * normal distribution).
 */
import { normalQuantile, normalShare } from './normal.ts';

export interface Shape {
  readonly skewness: number;
  readonly kurtosis: number;
}
export const normalShape: Shape = { skewness: 0, kurtosis: 3 };

/** Variance of an estimated ratio times the number of returns less one. */
function spread(ratio: number, { skewness, kurtosis }: Shape): number {
  return 1 - skewness * ratio + ((kurtosis - 1) / 4) * ratio * ratio;
}

/** Standard deviation of an estimated Sharpe ratio; undefined where the moments allow none. */
export function sharpeStandardError(ratio: number, count: number, shape: Shape): number | undefined {
  const variance = spread(ratio, shape);
  return count < 2 || variance <= 0 ? undefined : Math.sqrt(variance / (count - 1));
}

/** The probability that the true ratio lies above `beyond` (PSR). */
export function probabilisticSharpe(ratio: number, count: number, shape: Shape, beyond = 0): number | undefined {
  const error = sharpeStandardError(ratio, count, shape);
  return error === undefined ? undefined : normalShare((ratio - beyond) / error);
}

/** How many returns it takes until the probability that the true ratio lies above `beyond` is `sure` (MinTRL). */
export function minTrackRecord(ratio: number, shape: Shape, beyond = 0, sure = 0.95): number | undefined {
  const variance = spread(ratio, shape);
  return ratio <= beyond || variance <= 0 ? undefined : 1 + variance * (normalQuantile(sure) / (ratio - beyond)) ** 2;
}

const eulerMascheroni = 0.577_215_664_901_532_9;

/** The expected largest of `count` standard normal draws; at least 2 draws. */
export const expectedLargest = (count: number): number =>
  (1 - eulerMascheroni) * normalQuantile(1 - 1 / count) + eulerMascheroni * normalQuantile(1 - 1 / (count * Math.E));

/** The expected best ratio of trials without skill; `variance` is that of the trials' ratios. */
export const expectedBestSharpe = (variance: number, trials: number): number =>
  trials < 2 ? 0 : Math.sqrt(variance) * expectedLargest(trials);

/** The probability that the true ratio lies above the best one that chance shows in that many trials (DSR). */
export const deflatedSharpe = (
  ratio: number,
  count: number,
  shape: Shape,
  { variance, trials }: { readonly variance: number; readonly trials: number },
): number | undefined => probabilisticSharpe(ratio, count, shape, expectedBestSharpe(variance, trials));

/** Years below which the best of trials without skill is expected to show a yearly ratio of `target` (MinBTL). */
export const minBacktestYears = (trials: number, target = 1): number =>
  trials < 2 ? 0 : (expectedLargest(trials) / target) ** 2;
