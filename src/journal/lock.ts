/**
 * One writer for each state directory. The lock is a database file of its own, held in an exclusive transaction: the system
 * frees it on kill -9, and the journal itself stays open to readers.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface Lock {
  release(): void;
}

function attempt(dir: string): Database.Database | undefined {
  const db = new Database(join(dir, 'lock.db'), { timeout: 0 });
  try {
    db.pragma('journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}

/** A database that nobody refers to is closed when memory is collected, and its lock with it. */
const held = new Set<Database.Database>();

/** Takes the lock of a state directory, or gives undefined when another process holds it. */
export function takeLock(dir: string): Lock | undefined {
  const db = attempt(dir);
  if (db === undefined) return undefined;
  held.add(db);
  return {
    release() {
      held.delete(db);
      db.close();
    },
  };
}

/** True when a process holds the lock of a state directory, that is, when a daemon runs on it. */
export function isLocked(dir: string): boolean {
  const lock = takeLock(dir);
  lock?.release();
  return lock === undefined;
}
