/** What killed imports left, and questions about tables that are not there. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importFile } from '../import/import.ts';
import { query } from './query.ts';

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-leftovers-'));
  const dir = join(folder, 'data');
  const take = (from: number, to: number) => {
    const rows = Array.from({ length: to - from }, (_, at) => {
      const row = from + at;
      return `${Date.UTC(2024, 0, 1) + row * 60_000},100,101,99,100.${row % 7},1\n`;
    });
    writeFileSync(join(folder, 'BTCUSDT_1m.csv'), `time_ms,open,high,low,close,volume\n${rows.join('')}`);
    const how = { endStamps: false, repair: new Set<never>(), replace: false, now: Date.UTC(2026, 0, 1) };
    return importFile(join(folder, 'BTCUSDT_1m.csv'), { dir, ...how, interval: '1min' });
  };
  return { dir, take };
}

test('an import rids the cache of what a killed one left, unless nobody knows whose it is', async () => {
  const { dir, take } = place();
  const cache = join(dir, 'cache');
  await take(0, 60);
  expect(readdirSync(cache)).toHaveLength(1);
  for (const name of ['0123.columns', '4567.columns.1']) writeFileSync(join(cache, name), 'left');
  await take(60, 70);
  expect(readdirSync(cache)).toEqual([expect.stringMatching(/^\w{32}\.columns$/)]);
  mkdirSync(join(dir, 'trades', 'X'), { recursive: true });
  writeFileSync(join(dir, 'trades', 'X', 'series.json'), '');
  writeFileSync(join(cache, '0123.columns'), 'left');
  await take(70, 80);
  expect(readdirSync(cache)).toContain('0123.columns');
});

test('a query of a table that is not there names those that are', async () => {
  const { dir, take } = place();
  await take(0, 60);
  await expect(query(dir, 'SELECT * FROM kline')).rejects.toThrow(
    'the query failed: unknown table kline (did you mean "klines"?); there are klines, trades, depth',
  );
  await expect(query(dir, 'SELECT * FROM sequences')).rejects.toThrow('unknown table sequences; there are klines,');
});
