/** What a check found: what, where, how many, what it does to results, what to do. */
import type { Place } from './tally.ts';

export type CheckName =
  | 'unreadable'
  | 'impossible'
  | 'swapped'
  | 'off-grid'
  | 'disorder'
  | 'duplicates'
  | 'mixed'
  | 'crossed'
  | 'zone'
  | 'cut-off'
  | 'gaps'
  | 'zero-volume'
  | 'opens-outside'
  | 'stuck'
  | 'outliers'
  | 'volumes'
  | 'wicks'
  | 'scale'
  | 'one-sided'
  | 'identical'
  | 'delivered-twice'
  | 'same-time'
  | 'repeated-books'
  | 'old-books'
  | 'locked'
  | 'slip'
  | 'partial'
  | 'same-rows'
  | 'future'
  | 'contracts'
  | 'assumed';

export interface Finding {
  readonly check: CheckName;
  readonly count: number;
  /** Data with it are not taken in unless it is repaired. */
  readonly refused: boolean;
  readonly what: string;
  /** What it does to a result. */
  readonly effect: string;
  /** What to do about it, where there is something. */
  readonly advice?: string;
  /** The first few. */
  readonly places: readonly Place[];
}

/** Of quantities and volumes that are too large. */
export const tooMuch = 'worth 1e15 or more in the quote asset';
export const quantityEffect = 'no market has such volume; orders of any size would fill';

/** What can be mended when asked for, and how. */
export const repairs = {
  sort: 'puts rows into the order of their times',
  duplicates: 'drops rows that repeat another one of the same time exactly',
  impossible: 'drops rows that no market can have made, and crossed or unsorted books',
  unreadable: 'drops lines that are no rows',
} as const;
export type Repair = keyof typeof repairs;

/** A repair as it was done. */
export interface Repaired {
  readonly repair: Repair;
  readonly rows: number;
  readonly first?: Place;
}

/** A moment (UTC ms) in words; what lies beyond all calendars as the number that it is. */
export const momentText = (time: number): string =>
  Number.isFinite(time) && Math.abs(time) < 8.64e15 ? new Date(time).toISOString().replace('.000Z', 'Z') : String(time);

/** `line 4, 2020-02-01T00:01:00Z`. */
export function placeText({ line, time, what }: Told['places'][number]): string {
  const at = [...(line === undefined ? [] : [`line ${line}`]), ...(time === undefined ? [] : [momentText(time)])].join(
    ', ',
  );
  return what === undefined ? at : `${at}: ${what}`;
}

/** What is said of a finding, of now or as it was kept. */
interface Told extends Pick<Finding, 'what' | 'effect' | 'count'> {
  readonly advice?: string | undefined;
  readonly places: readonly { readonly [key in keyof Place]?: Place[key] | undefined }[];
}

/** One line for people. */
export function findingText({ what, effect, advice, places, count }: Told): string {
  const [first] = places;
  const where = first === undefined ? '' : ` (${count > 1 ? 'first ' : ''}${placeText(first)})`;
  return `${what}${where}: ${effect}${advice === undefined ? '' : `; ${advice}`}`;
}

const grouped = new Intl.NumberFormat('en-US');

/** `1 row`, `2,341 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped.format(count)} ${count === 1 ? one : many}`;

/** `90 s`, `12 min`, `3 h`, `2 days`. */
export function lengthText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 360_000) / 10} h` : `${Math.round(ms / 8_640_000) / 10} days`;
}
