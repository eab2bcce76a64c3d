/** A strategy's own faults: told apart from ours, and said with the place in its file. */
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A want that could not be carried out honestly: a number that is not finite, a goal that is not there. */
export class WantError extends RangeError {
  override name = 'WantError';
}

const ours = dirname(dirname(fileURLToPath(import.meta.url)));

interface Place {
  readonly file: string;
  readonly line: string;
  /** True for a file of Sluice itself; shipped strategies and files of the user are not. */
  readonly isOurs: boolean;
}

/** Where an error came by, the innermost place first. */
function placesOf({ stack = '' }: Error): readonly Place[] {
  const frames = stack.matchAll(/(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]s):(\d+)/g);
  return [...frames]
    .map(([, file = '', line = '']) => ({ file, line, isOurs: file.startsWith(ours) }))
    .filter(({ file }) => !file.includes('/node_modules/'));
}

/** True when it was the strategy that threw, not Sluice. */
export const isStrategyFault = (error: unknown): error is Error =>
  error instanceof WantError || (error instanceof Error && placesOf(error)[0]?.isOurs === false);

/** One line for an error in a strategy's code, with the place in its file when the stack names one. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const theirs = placesOf(error).find(({ isOurs }) => !isOurs);
  const where = theirs === undefined ? '' : ` (${basename(theirs.file)}, line ${theirs.line})`;
  return `${error.name}: ${error.message.split('\n')[0]}${where}`;
}
