/** When a silence in trades or books is a gap and not a quiet market, and which is the longest. */
import { counted, type Finding, lengthText, momentText } from './finding.ts';

type Stream = 'trades' | 'depth';

/** Shorter ones never are. */
export const shortestGapMs: Readonly<Record<Stream, number>> = { trades: 60_000, depth: 5_000 };
/** How many times the mean spacing a gap lasts at least: trades come in swarms, books by the clock. */
const spacings: Readonly<Record<Stream, number>> = { trades: 50, depth: 10 };

/** How long a gap lasts at least where `count` trades or books came within `spanMs`, ms. */
export const leastGap = (stream: Stream, spanMs: number, count: number): number =>
  Math.max(shortestGapMs[stream], (spacings[stream] * spanMs) / Math.max(1, count));

/** Books older than this are not believed by the rules of the runs (`maxBookAgeMs`), ms. */
export const oldBookMs = 3_000;
/** The share of the time without a younger book, gaps apart, that is worth a word. */
export const leastOldShare = 0.01;
/** So long no book of a market that trades stays the same in all its levels: of recorded ones the longest is a second. */
export const stuckBookMs = 600_000;

export type Gap = readonly [from: number, to: number];

/** How long the longest of several holes is, and where, unless it is the only one: the place of a finding is that of its first. */
export function longestText(gaps: readonly Gap[]): string {
  const [from, to] = gaps.reduce((longest, gap) => (gap[1] - gap[0] > longest[1] - longest[0] ? gap : longest));
  return `longest ${lengthText(to - from)}${gaps.length === 1 ? '' : ` from ${momentText(from)} on`}`;
}

/** The holes of trades or books, none where there is none; the place is that of the first. */
export function gapFindings(gaps: readonly Gap[], effect: string): readonly Finding[] {
  const [first] = gaps;
  if (first === undefined) return [];
  const what = `${counted(gaps.length, 'gap')}, ${longestText(gaps)}`;
  return [{ check: 'gaps', count: gaps.length, refused: false, what, effect, places: [{ time: first[0] }] }];
}
