/** What an error of the disk means for a batch. */
import Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import type { WriteResult } from './journal.ts';
import type { Write } from './writer.ts';

/**
 * Writes a batch. A full disk rolled the transaction back and may pass; every other error is thrown on and ends the process: after an
 * I/O error nobody knows what is on the disk.
 */
export function tried(write: Write, entries: readonly Entry[]): WriteResult {
  try {
    write(entries);
    return 'written';
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_FULL') return 'full';
    throw error;
  }
}
