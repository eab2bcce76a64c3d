/** Examines part of a large journal in a thread of its own: the sum over some of its tables, or the file's own soundness. */
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { sumRows, totalText } from './chain.ts';

/** What the thread is given. `done` is set and notified when `result` holds the answer. */
export interface Examination {
  readonly path: string;
  /** The tables to sum; none: SQLite's own check of the file. */
  readonly tables: readonly string[];
  readonly done: SharedArrayBuffer;
  readonly result: SharedArrayBuffer;
}

/** SQLite's own check of a file, of its indices too: "ok", or what is wrong, in one line. */
export const integrityOf = (db: Database.Database): string =>
  oneLine(String(db.pragma('integrity_check(1)', { simple: true })).replace(/^\*\*\* .* \*\*\*\s+/, ''));

/** What SQLite says of what is damaged can quote many lines of it. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Bytes of an answer; a longer one is cut off. */
export const answerBytes = 1_024;

function examine({ path, tables }: Examination): string {
  const db = new Database(path, { readonly: true });
  try {
    return tables.length === 0 ? integrityOf(db) : totalText(sumRows(db, tables));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    db.close();
  }
}

const given = workerData as Examination | null;
if (given !== null && given?.done !== undefined) {
  new TextEncoder().encodeInto(examine(given), new Uint8Array(given.result));
  const done = new Int32Array(given.done);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}
