/** What casts doubt on data goes with everything that is made of them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Repair } from '../check/finding.ts';
import { importFile } from '../import/import.ts';
import { storedKlines } from './klines.ts';
import { readManifest } from './manifest.ts';
import { storeResampled } from './store.ts';
import { storedTape } from './tape.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2024, 0, 10);
const options = { endStamps: false, replace: false, now, source: 'x', symbol: 'BTCUSDT' };

test('of trades: repairs, and a side that is broken', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 200 }, (_, row) => `${start + row * 1_000},100,1,sell\n`);
  const swapped = [...rows.slice(0, 50), rows[51], rows[50], ...rows.slice(52)].join('');
  writeFileSync(join(dir, 'x.csv'), `time_ms,price,qty,side\n${swapped}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, repair: new Set<Repair>(['sort']) });
  const tape = await storedTape(dir, { symbol: 'BTCUSDT', pricePrecision: 2, kinds: ['trades'] });
  expect(tape.warnings).toEqual([
    'BTCUSDT trades: repaired (sort): 1 row',
    expect.stringMatching(/^BTCUSDT trades: every trade is a SELL: the side is broken/),
  ]);
});

test('of klines: an outage that the source filled, also in what is made of them', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 600 }, (_, row) => {
    const price = row >= 100 && row < 130 ? 100 : 100 + (row % 7);
    return `${start + row * 60_000},${price},${price},${price},${price},${row >= 100 && row < 130 ? 0 : 1}\n`;
  });
  writeFileSync(join(dir, 'x.csv'), `time_ms,open,high,low,close,volume\n${rows.join('')}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  const filled = /30 klines without volume, longest run 30: quiet minutes, or an outage that was filled/;
  const wanted = { symbol: 'BTCUSDT', pricePrecision: 2 };
  expect((await storedKlines(dir, { ...wanted, interval: '1min' })).warnings).toEqual([expect.stringMatching(filled)]);
  const minutes = readManifest(dir, { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' });
  if (minutes === undefined) throw new Error('nothing was stored');
  await storeResampled(dir, minutes, { interval: '60min', zone: 'UTC', now });
  expect((await storedKlines(dir, { ...wanted, interval: '60min' })).warnings).toEqual([expect.stringMatching(filled)]);
});

test('of gaps: how much is missing, and the longest', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = [0, 1, 2, 10, 11, 3_000, 3_001].map((row) => `${start + row * 60_000},100,101,99,100.${row % 7},1\n`);
  writeFileSync(join(dir, 'x.csv'), `time_ms,open,high,low,close,volume\n${rows.join('')}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  const { warnings } = await storedKlines(dir, { symbol: 'BTCUSDT', pricePrecision: 2, interval: '1min' });
  expect(warnings).toEqual([
    `BTCUSDT 1min: 2 gaps, 2,995 klines missing, longest 2.1 days (${new Date(start + 12 * 60_000).toISOString().replace('.000Z', 'Z')})`,
  ]);
});
