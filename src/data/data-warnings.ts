/** What a result must carry with it of the rows that it is made of, however they came: gaps, and findings that cast doubt on it. */
import type { Interval } from '../domain/interval.ts';
import type { Columns, FeedGap } from '../domain/market.ts';
import { lowerBound } from './catalogue/rows.ts';
import { addRows } from './check/add-rows.ts';
import { type Finding, findingText } from './check/finding.ts';
import { futureFinding } from './check/future-rows.ts';
import { KlineChecks } from './check/klines.ts';
import { gapsText } from './gaps.ts';
import type { Frame } from './resample.ts';
import { asRecorded, asRecordedText } from './source-notes.ts';

/** Lines for people; and of them, short, what makes a result doubtful by itself. */
export interface Notes {
  readonly warnings: readonly string[];
  readonly doubts: readonly string[];
}

/** A finding of now, or as it was kept. */
export type Found = Parameters<typeof findingText>[0] & { readonly check: string };

/** What casts doubt on a result; the rest is said by `sluice data check`. */
const told: ReadonlySet<string> = new Set(
  'stuck outliers volumes wicks swapped scale cut-off slip one-sided locked old-books delivered-twice partial zone contracts'.split(
    ' ',
  ),
);

/** Of these the ones that no sound market has; flashes, holes and quiet hours are usual. */
const grave: ReadonlySet<string> = new Set(
  'stuck outliers volumes swapped scale slip one-sided locked delivered-twice contracts'.split(' '),
);

/** Single klines without volume are usual; runs of them may be an outage that the source filled. */
export const isFilled = ({ check, what }: Found): boolean => check === 'zero-volume' && what.includes('longest run');

/** Rows that were dated after their import stay doubtful when that day has come; a kline that was only not over yet does not. */
const isMadeUp = ({ check, places }: Found): boolean => check === 'future' && places.length === 0;

export const isTold = (one: Found): boolean => told.has(one.check) || isFilled(one) || isMadeUp(one);

/** A line each: what was found and when; the lines of the file are not at hand any more, and what to do with it was said at its import. */
export function notesOf(name: string, found: readonly Found[]): Notes {
  const said = found.filter(isTold);
  const text = ({ what, effect, count, places }: Found): string =>
    findingText({ what, effect, count, places: places.map(({ time, what: row }) => ({ time, what: row })) });
  return {
    warnings: said.map((one) => `${name}: ${text(one)}`),
    doubts: said.filter((one) => grave.has(one.check) || isMadeUp(one)).map(({ what }) => `${name}: ${what}`),
  };
}

/** Rows of a file that a run goes over which lie after the present; `last`: of the last one, UTC ms. */
export function futureNotes(name: string, last: number, frame: Frame, now: number): Notes {
  const found = futureFinding(last, frame, now);
  return { warnings: found.map((one) => `${name}: ${findingText(one)}`), doubts: notesOf(name, found).doubts };
}

/** A repair, which is told and doubted alike. */
export const repairText = (repair: string, rows: number): string =>
  `repaired (${repair}): ${rows} ${rows === 1 ? 'row' : 'rows'}`;

export const together = (...notes: readonly Notes[]): Notes => ({
  warnings: notes.flatMap(({ warnings }) => warnings),
  doubts: notes.flatMap(({ doubts }) => doubts),
});

/** A stretch of a series, UTC ms; open where an end is left out. */
export interface Stretch {
  readonly from?: number;
  readonly to?: number;
}

export const gapsWithin = (gaps: readonly FeedGap[], { from, to }: Stretch): readonly FeedGap[] =>
  gaps.filter((gap) => (from === undefined || gap.to > from) && (to === undefined || gap.from < to));

export const cutNotes = (name: string, ended: boolean): Notes => ({
  warnings: ended ? [] : [`${name}: the last line has no end: the file may be cut off`],
  doubts: [],
});

export function gapNotes(name: string, gaps: readonly FeedGap[], interval?: Interval): Notes {
  const text = gapsText(gaps, interval === undefined ? undefined : { interval });
  return { warnings: text === '' ? [] : [`${name}: ${text}`], doubts: [] };
}

/** What an import would find in these klines. `firstLine`: of the file, 0 where nobody knows it. */
export function klineFindings(interval: Interval, columns: Columns, firstLine = 0): readonly Finding[] {
  const { openTime, open, high, low, close, volume } = columns;
  const checks = new KlineChecks(interval);
  addRows(checks, [openTime, open, high, low, close, volume], firstLine);
  return checks.findings();
}

/** What sources are known for, in a line; klines without volume only where nothing was said of them yet. */
export function recordedNotes(name: string, columns: Columns, said: readonly Found[]): Notes {
  const isSaid = said.some(isFilled);
  const text = asRecordedText({ ...asRecorded(columns), ...(isSaid && { zeroVolume: 0 }) });
  return { warnings: text === '' ? [] : [`${name}: ${text}`], doubts: [] };
}

/** The rows of sorted times that lie in a stretch. */
export function rowsWithin(time: Float64Array, { from, to }: Stretch): readonly [first: number, end: number] {
  return [
    from === undefined ? 0 : lowerBound(time, time.length, from),
    to === undefined ? time.length : lowerBound(time, time.length, to),
  ];
}
