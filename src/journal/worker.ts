/** The journal's writer in a thread of its own, so that a commit (milliseconds) never stops the event loop that trades. */
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { tried } from './disk-errors.ts';
import type { Entry } from './entries.ts';
import { chainOf } from './hash-chain.ts';
import type { WriteResult } from './journal.ts';
import { memoryOf, type Remember } from './outside-copy.ts';
import { writer } from './writer.ts';

export interface WriteRequest {
  readonly id: number;
  /** As JSON: one text is handed over in three quarters of the time that as many objects take. */
  readonly entries: string;
}
export interface WriteReply {
  readonly id: number;
  readonly result: WriteResult;
}

/** What the thread is given. */
export interface WriterData {
  readonly path: string;
  readonly epoch: number;
  /** Where the newest head is remembered outside of the journal. */
  readonly remember: Remember | undefined;
}

/** Opens a journal for writing the way the protocol needs it: better-sqlite3 defaults to NORMAL in WAL, which loses commits at a power cut. */
export function openForWriting(path: string): Database.Database {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // A reader that stays long keeps the log from being written back: it grows, and must not stay so large.
  db.pragma('journal_size_limit = 16777216');
  return db;
}

if (parentPort !== null) {
  const port = parentPort;
  const { path, epoch, remember } = workerData as WriterData;
  const db = openForWriting(path);
  const write = writer(db, epoch);
  const memory = remember === undefined ? undefined : memoryOf(remember);
  port.on('message', (request: WriteRequest | 'close') => {
    if (request === 'close') {
      db.close();
      memory?.close();
      port.close();
      return;
    }
    const result = tried(write, JSON.parse(request.entries) as readonly Entry[]);
    port.postMessage({ id: request.id, result } satisfies WriteReply);
    const head = chainOf(db)?.head;
    if (head !== undefined) memory?.keep(head);
  });
}
