/** Gaps: when a silence in trades or depth is one, and their finding. */
import { counted, type Finding, lengthText, momentText } from './finding.ts';

type Stream = 'trades' | 'depth';

/** Shorter silences are no gaps. */
export const shortestGapMs: Readonly<Record<Stream, number>> = { trades: 60_000, depth: 5_000 };
/** A gap lasts at least so many times the mean spacing: trades come in swarms, depth by the clock. */
const spacings: Readonly<Record<Stream, number>> = { trades: 50, depth: 10 };

/** How long a gap lasts at least where `count` trades or books came within `spanMs`, ms. */
export const leastGap = (stream: Stream, spanMs: number, count: number): number =>
  Math.max(shortestGapMs[stream], (spacings[stream] * spanMs) / Math.max(1, count));

/** Backtests do not fill by older depth (`maxBookAgeMs`), ms. */
export const oldBookMs = 3_000;
/** The share of the time without younger depth, gaps aside, from which on there is a warning. */
export const leastOldShare = 0.01;
/** The depth of no market stays the same in all its levels that long: of recorded ones the longest is a second. */
export const stuckBookMs = 600_000;

export type Gap = readonly [from: number, to: number];

/** The length of the longest gap, and where it is unless it is the only one, whose place the finding has. */
export function longestText(gaps: readonly Gap[]): string {
  const [from, to] = gaps.reduce((longest, gap) => (gap[1] - gap[0] > longest[1] - longest[0] ? gap : longest));
  return `longest ${lengthText(to - from)}${gaps.length === 1 ? '' : ` from ${momentText(from)} on`}`;
}

/** The finding of gaps; `missing` says what they lack. */
export function gapFindings(gaps: readonly Gap[], effect: string, missing = ''): readonly Finding[] {
  const [first] = gaps;
  if (first === undefined) return [];
  const what = `${counted(gaps.length, 'gap')}${missing}, ${longestText(gaps)}`;
  return [{ check: 'gaps', count: gaps.length, refused: false, what, effect, places: [{ time: first[0] }] }];
}
