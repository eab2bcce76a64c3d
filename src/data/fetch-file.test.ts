/** What is known of a series as fetched, beside what else happens to it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SeriesKey } from './catalogue/kinds.ts';
import { takeLock } from './catalogue/lock.ts';
import { removeSeries } from './catalogue/store.ts';
import { Fetched, fetchedLock, fetchedPath } from './fetch-file.ts';

const key: SeriesKey = { kind: 'trades', symbol: 'BTCUSDT' };
const place = (): string => mkdtempSync(join(tmpdir(), 'sluice-fetched-'));

test('only holes beside pages that wait are reported: others are known, and may have been filled', () => {
  const path = fetchedPath(place(), key);
  const fetched = new Fetched(path, false);
  fetched.add({ from: 0, until: 100, rows: [] });
  fetched.add({ from: 140, until: 200, rows: [] });
  expect(fetched.holes).toEqual([[100, 140]]);
  fetched.settle();
  fetched.add({ from: 200, until: 230, rows: [] });
  expect(fetched.holes).toEqual([]);
  fetched.add({ from: 250, until: 260, rows: [] });
  expect(fetched.holes).toEqual([[230, 250]]);
  expect(new Fetched(path, true).holes).toEqual([[230, 250]]);
});

test('a series is not removed beside a fetch that runs: it would never be asked for again', () => {
  const dir = place();
  const fetched = new Fetched(fetchedPath(dir, key), false);
  fetched.add({ from: 0, until: 100, rows: [] });
  const lock = fetchedLock(dir, key);
  const unlock = takeLock(lock, 'it');
  expect(() => removeSeries(dir, key)).toThrow(/trades-BTCUSDT\.jsonl is in use by process \d+: wait/);
  expect(new Fetched(fetchedPath(dir, key), true).asked).toHaveLength(1);
  unlock();
  removeSeries(dir, key);
  expect(new Fetched(fetchedPath(dir, key), true).asked).toEqual([]);
});
