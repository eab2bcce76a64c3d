/** Files of trades that overlap what is stored, and stretches of which it is known that nobody looked. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ImportOptions, type ImportResult, importFile } from '../import/import.ts';
import { ledgerOf } from './ledger.ts';
import { loadSeries } from './load.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2024, 0, 10);
/** Trades by second and price, as `5@101`. */
const csv = (...trades: readonly string[]): string => {
  const rows = trades.map((text) => text.split('@').map(Number));
  return `time_ms,price,qty,side\n${rows.map(([second = 0, price]) => `${start + second * 1_000},${price},1,buy\n`).join('')}`;
};

function place() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-overlap-'));
  const manifest = (): Manifest => {
    const found = readManifest(dir, { kind: 'trades', symbol: 'BTCUSDT' });
    if (found === undefined) throw new Error('there is no series');
    return found;
  };
  return {
    manifest,
    prices: async () => [...((await loadSeries(dir, manifest())).columns[1] ?? [])],
    take(content: string, options: Partial<ImportOptions> = {}): Promise<ImportResult> {
      writeFileSync(join(dir, 'BTCUSDT-trades.csv'), content);
      const given = { dir, endStamps: false, repair: new Set<never>(), replace: false, now };
      return importFile(join(dir, 'BTCUSDT-trades.csv'), { ...given, ...options });
    },
  };
}

test.for<[string, string, string, number[], number]>([
  ['that goes on', csv('1@1', '2@2', '3@3'), csv('2@2', '3@3', '4@4'), [1, 2, 3, 4], 1],
  ['that begins earlier', csv('3@3', '4@4'), csv('1@1', '3@3', '4@4'), [1, 3, 4], 1],
  ['that lies within', csv('1@1', '2@2', '3@3'), csv('2@2'), [1, 2, 3], 0],
  ['that lies around', csv('2@2'), csv('1@1', '2@2', '3@3'), [1, 2, 3], 2],
  ['that begins within a moment', csv('1@1', '2@2', '2@3'), csv('2@3', '4@4'), [1, 2, 3, 4], 1],
  ['of which the stored one ends within a moment', csv('1@1', '2@2'), csv('2@2', '2@3', '4@4'), [1, 2, 3, 4], 2],
])('a file %s is put together with what is stored', async ([, stored, fresh, prices, added]) => {
  const here = place();
  await here.take(stored);
  expect(await here.take(fresh)).toMatchObject({ added, replaced: 0 });
  expect(await here.prices()).toEqual(prices);
});

test.for<[string, string]>([
  ['that lacks a stored trade', csv('1@1', '3@3', '4@4')],
  ['that knows another price', csv('1@1', '2@9', '3@3', '4@4')],
])('a file %s is refused until it may replace', async ([, fresh]) => {
  const here = place();
  await here.take(csv('1@1', '2@2', '3@3'));
  await expect(here.take(fresh)).rejects.toThrow(/would give way to other ones/);
  expect(await here.prices()).toEqual([1, 2, 3]);
  await here.take(fresh, { replace: true });
  expect(await here.prices()).toHaveLength(fresh.split('\n').length - 2);
});

test('a stretch that nobody looked at is in the ledger until a file covers it', async () => {
  const here = place();
  const holes = [[start + 1_000, start + 3_000]] as const;
  await here.take(csv('1@1', '3@3'), { holes });
  expect(ledgerOf(here.manifest())).toMatchObject([{ from: start + 1_000, to: start + 3_000, channel: 'trades' }]);
  await here.take(csv('2@2'));
  expect(ledgerOf(here.manifest())).toHaveLength(1);
  await here.take(csv('1@1', '2@2', '3@3'));
  expect(ledgerOf(here.manifest())).toEqual([]);
});
