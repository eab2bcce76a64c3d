/** Hosts of the writer: a worker thread over a file, watched for a slow disk, or this process in memory. */
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { machineSteady } from '../clock/clock.ts';
import { moduleUrl } from '../domain/module-url.ts';
import type { WriteResult, WriterHost } from './journal.ts';
import type { RememberedOpening } from './newest-head.ts';
import { migrate } from './schema.ts';
import { type Write, writer } from './writer.ts';
import type { WriteReply, WriteRequest, WriterData } from './writer-thread.ts';

/** A writer holds one batch at a time. Without a limit its heap would grow to tens of megabytes. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };

/** A worker thread over an existing, migrated journal. `failed` is called once when the thread died: the process must end. */
export function workerHost(
  path: string,
  epoch: number,
  failed: (error: Error) => void,
  remember?: RememberedOpening,
): WriterHost {
  const worker = new Worker(moduleUrl('./writer-thread', import.meta.url), {
    workerData: { path, epoch, remember } satisfies WriterData,
    resourceLimits,
  });
  const pending = new Map<number, (result: WriteResult) => void>();
  let nextId = 0;
  let closing = false;
  let isReported = false;
  // A thread that throws also exits: it is reported once.
  const fail = (error: Error): void => {
    if (!isReported) failed(error);
    isReported = true;
  };
  worker.on('message', (reply: WriteReply) => {
    pending.get(reply.id)?.(reply.result);
    pending.delete(reply.id);
  });
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))));
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      if (!closing) fail(new Error(`the journal's writer ended with code ${code}`));
      resolve();
    });
  });
  return {
    write: (entries) =>
      new Promise((resolve) => {
        const id = nextId++;
        pending.set(id, resolve);
        worker.postMessage({ id, entries: JSON.stringify(entries) } satisfies WriteRequest);
      }),
    close() {
      closing = true;
      worker.postMessage('close');
      return ended;
    },
  };
}

/** This process and memory, for backtests. */
export function memoryHost(): { readonly db: Database.Database; readonly write: Write } {
  const db = new Database(':memory:');
  migrate(db);
  return { db, write: writer(db) };
}

/** Of the last `window` commits, more than `maxSlow` slower than `slowMs` (real ms) are reported. */
const window = 100;
const maxSlow = 1;
const slowMs = 100;

/** The same host; warns of a slow disk once, and again after a hundred fast commits. */
export function watchedHost(host: WriterHost, warn: (text: string) => void, steady = machineSteady): WriterHost {
  const times: number[] = [];
  let isReported = false;
  return {
    ...host,
    async write(entries) {
      const begun = steady();
      const result = await host.write(entries);
      times.push(steady() - begun);
      if (times.length > window) times.shift();
      const slow = times.filter((ms) => ms > slowMs).length;
      if (slow > maxSlow && !isReported) {
        isReported = true;
        warn(
          `the disk is slow: ${slow} of the last ${times.length} commits of the journal took longer than ${slowMs} ms, the longest ${Math.round(Math.max(...times))} ms; every order waits for one`,
        );
      } else if (slow === 0 && times.length === window) isReported = false;
      return result;
    },
  };
}
