/** A journal opened for writing. Importing this starts nothing: readers in threads of their own import it, too. */
import Database from 'better-sqlite3';

/** Opens a journal for writing with synchronous = FULL: better-sqlite3 defaults to NORMAL in WAL, which loses commits at a power cut. */
export function openForWriting(path: string): Database.Database {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // A long reader prevents write-back, so the log grows; this shrinks it afterwards.
  db.pragma('journal_size_limit = 16777216');
  keepFewPages(db);
  return db;
}

/** better-sqlite3 keeps up to 16 MB of each open journal: a daemon's memory would grow with its journal for months. */
export const keepFewPages = (db: Database.Database): unknown => db.pragma('cache_size = -4000');
