/** Handles errors of the disk in a batch. */
import Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import type { WriteResult } from './journal.ts';
import type { Write } from './writer.ts';

/** Temporary errors after which nothing of a batch is on disk: no space, or no free file handle (EMFILE, ENFILE). */
const temporary: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_CANTOPEN']);

/**
 * Writes a batch. A temporary error rolls the transaction back. Every other one is thrown and ends the process: after an I/O error it is
 * not known what is on disk.
 */
export function writeOrFull(write: Write, entries: readonly Entry[]): WriteResult {
  try {
    write(entries);
    return 'written';
  } catch (error) {
    if (error instanceof Database.SqliteError && temporary.has(error.code)) return 'full';
    throw error;
  }
}
