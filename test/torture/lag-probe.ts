/** Imported into a daemon before anything else: measures how late its event loop runs, and writes that down each second. */
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { realMs, systemClock } from '../../src/clock/clock.ts';

const file = process.env['SLUICE_TORTURE_LAG'];

/** Real ms between two looks; a look that comes so much later than this is the lag. */
const everyMs = 5;
const looksPerWrite = 200;

const lags: number[] = [];

async function measure(path: string): Promise<void> {
  for (;;) {
    const startedAt = realMs();
    await systemClock.sleep(everyMs);
    lags.push(Math.max(0, realMs() - startedAt - everyMs));
    if (lags.length % looksPerWrite !== 0) continue;
    writeFileSync(`${path}.new`, JSON.stringify(lags));
    renameSync(`${path}.new`, path);
  }
}

if (isMainThread && file !== undefined) void measure(file);
