/** Moments of samples; undefined where there are too few values. */

export type Sample = ArrayLike<number>;

/** Compensated (Kahan–Babuška): thousands of small returns are added to one large sum without losing them. */
export function sum(values: Sample): number {
  let total = 0;
  let lost = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

export const mean = (values: Sample): number => sum(values) / values.length;

/** Mean power of the differences from the mean `at`. */
function centralMoment(values: Sample, power: number, at: number): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += ((values[index] as number) - at) ** power;
  return total / values.length;
}

/** With n − 1; undefined for fewer than two values. */
export function standardDeviation(values: Sample): number | undefined {
  const { length } = values;
  return length < 2 ? undefined : Math.sqrt((centralMoment(values, 2, mean(values)) * length) / (length - 1));
}

/** Whether values differ by more than rounding. */
export function varies(values: Sample): boolean {
  const spread = standardDeviation(values);
  return spread !== undefined && spread > 1e-14 * Math.max(1, Math.abs(mean(values)));
}

/** Third moment over σ³, σ with n; undefined without variance. */
export const skewness = (values: Sample): number | undefined => standardised(values, 3);
/** Fourth moment over σ⁴: raw, 3 for a normal distribution, not the excess over it. */
export const kurtosis = (values: Sample): number | undefined => standardised(values, 4);

function standardised(values: Sample, power: number): number | undefined {
  if (!varies(values)) return undefined;
  const at = mean(values);
  return centralMoment(values, power, at) / centralMoment(values, 2, at) ** (power / 2);
}

/** With linear interpolation between the neighbours, as numpy and R do; `sorted` ascending and not empty. */
export function quantile(sorted: Sample, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (position - below);
}

export const ascending = (values: Sample): Float64Array => Float64Array.from(values).sort();
