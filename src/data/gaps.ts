/** Holes in recorded klines. */
import { closeTime, type Interval, intervalMs } from '../domain/interval.ts';
import type { FeedGap } from '../domain/market.ts';

/** Every hole between klines that are there, and how many klines are missing in all of them. `openTime` is sorted. */
export function findGaps(
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
  openTime: Float64Array,
): { readonly list: readonly FeedGap[]; readonly missing: number } {
  const list: FeedGap[] = [];
  let missing = 0;
  for (let row = 1; row < openTime.length; row++) {
    const from = closeTime(interval, openTime[row - 1] as number);
    const to = openTime[row] as number;
    if (from === to) continue;
    list.push({ symbol, channel: 'klines', from, to, cause: 'not in the recorded data', healed: false });
    for (let at = from; at < to; at += intervalMs(interval, at)) missing++;
  }
  return { list, missing };
}
