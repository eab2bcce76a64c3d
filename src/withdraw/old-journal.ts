/** A journal of withdrawals where earlier versions kept it: beside whatever directory the program was started in. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Refusal } from '../domain/refusal.ts';
import { entryText } from './format.ts';
import { openBook } from './journal.ts';

/**
 * Says that one lies in `cwd` and is not read. Refuses where what became of a withdrawal in it on this exchange is not known: another
 * one could pay twice. `dir` is where the journal lies now.
 */
export function tellOfOldBook(dir: string, cwd: string, host: string, say: (line: string) => void): void {
  const old = join(cwd, 'var', 'withdraw');
  if (!existsSync(join(old, 'withdrawals.db')) || resolve(old) === resolve(dir)) return;
  const todo = `look at it with --state ${old}, and once nothing in it is open move it away`;
  say(`note: ${old} holds a journal of withdrawals of an earlier version, which is not read any more: ${todo}`);
  const book = openBook(old);
  try {
    const [open] = book.open(host);
    if (open === undefined) return;
    throw new Refusal(
      `what became of a withdrawal in ${old} is not known, and another one could pay twice: ${entryText(open)}\n  what to do: sluice-withdraw list --state ${old}, until it is cleared up; then move ${old} away`,
      3,
    );
  } finally {
    book.close();
  }
}
