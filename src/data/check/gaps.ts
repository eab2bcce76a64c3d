/** Findings from the times of rows: gaps, unusual silences of trades and depth, and rows in the future. */

import { closeTime, type Interval, intervalMs } from '../../domain/interval.ts';
import type { FeedGap } from '../../domain/market.ts';
import { counted } from '../../domain/words.ts';
import { type Frame, frameClose } from '../resample.ts';
import { type Finding, lengthText, momentText } from './finding.ts';

type Stream = 'trades' | 'depth';

/** Shorter silences are no gaps. */
export const shortestGapMs: Readonly<Record<Stream, number>> = { trades: 60_000, depth: 5_000 };
/** Times the mean spacing that a gap lasts at least: trades come in bursts, depth by the clock. */
const spacings: Readonly<Record<Stream, number>> = { trades: 50, depth: 10 };

/** How long a gap lasts at least where `count` trades or books came within `spanMs`, ms. */
export const minGap = (stream: Stream, spanMs: number, count: number): number =>
  Math.max(shortestGapMs[stream], (spacings[stream] * spanMs) / Math.max(1, count));

/** Backtests do not fill by older depth (`maxDepthAgeMs`), ms. */
export const oldBookMs = 3_000;
/** The share of the time without younger depth, gaps aside, from which on there is a warning. */
export const minOldShare = 0.01;
/** Depth that does not change for this long is stuck: in recorded data the longest pause is a second. */
export const stuckBookMs = 600_000;

export type Gap = readonly [from: number, to: number];

/** How many gaps, what they lack, how long the longest is, and where unless it is the only one, whose place is said anyway. */
function summaryOf(gaps: readonly Gap[], missing: string): string {
  const [from, to] = gaps.reduce((longest, gap) => (gap[1] - gap[0] > longest[1] - longest[0] ? gap : longest));
  const where = gaps.length === 1 ? '' : ` from ${momentText(from)} on`;
  return `${counted(gaps.length, 'gap')}${missing}, longest ${lengthText(to - from)}${where}`;
}

/** The finding of gaps; `missing` says what they lack. */
export function gapFindings(gaps: readonly Gap[], effect: string, missing = ''): readonly Finding[] {
  const [first] = gaps;
  if (first === undefined) return [];
  const what = summaryOf(gaps, missing);
  return [{ check: 'gaps', count: gaps.length, refused: false, what, effect, places: [{ time: first[0] }] }];
}

export const recordedGap = (symbol: string, channel: FeedGap['channel'], [from, to]: Gap): FeedGap => ({
  ...{ symbol, channel, from, to, cause: 'not in the recorded data', healed: false },
});

/** Silences between sorted times that are too long for how busy this market is; `count`: of trades or books. */
export function silencesIn(stream: Stream, times: Float64Array, count: number): readonly Gap[] {
  const min = minGap(stream, (times.at(-1) ?? 0) - (times[0] ?? 0), count);
  const gaps: Gap[] = [];
  for (let row = 1; row < times.length; row++) {
    const [from, to] = [times[row - 1] as number, times[row] as number];
    if (to - from >= min) gaps.push([from, to]);
  }
  return gaps;
}

/** Every hole between klines that are there. `openTime` is sorted. */
export function findGaps(
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
  openTime: Float64Array,
): readonly FeedGap[] {
  const list: FeedGap[] = [];
  for (let row = 1; row < openTime.length; row++) {
    const from = closeTime(interval, openTime[row - 1] as number);
    const to = openTime[row] as number;
    if (from !== to) list.push(recordedGap(symbol, 'klines', [from, to]));
  }
  return list;
}

type Hole = Pick<FeedGap, 'from' | 'to'>;

/** The klines that are missing in all of the holes; of years of missing minutes each is not counted by itself. */
export function missingIn(gaps: readonly Hole[], frame: Frame): number {
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
export function gapsText(gaps: readonly Hole[], frame: Frame | undefined): string {
  const [first] = gaps;
  if (first === undefined) return '';
  const missing = frame === undefined ? '' : `, ${counted(missingIn(gaps, frame), 'kline')} missing`;
  const text = summaryOf(
    gaps.map(({ from, to }) => [from, to]),
    missing,
  );
  return `${text} (${gaps.length > 1 ? 'first ' : ''}${momentText(first.from)})`;
}

/** So much the clock of a source may be ahead of this machine's. */
const slackMs = 5_000;

/** Of rows of which the last is of `last` (UTC ms), of klines the opening. */
export function futureFinding(last: number, frame: Frame | undefined, now: number): readonly Finding[] {
  const end = frame === undefined ? last : frameClose(frame, last);
  if (!(end > now + slackMs)) return [];
  const isBegun = frame !== undefined && last <= now;
  return [
    {
      check: 'future',
      count: 1,
      refused: false,
      // What is found is kept: the day makes it true ever after.
      what: isBegun
        ? 'the last kline has not closed yet'
        : `times reach to ${momentText(last)}, which is after ${momentText(now).slice(0, 10)}, today`,
      effect: isBegun
        ? 'it is stored as it is: import it again after it has closed'
        : 'the dates are wrong, or the rows are invented',
      places: isBegun ? [{ time: last }] : [],
    },
  ];
}
