/** Files of trades and books that overlap what is stored, and stretches that are known not to be recorded. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ImportOptions, type ImportResult, importFile } from '../import/import.ts';
import { ledgerOf } from './gap-ledger.ts';
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

function place(kind: 'trades' | 'depth' = 'trades') {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-overlap-'));
  const manifest = (): Manifest => {
    const found = readManifest(dir, { kind, symbol: 'BTCUSDT' });
    if (found === undefined) throw new Error('there is no series');
    return found;
  };
  return {
    manifest,
    prices: async () => [...((await loadSeries(dir, manifest())).columns[1] ?? [])],
    columns: async () => (await loadSeries(dir, manifest())).columns.map((column) => [...column]),
    take(content: string, options: Partial<ImportOptions> = {}): Promise<ImportResult> {
      const path = join(dir, kind === 'trades' ? 'BTCUSDT-trades.csv' : 'BTCUSDT-books.jsonl');
      writeFileSync(path, content);
      const given = { dir, endStamps: false, repair: new Set<never>(), replace: false, now };
      return importFile(path, { ...given, ...options });
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
  ['that begins earlier and ends within a moment', csv('2@2', '2@3', '4@4'), csv('1@1', '2@2'), [1, 2, 3, 4], 1],
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
  await expect(here.take(fresh)).rejects.toThrow(/would be replaced by different ones/);
  expect(await here.prices()).toEqual([1, 2, 3]);
  await here.take(fresh, { replace: true });
  expect(await here.prices()).toHaveLength(fresh.split('\n').length - 2);
});

/** Books by second and bid, as `5@101`: two levels a side. */
const books = (...all: readonly string[]): string =>
  all
    .map((text) => text.split('@').map(Number))
    .map(([second = 0, bid = 0]) => {
      const levels = { b: [`[${bid},1]`, `[${bid - 1},2]`].join(), a: [`[${bid + 1},1]`, `[${bid + 2},2]`].join() };
      return `{"t":${start + second * 1_000},"b":[${levels.b}],"a":[${levels.a}]}\n`;
    })
    .join('');

test.for<[string, string, string, string, number]>([
  ['that goes on', books('1@50', '2@60'), books('2@60', '3@70'), '50,60,70', 1],
  ['that begins earlier', books('2@60', '3@70'), books('1@50', '2@60'), '50,60,70', 1],
  ['that lies within', books('1@50', '2@60', '3@70'), books('2@60'), '50,60,70', 0],
  ['that knows books between', books('1@50', '3@70'), books('1@50', '2@60', '3@70'), '50,60,70', 1],
])('a file of books %s is put together with what is stored', async ([, stored, fresh, bids, added]) => {
  const here = place('depth');
  await here.take(stored);
  expect(await here.take(fresh)).toMatchObject({ added: 4 * added, replaced: 0 });
  const [, numbers = [], sides = [], prices = []] = await here.columns();
  expect(prices.filter((_, row) => sides[row] === 1 && row % 4 === 0).join()).toBe(bids);
  expect(numbers).toEqual(numbers.map((_, row) => Math.floor(row / 4)));
});

test.for<[string, string]>([
  ['that knows other levels', books('1@50', '2@61', '3@70')],
  ['that lacks a stored book', books('1@50', '3@70')],
])('a file of books %s is refused until it may replace', async ([, fresh]) => {
  const here = place('depth');
  await here.take(books('1@50', '2@60'));
  await expect(here.take(fresh)).rejects.toThrow(/would be replaced by different ones/);
  await here.take(fresh, { replace: true });
  expect((await here.columns())[0]).toHaveLength(4 * (fresh.split('\n').length - 1));
});

/** So many days on: in the months after. */
const day = 86_400;
test.for<[string, string, string, number, number[]]>([
  [
    'that lacks the end of one month and the beginning of the next',
    csv('1@1', `${21 * day}@2`, `${22 * day}@3`, `${40 * day}@4`),
    csv('1@9', `${40 * day}@8`),
    4,
    [9, 8],
  ],
  [
    'that lacks a month',
    csv('0@1', `${30 * day}@2`, `${31 * day}@3`, `${60 * day}@4`, `${70 * day}@5`),
    csv('1@2', `${60 * day}@8`),
    3,
    [1, 2, 8, 5],
  ],
])('a file %s is refused until it may replace what it covers', async ([, stored, fresh, replaced, prices]) => {
  const here = place();
  await here.take(stored);
  await expect(here.take(fresh)).rejects.toThrow(`${replaced} stored rows (the first of`);
  expect(await here.take(fresh, { replace: true })).toMatchObject({ added: 2, known: 0, replaced });
  expect(await here.prices()).toEqual(prices);
});

test('a file that has a part of what is stored is no contradiction, and replaces it when asked to', async () => {
  const here = place();
  await here.take(csv('1@1', '2@2', '2@2', `${31 * day}@3`, `${60 * day}@4`));
  const fresh = csv('1@1', '2@2', `${60 * day}@4`);
  expect(await here.take(fresh)).toMatchObject({ added: 0, known: 3, replaced: 0 });
  expect(await here.prices()).toEqual([1, 2, 2, 3, 4]);
  expect(await here.take(fresh, { replace: true })).toMatchObject({ added: 0, known: 3, replaced: 2 });
  expect(await here.prices()).toEqual([1, 2, 4]);
});

test('what was found in trades that were all replaced is not reported any more', async () => {
  const here = place();
  const rows = Array.from({ length: 40 }, (_, row) => `${row}@${1 + (row % 7) / 10}`);
  const twice = rows.flatMap((row, at) => (at > 5 && at < 35 ? [row, row] : [row]));
  await here.take(csv(...twice));
  const found = (): readonly string[] =>
    here.manifest().imports.flatMap((one) => one.findings.map(({ check }) => check));
  expect(found()).toContain('delivered-twice');
  await here.take(csv(...rows.slice(1)), { replace: true });
  expect(found()).toContain('delivered-twice');
  await here.take(csv(...rows), { replace: true });
  expect(found()).toEqual([]);
});

test('a stretch that was not recorded is in the ledger until a file covers it', async () => {
  const here = place();
  const holes = [[start + 1_000, start + 3_000]] as const;
  await here.take(csv('1@1', '3@3'), { holes });
  expect(ledgerOf(here.manifest())).toMatchObject([{ from: start + 1_000, to: start + 3_000, channel: 'trades' }]);
  await here.take(csv('2@2'));
  expect(ledgerOf(here.manifest())).toHaveLength(1);
  await here.take(csv('1@1', '2@2', '3@3'));
  expect(ledgerOf(here.manifest())).toEqual([]);
});
