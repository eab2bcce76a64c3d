/** What is exported as Parquet and imported again is the same, byte by byte, and so is what is exported once more. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ImportOptions, importFile } from '../import/import.ts';
import type { SeriesKey } from './kinds.ts';
import { loadSeries } from './load.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { exportSeries } from './query.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2024, 0, 31, 22);
/** Prices and quantities that no short binary fraction is. */
const price = (row: number): string => (100 + ((row * 7919) % 1_000) / 100).toFixed(2);
const quantity = (row: number): string => (((row * 104_729) % 99_991) / 1e5 + 1e-5).toFixed(5);
const rows = 3_000;
const text = (header: string, line: (row: number) => string): string =>
  `${header}${Array.from({ length: rows }, (_, row) => `${line(row)}\n`).join('')}`;

const cases: readonly (readonly [SeriesKey, string, string])[] = [
  [
    { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' },
    'klines.csv',
    text('time_ms,open,high,low,close,volume\n', (row) =>
      [start + row * 60_000, price(row), '120.01', '99.99', price(row + 1), quantity(row)].join(','),
    ),
  ],
  [
    { kind: 'trades', symbol: 'BTCUSDT' },
    'trades.csv',
    text('time_ms,price,qty,side\n', (row) =>
      [start + Math.floor(row / 2) * 5_001, price(row), quantity(row), row % 3 === 0 ? 'buy' : 'sell'].join(','),
    ),
  ],
  [
    { kind: 'depth', symbol: 'BTCUSDT' },
    'depth.jsonl',
    text('', (row) => {
      const [b, a] = [
        [99.98, 99.97],
        [100.01, 100.02],
      ].map((side) => side.map((at) => [at, Number(quantity(row))]));
      return JSON.stringify({ t: start + row * 5_000, b, a });
    }),
  ],
];

test.for(cases)('%j', async ([key, name, content]) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-round-trip-'));
  const take = async (into: string, file: string): Promise<Manifest> => {
    const given: ImportOptions = {
      dir: join(dir, into),
      ...key,
      endStamps: false,
      repair: new Set(),
      replace: false,
      now,
    };
    await importFile(join(dir, file), given);
    const found = readManifest(join(dir, into), key);
    if (found === undefined) throw new Error('nothing was stored');
    return found;
  };
  const hashOf = (file: string): string =>
    createHash('sha256')
      .update(readFileSync(join(dir, file)))
      .digest('hex');
  writeFileSync(join(dir, name), content);
  const first = await take('first', name);
  expect(first.months).toHaveLength(2);
  await exportSeries(join(dir, 'first'), first, join(dir, 'one.parquet'), {});
  const second = await take('second', 'one.parquet');
  expect(second.months).toEqual(first.months);
  expect([second.priceDecimals, second.quantityDecimals]).toEqual([first.priceDecimals, first.quantityDecimals]);
  await exportSeries(join(dir, 'second'), second, join(dir, 'two.parquet'), {});
  expect(hashOf('two.parquet')).toBe(hashOf('one.parquet'));
});

test('a Parquet file that was cut off or damaged is refused, not read as far as it goes', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-round-trip-'));
  const [key, name, content] = cases[0] as (typeof cases)[number];
  writeFileSync(join(dir, name), content);
  const given: ImportOptions = {
    dir: join(dir, 'data'),
    ...key,
    endStamps: false,
    repair: new Set(),
    replace: false,
    now,
  };
  await importFile(join(dir, name), given);
  const manifest = readManifest(join(dir, 'data'), key);
  if (manifest === undefined) throw new Error('nothing was stored');
  await exportSeries(join(dir, 'data'), manifest, join(dir, 'one.parquet'), {});
  const whole = readFileSync(join(dir, 'one.parquet'));
  const changed = Buffer.from(whole);
  // Small damage inside of a number is a number still: Parquet has no checksums.
  changed.fill(0x5a, Math.floor(whole.length / 20), Math.floor(whole.length * 0.9));
  const elsewhere = { ...given, dir: join(dir, 'other') };
  for (const bytes of [whole.subarray(0, whole.length / 2), whole.subarray(0, 6), changed]) {
    writeFileSync(join(dir, 'bad.parquet'), bytes);
    await expect(importFile(join(dir, 'bad.parquet'), elsewhere)).rejects.toThrow(
      /bad\.parquet is damaged or cut off \(Parquet: .*fetch the file again/,
    );
  }
  expect(readManifest(join(dir, 'other'), key)).toBeUndefined();
});

test('months of few and of many trades by turns are stored as they were', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-months-'));
  const key = { kind: 'trades', symbol: 'BTCUSDT' } as const;
  const sizes = [10, 60_000, 50_000, 3, 7, 11, 45_000, 5, 70_000];
  const times = sizes.flatMap((size, month) => Array.from({ length: size }, (_, row) => Date.UTC(2024, month) + row));
  const lines = times.map((time, row) => [time, price(row), quantity(row), 'buy'].join(','));
  writeFileSync(join(dir, 'trades.csv'), `time_ms,price,qty,side\n${lines.join('\n')}\n`);
  const given = { ...key, dir, endStamps: false, repair: new Set<never>(), replace: false, now };
  await importFile(join(dir, 'trades.csv'), given);
  const stored = readManifest(dir, key);
  expect(stored?.months.map(({ rows: count }) => count)).toEqual(sizes);
  const { columns } = await loadSeries(dir, stored as Manifest);
  expect(columns[0]).toEqual(Float64Array.from(times));
  expect(columns[1]).toEqual(Float64Array.from(times, (_, row) => Number(price(row))));
});
