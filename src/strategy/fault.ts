/** What is said when a strategy threw: the error, and where in its file. */
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ours = dirname(dirname(fileURLToPath(import.meta.url)));

/** One line for an error in a strategy's code, with the place in its file when the stack names one. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const places = (error.stack ?? '').matchAll(/(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]s):(\d+)/g);
  const theirs = [...places].find(([, path = '']) => !path.startsWith(ours) && !path.includes('/node_modules/'));
  const where = theirs === undefined ? '' : ` (${basename(theirs[1] ?? '')}, line ${theirs[2]})`;
  return `${error.name}: ${error.message.split('\n')[0]}${where}`;
}
