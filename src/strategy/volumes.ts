/**
 * Sums of volumes with the digits that were written: larger klines are the same whether made from trades, from minutes or over a step
 * between, and they are those of an exchange that sums by itself. Doubles added as they are make `10016.280599999998` of `10016.2806`.
 */

/** Up to so many steps, which are fifteen digits, a double tells each from the next. */
const mostSteps = 2 ** 51;
/** What nearly all volumes are whole in: looked at first, since a search for the fewest decimals takes ten times as long. */
const usualScale = 1e8;
/** The last power of ten that a double holds exactly. */
const largestScale = 1e22;

/**
 * The sum of two decimals, both at least 0: exact up to fifteen digits. Beyond those, and for numbers that stand for no decimal of so
 * few digits, it is that of the doubles.
 */
export function plusVolume(a: number, b: number): number {
  if (a === 0 || b === 0) return a + b;
  const usual = plusAt(usualScale, a, b);
  if (usual >= 0) return usual;
  for (let scale = 1; scale <= largestScale && (a + b) * scale <= mostSteps; scale *= 10) {
    const sum = plusAt(scale, a, b);
    if (sum >= 0) return sum;
  }
  return a + b;
}

/** The sum where both are whole in steps of 1 / scale, or NaN. */
function plusAt(scale: number, a: number, b: number): number {
  const [steps, more] = [Math.round(a * scale), Math.round(b * scale)];
  return steps + more <= mostSteps && steps / scale === a && more / scale === b ? (steps + more) / scale : Number.NaN;
}
