import { systemText } from './system-errors.ts';

/** An error that the user must correct: printed as one message without a stack. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** 1 the run failed, 2 bad usage, configuration or data, 3 refused by a safety guard. */
  readonly exitCode: 1 | 2 | 3;

  /** `message`: what is wrong, where, and what to do. */
  constructor(message: string, exitCode: 1 | 2 | 3 = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Refused because a disk has no space: that passes when somebody makes some. */
export class NoSpace extends Refusal {}

/** SQLite's code where the file of shared memory, which readers of a journal need as well, cannot be made. */
const noRoomToRead = 'SQLITE_IOERR_SHMSIZE';

/** Any write can fail so, those of libraries included. Too many watched files have the same code, but no disk is full. */
export const isNoSpace = (error: unknown): error is Error =>
  error instanceof NoSpace ||
  (error instanceof Error &&
    !/file watchers/.test(error.message) &&
    (/ENOSPC|EDQUOT|No space left on device|database or disk is full/.test(error.message) ||
      (error as NodeJS.ErrnoException).code === noRoomToRead));

/** The message of whatever was thrown, in plain words where it is an error of the system. */
export const causeOf = (error: unknown): string =>
  systemText(error) ?? (error instanceof Error ? error.message : String(error));

/** What `work` returns, or the refusal that it throws. */
export function orRefusal<T>(work: () => T): T | Refusal {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The probably intended name among `known`, as ` (did you mean "x"?)`, or an empty text. */
export function didYouMean(name: string, known: readonly string[]): string {
  const typed = name.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name: candidate, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.round(name.length / 3))
    ? ` (did you mean "${best.name}"?)`
    : '';
}

/** A schema's message in plain words: `must be at most 1000` for `Too big: expected number to be <=1000`. */
export function plainly(message: string): string {
  const bound = /^Too (?:big|small): expected (\w+) to (?:be|have) ([<>]=?)(-?[\d.]+)/.exec(message);
  if (bound !== null) {
    const [, kind = '', sign = '', number = ''] = bound;
    if (kind !== 'number' && sign === '>=' && number === '1') return 'must not be empty';
    const items = kind === 'array' ? ' items' : kind === 'string' ? ' characters' : '';
    return `must ${items === '' ? 'be' : 'have'} ${signs[sign] ?? sign} ${number}${items}`;
  }
  const type = /^Invalid input: expected ([\w ]+), received ([\w ]+)$/.exec(message);
  if (type !== null) {
    const [, wanted = '', given = ''] = type;
    // A number that is not whole is a number: only what is wanted helps.
    const not = wanted === 'int' ? '' : `, not ${kinds[given] ?? given}`;
    return `must be ${kinds[wanted] ?? wanted}${not}`;
  }
  return message
    .replace(/^Invalid input: expected /, 'must be ')
    .replace(/^Invalid input: /, '')
    .replace(/^Invalid input$/, 'matches none of the allowed forms')
    .replace(/^Invalid (?:string|number): /, '')
    .replace(
      /^Invalid option: expected one of (.*)$/,
      (_, all: string) => `must be one of ${all.replaceAll('|', ', ')}`,
    )
    .replace(/^Unrecognized key: (.*)$/, '$1 is not a known key')
    .replace(/^Unrecognized keys: (.*)$/, '$1 are no known keys');
}

/** Types of values as people call them. */
const kinds: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
  null: 'empty',
  undefined: 'missing',
  NaN: 'something else',
};

/** What a schema found wrong, in one line, each with its place; `whole` names the place of what is wrong with all of it. */
export const issuesText = (
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  whole = 'it',
): string =>
  issues.map(({ path, message }) => `${path.map(String).join('.') || whole}: ${plainly(message)}`).join('; ');

const signs: Readonly<Record<string, string>> = { '<=': 'at most', '<': 'below', '>=': 'at least', '>': 'above' };

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
