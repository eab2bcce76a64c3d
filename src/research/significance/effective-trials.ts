/** How many independent trials a number of correlated ones is worth ("effective N"). */
import { mean, type Sample, standardDeviation, varies } from '../sample-moments.ts';

export interface EffectiveTrials {
  /** From 1 to the number of trials. */
  readonly count: number;
  /** The mean correlation of all pairs. */
  readonly correlation: number;
}

/**
 * ρ + (1 − ρ)·N, ρ being the mean correlation of the returns of all pairs (Bailey and López de Prado, The Deflated Sharpe Ratio, appendix
 * 3); negative ones count as none. Of samples of one length that vary; undefined for fewer than two.
 */
export function effectiveTrials(samples: readonly Sample[]): EffectiveTrials | undefined {
  const varying = samples.filter(varies);
  const [first] = varying;
  if (first === undefined || varying.length < 2) return undefined;
  // The variance of the sum of N standardised samples is N + N·(N − 1)·ρ: so no single pair is needed.
  const total = new Float64Array(first.length);
  for (const sample of varying) {
    const [at, spread] = [mean(sample), standardDeviation(sample) as number];
    for (let index = 0; index < total.length; index++)
      total[index] = (total[index] as number) + ((sample[index] as number) - at) / spread;
  }
  const count = varying.length;
  const variance = (standardDeviation(total) as number) ** 2;
  const correlation = (variance - count) / (count * (count - 1));
  const shared = Math.min(1, Math.max(0, correlation));
  return { count: shared + (1 - shared) * count, correlation };
}
