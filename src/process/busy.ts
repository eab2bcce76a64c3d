/** A program with a blocked event loop handles no signal. A second thread lets Ctrl-C end it anyway. */
import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../domain/module-url.ts';
import type { BusyData, BusyMessage } from './busy-watch.ts';
import { listens, reloadsOnHangUp, signals } from './signals.ts';

let watching = false;

/**
 * An end at any moment loses nothing of a run over recorded data. A daemon's next start recovers, but it should stop in order while it can.
 * Real ms, and more than a busy machine delays a run: a signal that already waits for the loop is lost when the listeners go.
 */
const quietMs = { run: 4_000, daemon: 10_000 } as const;

/**
 * Makes a program that a blocked strategy holds end on a signal, and reports the strategy. A daemon is ended by its launcher instead, if
 * it has one. Does nothing without a signal handler.
 */
export function endableWhileBusy(what: keyof typeof quietMs): void {
  if (watching || !listens() || (what === 'daemon' && process.env['SLUICE_LAUNCHED'] !== undefined)) return;
  watching = true;
  const ending = signals.filter((signal) => signal !== 'SIGHUP' || !reloadsOnHangUp(process.argv[2]));
  const turned = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(moduleUrl('./busy-watch', import.meta.url), {
    workerData: { turned, quietMs: quietMs[what], signals: ending } satisfies BusyData,
  });
  const saved = ending.map((signal) => ({ signal, listeners: process.listeners(signal) }));
  worker.on('message', (message: BusyMessage) => {
    if (message === 'turns?') {
      Atomics.store(turned, 0, 1);
      Atomics.notify(turned, 0);
      return;
    }
    for (const { signal, listeners } of saved)
      if (process.listenerCount(signal) === 0) for (const listener of listeners) process.on(signal, listener);
  });
  // Without it a run ends as it did: what is only watched is not worth failing for.
  worker.on('error', () => {});
  worker.unref();
}
