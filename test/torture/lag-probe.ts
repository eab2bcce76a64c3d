/** Imported into a daemon before anything else: measures how late its event loop runs, and writes that down each second. */
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { realMs, systemClock } from '../../src/clock/clock.ts';

const file = process.env['SLUICE_TORTURE_LAG'];

/** Real ms between two looks; a look that comes so much later than this is the lag. */
const everyMs = 5;
const looksPerWrite = 200;

/** How late each look was, real ms, and how much of that this thread itself was at work: the rest is what other processes took. */
export interface Lag {
  readonly lateMs: number;
  readonly busyMs: number;
}

const lags: Lag[] = [];

/** Processor time of this thread so far, ms. */
function busy(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function measure(path: string): Promise<void> {
  for (;;) {
    const [startedAt, busyBefore] = [realMs(), busy()];
    await systemClock.sleep(everyMs);
    const lateMs = Math.max(0, realMs() - startedAt - everyMs);
    lags.push({ lateMs, busyMs: Math.min(lateMs, busy() - busyBefore) });
    if (lags.length % looksPerWrite !== 0) continue;
    writeFileSync(`${path}.new`, JSON.stringify(lags));
    renameSync(`${path}.new`, path);
  }
}

if (isMainThread && file !== undefined) void measure(file);
