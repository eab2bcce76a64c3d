/** Examines part of a large journal in a thread of its own: the sum over some of its tables, and the file's own soundness. */
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { sumRows, totalText } from './hash-chain.ts';

/** What the thread is given. `done` is set and notified when `result` holds the answer. */
export interface Examination {
  readonly path: string;
  /** The tables to sum. */
  readonly tables: readonly string[];
  /** With SQLite's own check of the file. */
  readonly whole: boolean;
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

/** What a thread answers. */
export interface Examined {
  /** "ok", or what is wrong, in one line. */
  readonly integrity: string;
  /** As `totalText` writes it; empty where something is wrong. */
  readonly total: string;
}

/** Reads an answer; one that a thread which died left empty says so. */
export function examined(result: Uint8Array): Examined {
  const text = new TextDecoder().decode(result.slice()).replaceAll('\0', '');
  const [integrity = '', total = ''] = text.split('\n');
  return { integrity: integrity || 'it could not be examined', total };
}

function examine({ path, tables, whole }: Examination): Examined {
  const db = new Database(path, { readonly: true });
  try {
    const integrity = whole ? integrityOf(db) : 'ok';
    return { integrity, total: integrity === 'ok' ? totalText(sumRows(db, tables)) : '' };
  } catch (error) {
    return { integrity: oneLine(error instanceof Error ? error.message : String(error)), total: '' };
  } finally {
    db.close();
  }
}

const given = workerData as Examination | null;
if (given !== null && given?.done !== undefined) {
  const { integrity, total } = examine(given);
  // What is cut off must not be the line's end.
  new TextEncoder().encodeInto(`${integrity.slice(0, 200)}\n${total}`, new Uint8Array(given.result));
  const done = new Int32Array(given.done);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}
