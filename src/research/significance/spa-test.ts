/**
 * Whether the best of many trials is better than a benchmark at all (Hansen 2005, "A Test for Superior Predictive Ability"; White's
 * reality check is its upper bound). The bootstrap keeps serial dependence (Politis and Romano).
 */
import type { Rng } from '../../clock/clock.ts';
import { ascending, mean, quantile, type Sample } from '../sample-moments.ts';
import { blockLengths, drawBlocks } from './bootstrap.ts';

/** The probability that trials without an advantage show as good a result, by three ways to count trials that are clearly worse. */
export interface SpaProbabilities {
  /** They count as they are: too lenient. */
  readonly lower: number;
  /** They are left out. The one to use. */
  readonly consistent: number;
  /** All count as good as the benchmark: White's reality check, too strict. */
  readonly upper: number;
}

const draws = 1_000;

/** Long-run variance of the mean times the length; `ends` is the probability that a block ends (Hansen 2005, eq. 10). */
function longRunVariance(values: Sample, at: number, ends: number): number {
  const count = values.length;
  let total = 0;
  for (let lag = 0; lag < count; lag++) {
    const weight = ((count - lag) / count) * (1 - ends) ** lag + (lag / count) * (1 - ends) ** (count - lag);
    if (lag > 0 && weight < 1e-9) continue;
    let covariance = 0;
    for (let index = lag; index < count; index++)
      covariance += ((values[index] as number) - at) * ((values[index - lag] as number) - at);
    total += (lag === 0 ? 1 : 2 * weight) * (covariance / count);
  }
  return total;
}

interface Candidate {
  readonly values: Sample;
  readonly mean: number;
  /** Standard deviation of √n times its mean. */
  readonly standardDeviation: number;
}

/**
 * `beyond` are the returns of one trial each less those of the benchmark, all of one length. Undefined below `least` rows, and where no
 * trial differs from the benchmark.
 */
export function spaTest(beyond: readonly Sample[], rng: Rng, min = 30): SpaProbabilities | undefined {
  const count = beyond[0]?.length ?? 0;
  if (count < min) return undefined;
  // One block length for all: they are drawn together, which keeps their correlation.
  const lengths = ascending(beyond.map((values) => blockLengths(values).stationary).filter(Number.isFinite));
  const length = lengths.length === 0 ? 1 : Math.max(1, quantile(lengths, 0.5));
  const ends = 1 / length;
  const candidates = beyond.flatMap((values): Candidate[] => {
    const at = mean(values);
    const variance = longRunVariance(values, at, ends);
    return variance > 0 ? [{ values, mean: at, standardDeviation: Math.sqrt(variance) }] : [];
  });
  if (candidates.length === 0) return undefined;
  const root = Math.sqrt(count);
  const seen = Math.max(0, ...candidates.map((one) => (root * one.mean) / one.standardDeviation));
  const bound = Math.sqrt(2 * Math.log(Math.log(count)));
  const hits = { lower: 0, consistent: 0, upper: 0 };
  for (let draw = 0; draw < draws; draw++) {
    const times = drawnTimes(count, ends, rng);
    let [lower, consistent, upper] = [0, 0, 0];
    for (const { values, mean: at, standardDeviation } of candidates) {
      let total = 0;
      for (let index = 0; index < count; index++) total += (times[index] as number) * (values[index] as number);
      const drawn = total / count;
      const scaled = root / standardDeviation;
      upper = Math.max(upper, (drawn - at) * scaled);
      lower = Math.max(lower, (drawn - Math.max(0, at)) * scaled);
      consistent = Math.max(consistent, (drawn - (at * scaled >= -bound ? at : 0)) * scaled);
    }
    if (lower >= seen) hits.lower++;
    if (consistent >= seen) hits.consistent++;
    if (upper >= seen) hits.upper++;
  }
  return { lower: hits.lower / draws, consistent: hits.consistent / draws, upper: hits.upper / draws };
}

/** How often each row is drawn. */
function drawnTimes(count: number, ends: number, rng: Rng): Float64Array {
  const times = new Float64Array(count);
  drawBlocks(count, ends, rng, (from, length) => {
    for (let index = from; index < from + length; index++) times[index % count] = (times[index % count] as number) + 1;
  });
  return times;
}
