/** The normal distribution, to the last digits of a double. Common libraries are right to seven digits or fewer. */

/** erfc for x ≥ 0 by the series of erf near 0 and a continued fraction beyond. */
function complement(x: number): number {
  if (x < 2) {
    let term = x;
    let total = x;
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total) && n < 200; n++) {
      term *= (-x * x) / n;
      total += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * total;
  }
  let fraction = 0;
  for (let n = 80; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

/** The share of a standard normal distribution that lies below `z`. */
export function normalShare(z: number): number {
  const upper = complement(Math.abs(z) / Math.SQRT2) / 2;
  return z < 0 ? upper : 1 - upper;
}

/** The `z` below which a share of a standard normal distribution lies; ±∞ at 0 and 1. */
export function normalQuantile(share: number): number {
  if (!(share > 0)) return Number.NEGATIVE_INFINITY;
  if (!(share < 1)) return Number.POSITIVE_INFINITY;
  if (share > 0.5) return -normalQuantile(1 - share);
  // Hastings' rational approximation is within 5e-4; Halley's steps then triple the digits that are right.
  const t = Math.sqrt(-2 * Math.log(share));
  let z = -(
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3)
  );
  for (let step = 0; step < 3; step++) {
    const error = (normalShare(z) - share) * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
    z -= error / (1 + (z * error) / 2);
  }
  return z;
}
