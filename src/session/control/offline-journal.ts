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
import { refuseOld, rememberHead } from '../preflight/journal-head-check.ts';
import { noDaemonText, refusalOf, stateAt } from '../state.ts';

/** Writes under the journal's lock. Refuses, as a daemon does, a journal that was changed, is not the newest or is of another host (exit 3). */
export function writeOffline(dir: string, entries: readonly Entry[]): void {
  let lock: Lock | undefined;
  try {
    refuseLinks(dir);
    lock = takeLock(dir);
    if (lock === undefined)
      throw new Refusal(`${noDaemonText(stateAt(dir))}. Nothing was changed; try again when it trades`, 1);
    const path = join(dir, journalFile);
    examine(path, (examined) => refuseOld(examined, path, process.env))?.block();
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
    lock?.release();
  }
}
