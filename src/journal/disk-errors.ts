/** What an error of the disk means for a batch. */
import Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import type { WriteResult } from './journal.ts';
import type { Write } from './writer.ts';

/** Errors after which nothing of a batch is on the disk, and which pass: no space, or no file left to open (EMFILE, ENFILE). */
const passing: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_CANTOPEN']);

/**
 * Writes a batch. An error that passes rolled the transaction back; every other one is thrown on and ends the process: after an I/O error
 * nobody knows what is on the disk.
 */
export function tried(write: Write, entries: readonly Entry[]): WriteResult {
  try {
    write(entries);
    return 'written';
  } catch (error) {
    if (error instanceof Database.SqliteError && passing.has(error.code)) return 'full';
    throw error;
  }
}
