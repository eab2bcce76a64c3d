/**
 * Sums volumes as decimals. So larger klines are the same whether made from trades or from smaller klines, and equal the exchange's.
 * Plain addition of doubles gives `10016.280599999998` for `10016.2806`.
 */

/** Doubles are exact up to this many steps, which are 15 digits. */
const maxSteps = 2 ** 51;
/** Nearly all volumes have at most 8 decimals. Trying this first is ten times as fast as searching for the fewest decimals. */
const usualScale = 1e8;
/** The last power of ten that a double holds exactly. */
const largestScale = 1e22;

/** The sum of two decimals of at least 0, exact up to 15 digits; beyond that, the sum of the doubles. */
export function plusVolume(a: number, b: number): number {
  if (a === 0 || b === 0) return a + b;
  const usual = plusAt(usualScale, a, b);
  if (usual >= 0) return usual;
  for (let scale = 1; scale <= largestScale && (a + b) * scale <= maxSteps; scale *= 10) {
    const sum = plusAt(scale, a, b);
    if (sum >= 0) return sum;
  }
  return a + b;
}

/** The sum if both are whole numbers of steps of 1 / scale, or NaN. */
function plusAt(scale: number, a: number, b: number): number {
  const [steps, more] = [Math.round(a * scale), Math.round(b * scale)];
  return steps + more <= maxSteps && steps / scale === a && more / scale === b ? (steps + more) / scale : Number.NaN;
}
