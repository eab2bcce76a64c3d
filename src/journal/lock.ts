/**
 * The lock of a state directory: one writer. It is a database of its own in an exclusive transaction. The system frees it on kill -9, and
 * the journal itself stays readable.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type Lock = NonNullable<ReturnType<typeof takeLock>>;

/** How long `takeLock` waits for an `isLocked` of another process, real ms. */
const waitMs = 200;

const exclusive = 'BEGIN EXCLUSIVE';

const lockFile = 'lock.db';

function attempt(path: string, begin: string, timeout: number): Database.Database | undefined {
  const db = new Database(path, { timeout });
  try {
    db.pragma('journal_mode = DELETE');
    // With a page of its own the file can be locked on a full disk, too: SQLite would write it a first one.
    if (begin === exclusive && db.pragma('page_count', { simple: true }) === 0) db.pragma('user_version = 1');
    db.exec(begin);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}

/** Open lock databases: without a reference the garbage collector would close them. */
const held = new Set<Database.Database>();

/** Takes the lock of a state directory; undefined if another process holds it. */
export function takeLock(dir: string, name = lockFile) {
  const db = attempt(join(dir, name), exclusive, waitMs);
  if (db === undefined) return undefined;
  held.add(db);
  return {
    release(): void {
      held.delete(db);
      db.close();
    },
  };
}

/** True when a daemon holds the lock of a state directory. Several processes may check at once. */
export function isLocked(dir: string): boolean {
  const db = attempt(join(dir, lockFile), 'BEGIN; SELECT count(*) FROM sqlite_schema', 0);
  db?.close();
  return db === undefined;
}
