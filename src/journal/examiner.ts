/** A thread that examines a part of a large journal: the sum over some of its tables, and SQLite's own check. */

import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { causeOf } from '../domain/refusal.ts';
import { sumRows, totalText } from './hash-chain.ts';

/** The thread's parameters. `done` is set and notified when `result` holds the answer. */
export interface Examination {
  readonly path: string;
  /** The tables to sum. */
  readonly tables: readonly string[];
  /** Whether to run SQLite's own check. */
  readonly whole: boolean;
  readonly done: SharedArrayBuffer;
  readonly result: SharedArrayBuffer;
}

/** SQLite's own check of a file with its indices: "ok", or the damage in one line. */
export const integrityOf = (db: Database.Database): string =>
  oneLine(String(db.pragma('integrity_check(1)', { simple: true })).replace(/^\*\*\* .* \*\*\*\s+/, ''));

/** Joins lines: SQLite's message can quote many damaged ones. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Bytes of an answer; a longer one is truncated. */
export const answerBytes = 1_024;

/** A thread's answer. */
export interface Examined {
  /** "ok", or the damage in one line. */
  readonly integrity: string;
  /** As `totalText` writes it; empty for a damaged file. */
  readonly total: string;
}

/** Reads an answer; a thread that died left an empty one. */
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
    return { integrity: oneLine(causeOf(error)), total: '' };
  } finally {
    db.close();
  }
}

const given = workerData as Examination | null;
if (given !== null && given?.done !== undefined) {
  const { integrity, total } = examine(given);
  // Truncation must not cut the second line.
  new TextEncoder().encodeInto(`${integrity.slice(0, 200)}\n${total}`, new Uint8Array(given.result));
  const done = new Int32Array(given.done);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}
