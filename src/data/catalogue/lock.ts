/**
 * One writer at a time. The lock is a database file of its own, held in an exclusive transaction, as the journal's is: the system frees it on
 * kill -9, and a process of another container is not taken for one that is gone, nor the other way round. Beside it stands who holds it.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Refusal } from '../../domain/refusal.ts';
import { unwritten } from '../folder.ts';

/** A writer waits this long for a process that only tests the lock, real ms. */
const patienceMs = 200;

const databaseOf = (path: string): string => `${path}.db`;

/** Keeps the databases alive: garbage collection would close them and free their locks. */
const openLocks = new Set<Database.Database>();

/** Takes the lock; returns what gives it back. A `Refusal` while a living process has it: `what` is being written to. */
export function takeLock(path: string, what: string): () => void {
  let db: Database.Database | undefined;
  try {
    // A folder that cannot be written, or is full, gives its own error here.
    if (!existsSync(databaseOf(path))) writeFileSync(databaseOf(path), '', { flag: 'a' });
    db = attempt(path, 'BEGIN EXCLUSIVE', patienceMs);
    if (db !== undefined) writeFileSync(path, String(process.pid));
  } catch (error) {
    if (db !== undefined) rmSync(path, { force: true });
    db?.close();
    const isFull = error instanceof Database.SqliteError && error.code === 'SQLITE_FULL';
    throw new Refusal(unwritten(path, isFull ? { code: 'ENOSPC' } : error, 'another folder for the data (--data)'), 1);
  }
  if (db === undefined) throw new Refusal(`${what} is in use by ${holderOf(path)}: wait until it ends`, 3);
  const taken = db;
  openLocks.add(taken);
  return () => {
    rmSync(path, { force: true });
    openLocks.delete(taken);
    taken.close();
  };
}

/** Whether a living process has it. */
export function isHeld(path: string): boolean {
  if (!existsSync(databaseOf(path))) return false;
  const db = attempt(path, 'BEGIN; SELECT count(*) FROM sqlite_schema', 0);
  db?.close();
  return db === undefined;
}

/** Undefined when another process holds it. */
function attempt(path: string, begin: string, timeout: number): Database.Database | undefined {
  const db = new Database(databaseOf(path), { timeout });
  try {
    db.exec(begin);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}

function holderOf(path: string): string {
  try {
    return `process ${readFileSync(path, 'utf8')}`;
  } catch {
    return 'another process';
  }
}
