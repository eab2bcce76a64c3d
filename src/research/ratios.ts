/**
 * Ratios of a series of returns. `periods` is how many of them make a year. Undefined where a number would mean
 * nothing: never infinite, never NaN.
 */
import { ascending, mean, quantile, type Sample, standardDeviation, sum, varies } from './sample-moments.ts';

export const yearDays = 365;

const each = (values: Sample, make: (value: number) => number): Float64Array => Float64Array.from(values, make);
const over = (value: number, by: number | undefined): number | undefined =>
  by === undefined || by === 0 || !Number.isFinite(value / by) ? undefined : value / by;

/** Mean over standard deviation (n − 1), yearly; `riskFree` is for one period. */
export const sharpe = (returns: Sample, periods = yearDays, riskFree = 0): number | undefined =>
  varies(returns) ? over((mean(returns) - riskFree) * Math.sqrt(periods), standardDeviation(returns)) : undefined;

export function volatility(returns: Sample, periods = yearDays): number | undefined {
  const spread = standardDeviation(returns);
  return spread === undefined ? undefined : spread * Math.sqrt(periods);
}

/** Root of the mean squared shortfall below `least`, over all returns (n). */
export const downsideDeviation = (returns: Sample, threshold = 0): number =>
  Math.sqrt(mean(each(returns, (value) => Math.min(value - threshold, 0) ** 2)));

export const sortino = (returns: Sample, periods = yearDays, threshold = 0): number | undefined =>
  returns.length === 0
    ? undefined
    : over((mean(returns) - threshold) * Math.sqrt(periods), downsideDeviation(returns, threshold));

/** Sum of returns above `least` over the sum below it. */
export function omega(returns: Sample, threshold = 0): number | undefined {
  const above = sum(each(returns, (value) => Math.max(value - threshold, 0)));
  return over(above, sum(each(returns, (value) => Math.max(threshold - value, 0))));
}

/** The drawdown from the highest value so far at each point, 0 or negative; the first value is a peak. */
export function drawdowns(values: Sample): Float64Array {
  let peak = Number.NEGATIVE_INFINITY;
  return each(values, (value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
}

/** Root of the mean square of drawdowns; `falls` without the starting point. */
export const ulcerIndex = (falls: Sample): number => Math.sqrt(mean(each(falls, (fall) => fall * fall)));

/** Growth of a year, compounded. */
export const yearlyReturn = (growth: number, count: number, periods = yearDays): number | undefined =>
  count === 0 || growth <= 0 ? undefined : growth ** (periods / count) - 1;

/** The 5th percentile of returns (linear interpolation), the mean of those at or below it, and |95th percentile| over |5th|. */
export function tails(returns: Sample) {
  if (returns.length === 0) return undefined;
  const sorted = ascending(returns);
  const valueAtRisk = quantile(sorted, 0.05);
  const worst = sorted.filter((value) => value <= valueAtRisk);
  return {
    valueAtRisk,
    conditional: worst.length === 0 ? valueAtRisk : mean(worst),
    ratio: over(Math.abs(quantile(sorted, 0.95)), Math.abs(valueAtRisk)),
  };
}

/** Least squares of returns on those of a benchmark; `alpha` is of one period. */
export function regression(returns: Sample, benchmark: Sample) {
  if (returns.length !== benchmark.length || !varies(benchmark)) return undefined;
  const [own, theirs] = [mean(returns), mean(benchmark)];
  let together = 0;
  let square = 0;
  for (let index = 0; index < returns.length; index++) {
    const moved = (benchmark[index] as number) - theirs;
    together += moved * ((returns[index] as number) - own);
    square += moved * moved;
  }
  const beta = together / square;
  return { alpha: own - beta * theirs, beta };
}
