/** The journal's writer in a thread of its own, so that a commit (milliseconds) never stops the event loop that trades. */
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import { writer } from './writer.ts';

export interface WriteRequest {
  readonly id: number;
  readonly entries: readonly Entry[];
}
export interface WriteReply {
  readonly id: number;
  readonly result: 'written' | 'full';
}

/** Opens a journal for writing the way the protocol needs it: better-sqlite3 defaults to NORMAL in WAL, which loses commits at a power cut. */
export function openForWriting(path: string): Database.Database {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  return db;
}

if (parentPort !== null) {
  const port = parentPort;
  const { path, epoch } = workerData as { readonly path: string; readonly epoch: number };
  const db = openForWriting(path);
  const write = writer(db, epoch);
  port.on('message', (request: WriteRequest | 'close') => {
    if (request === 'close') {
      db.close();
      port.close();
      return;
    }
    let result: WriteReply['result'] = 'written';
    try {
      write(request.entries);
    } catch (error) {
      // A full disk rolled the transaction back and may pass; after an I/O error nobody knows what is on the disk, so the process ends.
      if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_FULL')) throw error;
      result = 'full';
    }
    port.postMessage({ id: request.id, result } satisfies WriteReply);
  });
}
