/** Holes in recorded data. */
import { closeTime, type Interval, intervalMs } from '../domain/interval.ts';
import type { FeedGap } from '../domain/market.ts';
import { counted, momentText } from './check/finding.ts';
import { longestText } from './check/quiet-periods.ts';
import { type Frame, frameClose } from './resample.ts';

type Gap = Pick<FeedGap, 'from' | 'to'>;

/** Every hole between klines that are there. `openTime` is sorted. */
export function findGaps(
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
  openTime: Float64Array,
): readonly FeedGap[] {
  const list: FeedGap[] = [];
  for (let row = 1; row < openTime.length; row++) {
    const from = closeTime(interval, openTime[row - 1] as number);
    const to = openTime[row] as number;
    if (from !== to)
      list.push({ symbol, channel: 'klines', from, to, cause: 'not in the recorded data', healed: false });
  }
  return list;
}

/** The klines that are missing in all of the holes; of years of missing minutes each is not counted by itself. */
export function missingIn(gaps: readonly Gap[], frame: Frame): number {
  const { interval, zone = 'UTC' } = frame;
  if (interval !== '1month' && zone === 'UTC') {
    const stepMs = intervalMs(interval, 0);
    return gaps.reduce((sum, { from, to }) => sum + Math.ceil((to - from) / stepMs), 0);
  }
  let missing = 0;
  for (const { from, to } of gaps) for (let at = from; at < to; at = frameClose(frame, at)) missing++;
  return missing;
}

/** How many holes, how many klines are missing in them (where they are of klines), how long the longest is, where, and where the first. */
export function gapsText(gaps: readonly Gap[], frame: Frame | undefined): string {
  const [first] = gaps;
  if (first === undefined) return '';
  const missing = frame === undefined ? '' : `, ${counted(missingIn(gaps, frame), 'kline')} missing`;
  return `${counted(gaps.length, 'gap')}${missing}, ${longestText(gaps.map(({ from, to }) => [from, to]))} (${gaps.length > 1 ? 'first ' : ''}${momentText(first.from)})`;
}
