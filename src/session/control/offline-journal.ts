/** Writes of a command into a journal on which no daemon runs. */
import { join } from 'node:path';
import { redactWords } from '../../domain/redaction.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import { examine } from '../../journal/examine.ts';
import { type Lock, takeLock } from '../../journal/lock.ts';
import { backUpBeforeMigration, journalFile, raiseEpoch, refuseLinks } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { migrate } from '../../journal/schema.ts';
import { writer } from '../../journal/writer.ts';
import { lockNewest, rememberHead } from '../preflight/journal-head-check.ts';
import { noDaemonText, refusalOf, stateAt } from '../state.ts';

/** Writes under the journal's lock. Refuses, as a daemon does, a journal that was changed, is not the newest or is of another host (exit 3). */
export function writeOffline(dir: string, entries: readonly Entry[]): void {
  const locks: Lock[] = [];
  try {
    refuseLinks(dir);
    const lock = takeLock(dir);
    if (lock === undefined)
      throw new Refusal(`${noDaemonText(stateAt(dir))}. Nothing was changed; try again when it trades`, 1);
    locks.push(lock);
    const path = join(dir, journalFile);
    examine(path, (examined) => lockNewest(examined, path, process.env, locks))?.block();
    const db = openForWriting(path);
    try {
      backUpBeforeMigration(db, path);
      migrate(db);
      // Steps of an order are ordered by the epoch of their opening: these come after all others.
      writer(db, raiseEpoch(db))(redactWords(entries));
      rememberHead(db, process.env);
    } finally {
      db.close();
    }
  } catch (error) {
    throw refusalOf(error, dir, 'written');
  } finally {
    for (const lock of locks) lock.release();
  }
}
