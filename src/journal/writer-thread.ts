/** The journal's writer as a thread, so that a commit (milliseconds) never blocks the event loop that trades. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Entry } from './entries.ts';
import { chainOf } from './hash-chain.ts';
import type { WriteResult } from './journal.ts';
import { headWriter, type RememberedOpening } from './newest-head.ts';
import { openForWriting } from './open-for-writing.ts';
import { writeOrFull, writer } from './writer.ts';

export interface WriteRequest {
  readonly id: number;
  /** As JSON: posting one text takes three quarters of the time of posting objects. */
  readonly entries: string;
}
export interface WriteReply {
  readonly id: number;
  readonly result: WriteResult;
}

/** One row counts repeated denials for so long, ms of the clock, so that the denials of the last hour can be counted. */
const denialRowMs = 900_000;

/** The thread's parameters. */
export interface WriterData {
  readonly path: string;
  readonly epoch: number;
  /** Where the newest head is kept outside of the journal. */
  readonly remember: RememberedOpening | undefined;
}

const port = parentPort as MessagePort;
const { path, epoch, remember } = workerData as WriterData;
const db = openForWriting(path);
const write = writer(db, epoch, denialRowMs);
const heads = remember === undefined ? undefined : headWriter(remember);
port.on('message', (request: WriteRequest | 'close') => {
  if (request === 'close') {
    db.close();
    heads?.close();
    port.close();
    return;
  }
  const result = writeOrFull(write, JSON.parse(request.entries) as readonly Entry[]);
  port.postMessage({ id: request.id, result } satisfies WriteReply);
  const head = chainOf(db)?.head;
  if (head !== undefined) heads?.keep(head);
});
