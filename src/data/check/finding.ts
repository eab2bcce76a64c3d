/** A finding of a check: description, places, count, effect on results, and advice. */

import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';

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

export interface Place {
  readonly line?: number;
  /** UTC ms. */
  readonly time?: number;
  readonly what?: string;
}

export interface Finding {
  readonly check: CheckName;
  readonly count: number;
  /** Data are refused until it is repaired. */
  readonly refused: boolean;
  readonly what: string;
  /** Its effect on results. */
  readonly effect: string;
  readonly advice?: string;
  /** The first few. */
  readonly places: readonly Place[];
}

/** Of quantities and volumes that are too large. */
export const tooMuch = 'worth 1e15 or more in the quote asset';
export const quantityEffect = 'no market has such a volume; orders of any size would fill';

/** Repairs that the user may ask for. */
export const repairs = {
  sort: 'sorts rows by time',
  duplicates: 'drops exact duplicates of the same time',
  impossible: 'drops impossible rows, and crossed or unsorted books',
  unreadable: 'drops lines that cannot be read',
} as const;
export type Repair = keyof typeof repairs;

export interface Repaired {
  readonly repair: Repair;
  readonly rows: number;
  readonly first?: Place;
}

/** A time (UTC ms) in words; beyond the calendar as the number that it is. */
export const momentText = (time: number): string =>
  Number.isFinite(time) && Math.abs(time) < 8.64e15 ? new Date(time).toISOString().replace('.000Z', 'Z') : String(time);

/** A finding of now, or as it was stored. */
interface FindingLike extends Pick<Finding, 'what' | 'effect' | 'count'> {
  readonly advice?: string | undefined;
  readonly places: readonly { readonly [key in keyof Place]?: Place[key] | undefined }[];
}

/** `line 4, 2020-02-01T00:01:00Z`. */
function placeText({ line, time, what }: FindingLike['places'][number]): string {
  const parts = [...(line === undefined ? [] : [`line ${line}`]), ...(time === undefined ? [] : [momentText(time)])];
  return what === undefined ? parts.join(', ') : `${parts.join(', ')}: ${what}`;
}

/** One line for people. */
export function findingText({ what, effect, advice, places, count }: FindingLike): string {
  const [first] = places;
  const where = first === undefined ? '' : ` (${count > 1 ? 'first ' : ''}${placeText(first)})`;
  return `${what}${where}: ${effect}${advice === undefined ? '' : `; ${advice}`}`;
}

/** `5 ms`, `90 s`, `12 min`, `3 h`, `2 days`. */
export function lengthText(ms: number): string {
  if (ms < 100) return `${ms} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 360_000) / 10} h` : `${Math.round(ms / 8_640_000) / 10} days`;
}

/** With `acceptJumps` jumps of prices are warnings. */
export const accepted = (findings: readonly Finding[], acceptJumps = false): readonly Finding[] =>
  findings.map((one) => (acceptJumps && one.check === 'scale' ? { ...one, refused: false } : one));

const faultsIn = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ refused }) => refused).map((fault) => findingText(fault));

/** Throws a `Refusal` with all faults found in a number of rows, a line each. */
export function refuseImport(path: string, findings: readonly Finding[], rows: number): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  throw new Refusal(
    `${path}: not imported, because of these faults in its ${counted(rows, 'row')}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
  );
}

/** The same for a file that a configuration names, in one line. */
export function refuseNamed(path: string, findings: readonly Finding[], rows: number): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  const options = findings.some(({ refused, advice }) => refused && / \(?--/.test(advice ?? ''))
    ? `. Options (--…) are of an import: run sluice data import ${path} with them, then write catalogue instead of the file name in the configuration`
    : '';
  throw new Refusal(`${path}: not read (${counted(rows, 'row')}): ${faults.join('; ')}${options}`);
}
