/** Warnings of a result about the rows it is made of: gaps, and findings that make it doubtful. */

import type { Interval } from '../domain/interval.ts';
import { type Columns, type FeedGap, lowerBound } from '../domain/market.ts';
import { counted } from '../domain/words.ts';
import { type Finding, findingText } from './check/finding.ts';
import { futureFinding, gapsText } from './check/gaps.ts';
import { KlineChecks } from './check/klines.ts';
import type { Frame } from './resample.ts';

/** Lines for people, and in short those that make a result doubtful. */
export interface Notes {
  readonly warnings: readonly string[];
  readonly doubts: readonly string[];
}

/** A finding of now, or as it was stored. */
export type Found = Parameters<typeof findingText>[0] & { readonly check: string };

/** Checks that a result reports; `sluice data check` shows the rest. */
const reported: ReadonlySet<string> = new Set(
  'stuck outliers volumes wicks swapped scale cut-off slip one-sided locked old-books delivered-twice partial zone contracts'.split(
    ' ',
  ),
);

/** Checks that find what no sound market has; flashes, gaps and quiet hours are usual. */
const grave: ReadonlySet<string> = new Set(
  'stuck outliers volumes swapped scale slip one-sided locked delivered-twice contracts'.split(' '),
);

/** Single klines without volume are usual; runs of them may be an outage that the source filled. */
export const isFilled = ({ check, what }: Found): boolean => check === 'zero-volume' && what.includes('longest run');

/** Rows dated after their import stay doubtful; a kline that was not over yet does not. */
const isMadeUp = ({ check, places }: Found): boolean => check === 'future' && places.length === 0;

export const isReported = (one: Found): boolean => reported.has(one.check) || isFilled(one) || isMadeUp(one);

/** One line for each finding, without lines of the file and advice, which belong to its import. */
export function notesOf(name: string, found: readonly Found[]): Notes {
  const said = found.filter(isReported);
  const text = ({ what, effect, count, places }: Found): string =>
    findingText({ what, effect, count, places: places.map(({ time, what: row }) => ({ time, what: row })) });
  return {
    warnings: said.map((one) => `${name}: ${text(one)}`),
    doubts: said.filter((one) => grave.has(one.check) || isMadeUp(one)).map(({ what }) => `${name}: ${what}`),
  };
}

/** Rows of a run's file that lie after the present; `last`: the time of the last one, UTC ms. */
export function futureNotes(name: string, last: number, frame: Frame, now: number): Notes {
  const found = futureFinding(last, frame, now);
  return { warnings: found.map((one) => `${name}: ${findingText(one)}`), doubts: notesOf(name, found).doubts };
}

/** A repair, in warnings and doubts. */
export const repairText = (repair: string, rows: number): string =>
  `repaired (${repair}): ${rows} ${rows === 1 ? 'row' : 'rows'}`;

export const together = (...notes: readonly Notes[]): Notes => ({
  warnings: notes.flatMap(({ warnings }) => warnings),
  doubts: notes.flatMap(({ doubts }) => doubts),
});

/** A part of a series, UTC ms; open where an end is left out. */
export interface Stretch {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export const gapsWithin = (gaps: readonly FeedGap[], { from, to }: Stretch): readonly FeedGap[] =>
  gaps.filter((gap) => (from === undefined || gap.to > from) && (to === undefined || gap.from < to));

/** Warnings that leave a result as it is. */
export const warned = (...warnings: readonly string[]): Notes => ({ warnings, doubts: [] });

export const cutNotes = (name: string, ended: boolean): Notes =>
  ended ? warned() : warned(`${name}: the last line is incomplete: the file may be cut off`);

export function gapNotes(name: string, gaps: readonly FeedGap[], interval?: Interval): Notes {
  const text = gapsText(gaps, interval === undefined ? undefined : { interval });
  return text === '' ? warned() : warned(`${name}: ${text}`);
}

/** Rows checked at a time: their lines are numbered for it. */
const rowsAtOnce = 65_536;

/** What an import would find in these klines. `firstLine`: of the file, 0 when it is not known. */
export function klineFindings(interval: Interval, columns: Columns, firstLine = 0): readonly Finding[] {
  const { openTime, open, high, low, close, volume } = columns;
  const checks = new KlineChecks(interval);
  for (let from = 0; from < openTime.length; from += rowsAtOnce) {
    const part = [openTime, open, high, low, close, volume].map((column) => column.subarray(from, from + rowsAtOnce));
    const count = part[0]?.length ?? 0;
    const lines = firstLine === 0 ? undefined : Uint32Array.from({ length: count }, (_, at) => firstLine + from + at);
    checks.add(part, count, lines);
  }
  return checks.findings();
}

/** Habits of sources that are no faults and may matter: opens outside the range, and no volume unless a finding reports it. */
export function recordedNotes(name: string, { open, high, low, volume }: Columns, found: readonly Found[]): Notes {
  let [outside, empty] = [0, 0];
  for (let row = 0; row < open.length; row++) {
    const price = open[row] as number;
    if (volume[row] === 0) empty++;
    if (price < (low[row] as number) || price > (high[row] as number)) outside++;
  }
  const habits = [
    ...(outside > 0 ? [`${counted(outside, 'opens', 'open')} outside [low, high]`] : []),
    ...(empty > 0 && !found.some(isFilled) ? [`${counted(empty, 'has', 'have')} no volume`] : []),
  ];
  const text = `${name}: ${counted(open.length, 'kline')}, used as recorded: ${habits.join(', ')}`;
  return habits.length === 0 ? warned() : warned(text);
}

/** The rows of sorted times that lie in a part. */
export function rowsWithin(time: Float64Array, { from, to }: Stretch): readonly [first: number, end: number] {
  return [
    from === undefined ? 0 : lowerBound(time, time.length, from),
    to === undefined ? time.length : lowerBound(time, time.length, to),
  ];
}
