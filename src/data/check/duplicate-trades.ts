/** Trades that a source delivered twice, as after a reconnect. Single equal trades are usual and prove nothing. */

/** Different trades that a stretch of moments must repeat. */
export const leastDifferent = 10;
/** Different trades that a block must repeat: the same ones in the same order are less likely by chance. Of recorded ones that are real it is two. */
const leastInBlock = 5;
/** Moments in a row in which every trade comes twice. */
export const leastMoments = 5;
/** A moment of more trades than this is not searched: that takes the square of their number. */
const mostSearched = 4_000;

/** The longest block of trades of one moment that repeats an earlier one of it, whole and in the same order. */
export function repeatedBlock(
  keys: readonly (number | string)[],
): { readonly from: number; readonly length: number } | undefined {
  const count = keys.length;
  if (count < 2 * leastInBlock || count > mostSearched) return undefined;
  let best = { from: 0, length: 0 };
  let before = new Uint16Array(count + 1);
  let now = new Uint16Array(count + 1);
  for (let row = 1; row < count; row++) {
    for (let other = 0; other < row; other++) {
      const length = keys[row] === keys[other] ? Math.min((before[other] as number) + 1, row - other) : 0;
      now[other + 1] = length;
      if (length > best.length) best = { from: row - length + 1, length };
    }
    [before, now] = [now, before];
  }
  const different = new Set(keys.slice(best.from, best.from + best.length)).size;
  return different >= leastInBlock ? best : undefined;
}
