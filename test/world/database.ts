/** Databases of simulated worlds: journals in memory. One is used again by the next world of its thread, with what it has prepared. */
import Database from 'better-sqlite3';
import { migrate, schemaVersion } from '../../src/journal/schema.ts';

/** An empty journal, for each world whose disk is its own: migrating anew would cost a millisecond. */
const emptyJournal: Buffer = (() => {
  const db = new Database(':memory:');
  migrate(db);
  const bytes = db.serialize();
  db.close();
  return bytes;
})();

/** A database of these bytes, with its statements remembered. */
export const opened = (bytes: Buffer = emptyJournal): Database.Database => remembering(new Database(bytes));

/** A database that prepares each statement once: every process prepares the same ones, and there are several in a world. */
function remembering(db: Database.Database): Database.Database {
  const prepare = db.prepare.bind(db);
  const pragma = db.pragma.bind(db);
  const known = new Map<string, Database.Statement>();
  return Object.assign(db, {
    prepare(sql: string): Database.Statement {
      const statement = known.get(sql) ?? prepare(sql);
      known.set(sql, statement);
      return statement;
    },
    // Asked for nine times by each start, and the same from beginning to end.
    pragma: (source: string, options?: Database.PragmaOptions): unknown =>
      source === 'user_version' ? schemaVersion : pragma(source, options),
  });
}

/** Nothing but SQLite's own memory: one of given bytes copies every page that a commit has changed into them. */
function fresh(): Database.Database {
  const db = new Database(':memory:');
  migrate(db);
  return remembering(db);
}

/** Waits for the next world of this thread; worlds run one after another. */
let spare: Database.Database | undefined;

/** An empty journal that may have been another world's: every table is cleared, but pages that were used once stay in it. */
export function cleared(): Database.Database {
  const db = spare ?? fresh();
  spare = undefined;
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  db.prepare('BEGIN').run();
  for (const table of tables) db.prepare(`DELETE FROM ${table}`).run();
  db.prepare('COMMIT').run();
  return db;
}

/** Takes a database from `cleared` back once its world has ended. */
export function giveBack(db: Database.Database): void {
  if (db.open && !db.inTransaction) spare = db;
}
