/**
 * One writer for each state directory. The lock is a database file of its own, held in an exclusive transaction: the system
 * frees it on kill -9, and the journal itself stays open to readers.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface Lock {
  release(): void;
}

/** How long whoever wants to hold the lock waits for one who only looks whether it is held, real ms. */
const patienceMs = 200;

function attempt(dir: string, begin: string, timeout: number): Database.Database | undefined {
  const db = new Database(join(dir, 'lock.db'), { timeout });
  try {
    db.pragma('journal_mode = DELETE');
    db.exec(begin);
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
  const db = attempt(dir, 'BEGIN EXCLUSIVE', patienceMs);
  if (db === undefined) return undefined;
  held.add(db);
  return {
    release() {
      held.delete(db);
      db.close();
    },
  };
}

/** True when a process holds the lock of a state directory, that is, when a daemon runs on it. Any number may look at once. */
export function isLocked(dir: string): boolean {
  const db = attempt(dir, 'BEGIN; SELECT count(*) FROM sqlite_schema', 0);
  db?.close();
  return db === undefined;
}
