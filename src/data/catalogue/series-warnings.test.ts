/** What casts doubt on data goes with everything that is made of them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Repair } from '../check/finding.ts';
import { importFile } from '../import/import.ts';
import { formats } from '../import/layout.ts';
import { readManifest } from './manifest.ts';
import { storedKlines, storedTape } from './run-data.ts';
import { storeResampled } from './store.ts';

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
    expect.stringMatching(/^BTCUSDT trades: every trade is a SELL: the side in the source is wrong/),
  ]);
});

test('of trades: quantities that may count contracts', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const name = 'BTCUSD_PERP-aggTrades-2024-01-10.csv';
  const rows = Array.from(
    { length: 200 },
    (_, row) => `${row},100,20,1,1,${start + row * 1_000},${row % 2 === 0},true\n`,
  );
  writeFileSync(join(dir, name), rows.join(''));
  await importFile(join(dir, name), {
    ...options,
    ...formats['binance-aggtrades'],
    dir,
    repair: new Set<Repair>(),
    source: 'x',
  });
  const tape = await storedTape(dir, { symbol: 'BTCUSDT', pricePrecision: 2, kinds: ['trades'] });
  const what = 'BTCUSDT trades: quantities are whole numbers, so they may be contracts (USD_PERP)';
  expect(tape.warnings).toEqual([
    `${what}: they are read as quantities in the base asset, so orders may fill far too much`,
  ]);
  expect(tape.doubts).toEqual([what]);
});

test('of what came in by many imports: a few of a kind, and how many more there are', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  for (let part = 0; part < 6; part++) {
    const rows = Array.from({ length: 120 }, (_, row) =>
      kline(part * 120 + row, row === 60 + part ? '100,140,99,140,1' : `100,140,99,100.${row % 7},1`),
    );
    writeFileSync(join(dir, 'x.csv'), `${header}${rows.join('')}`);
    await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  }
  const { warnings, doubts } = await storedKlines(dir, { symbol: 'BTCUSDT', pricePrecision: 2, interval: '1min' });
  const one = expect.stringMatching(/^BTCUSDT 1min: 1 close more than 20 % from both neighbours \(/);
  const more = '3 findings more of this kind in other imports: sluice data check BTCUSDT lists all';
  const wick = expect.stringMatching(/beyond its close and the kline before .* a flash crash or a wrong print/);
  expect(warnings).toEqual([one, one, one, `BTCUSDT 1min: ${more}`, wick, wick, wick, `BTCUSDT 1min: ${more}`]);
  expect(doubts).toEqual(['BTCUSDT 1min: 1 close more than 20 % from both neighbours']);
});

test('of books that came in by many imports: a few of them, and how many there are', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  for (let hour = 0; hour < 6; hour++) {
    // All but some of the seconds, of which each hour has more.
    const seconds = Array.from({ length: 600 }, (_, second) => second).filter((second) => second % 30 > 5 + hour);
    const book = (second: number): string =>
      JSON.stringify({ t: start + hour * 3_600_000 + second * 1_000, b: [[100 + (second % 7), 1]], a: [[110, 1]] });
    writeFileSync(join(dir, 'x.jsonl'), `${seconds.map(book).join('\n')}\n`);
    await importFile(join(dir, 'x.jsonl'), { ...options, dir, kind: 'depth', repair: new Set<Repair>() });
  }
  const { warnings } = await storedTape(dir, { symbol: 'BTCUSDT', pricePrecision: 2, kinds: ['depth'] });
  const found = expect.stringMatching(/^BTCUSDT depth: [\d.]+ % of the time without a book of the last 3 s/);
  expect(warnings).toEqual([
    expect.stringMatching(/^BTCUSDT depth: 5 gaps/),
    ...[found, found, found],
    'BTCUSDT depth: 3 findings more of this kind in other imports: sluice data check BTCUSDT lists all',
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
  const filled =
    /30 klines without volume, longest run 30 \(first 2024-01-10T01:40:00Z\): quiet minutes, or an outage that was filled/;
  const query = { symbol: 'BTCUSDT', pricePrecision: 2 };
  expect((await storedKlines(dir, { ...query, interval: '1min' })).warnings).toEqual([expect.stringMatching(filled)]);
  const minutes = readManifest(dir, { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' });
  if (minutes === undefined) throw new Error('nothing was stored');
  await storeResampled(dir, minutes, { interval: '60min', zone: 'UTC', now });
  expect((await storedKlines(dir, { ...query, interval: '60min' })).warnings).toEqual([expect.stringMatching(filled)]);
});

test('of gaps: how much is missing, the longest, and the first', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = [0, 1, 2, 10, 11, 3_000, 3_001].map((row) => `${start + row * 60_000},100,101,99,100.${row % 7},1\n`);
  writeFileSync(join(dir, 'x.csv'), `time_ms,open,high,low,close,volume\n${rows.join('')}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  const { warnings } = await storedKlines(dir, { symbol: 'BTCUSDT', pricePrecision: 2, interval: '1min' });
  const text = (row: number): string => new Date(start + row * 60_000).toISOString().replace('.000Z', 'Z');
  expect(warnings).toEqual([
    `BTCUSDT 1min: 2 gaps, 2,995 klines missing, longest 2.1 days from ${text(12)} on (first ${text(3)})`,
  ]);
});

const kline = (row: number, values: string): string => `${start + row * 60_000},${values}\n`;
const header = 'time_ms,open,high,low,close,volume\n';

test('of klines: in one line what sources are known for, once, however often a file was imported', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 120 }, (_, row) =>
    kline(row, row === 7 ? '105,102,99,100,0' : `100,102,99,100.${row % 7},1`),
  );
  writeFileSync(join(dir, 'x.csv'), `${header}${rows.join('')}`);
  for (let times = 0; times < 2; times++)
    await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  const line = 'BTCUSDT 1min: 120 klines, used as recorded: 1 opens outside [low, high], 1 has no volume';
  const query = { symbol: 'BTCUSDT', pricePrecision: 2 };
  expect((await storedKlines(dir, { ...query, interval: '1min' })).warnings).toEqual([line]);
  expect((await storedKlines(dir, { ...query, interval: '60min' })).warnings).toEqual([
    line,
    expect.stringMatching(/^BTCUSDT: 60min made from 1min/),
  ]);
});

test('of outliers: when, and not the line of a file that is not at hand', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 120 }, (_, row) =>
    kline(row, row === 60 ? '100,140,99,140,1' : `100,140,99,100.${row % 7},1`),
  );
  writeFileSync(join(dir, 'x.csv'), `${header}${rows.join('')}`);
  for (let times = 0; times < 2; times++)
    await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>() });
  const { warnings } = await storedKlines(dir, { symbol: 'BTCUSDT', pricePrecision: 2, interval: '1min' });
  expect(warnings.filter((text) => text.includes('20 % from both'))).toEqual([
    'BTCUSDT 1min: 1 close more than 20 % from both neighbours (2024-01-10T01:00:00Z: close 140): one wrong print can decide the result',
  ]);
});

test('of rows that were still to come when they were imported', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 120 }, (_, row) => kline(row, `100,102,99,100.${row % 7},1`));
  writeFileSync(join(dir, 'x.csv'), `${header}${rows.join('')}`);
  const early = { ...options, dir, now: start + 60 * 60_000, interval: '1min', repair: new Set<Repair>() } as const;
  await importFile(join(dir, 'x.csv'), early);
  const { warnings } = await storedKlines(dir, { symbol: 'BTCUSDT', pricePrecision: 2, interval: '1min' });
  expect(warnings).toEqual([
    'BTCUSDT 1min: times reach to 2024-01-10T01:59:00Z, which is after 2024-01-10, today: the dates are wrong, or the rows are invented',
  ]);
});

test('of a part: what lies in it, of klines as if they alone were stored', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const there = Array.from({ length: 600 }, (_, row) => row).filter((row) => row !== 50 && (row < 400 || row >= 410));
  const rows = there.map((row) =>
    kline(
      row,
      row >= 200 && row < 230 ? '100,101,99,100.5,7' : `100,102,99,100.${row % 7},${row >= 300 && row < 320 ? 0 : 1}`,
    ),
  );
  const swapped = rows.with(5, rows[6] as string).with(6, rows[5] as string);
  writeFileSync(join(dir, 'x.csv'), `${header}${swapped.join('')}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, interval: '1min', repair: new Set<Repair>(['sort']) });
  const of = (from: number, to: number, interval: '1min' | '5min' = '1min') =>
    storedKlines(dir, {
      ...{ symbol: 'BTCUSDT', pricePrecision: 2, interval },
      part: { from: start + from * 60_000, to: start + to * 60_000 },
    });
  const repaired = 'BTCUSDT 1min: repaired (sort): 1 row';
  const all = await of(0, 600);
  expect(all.doubts).toEqual([repaired, expect.stringMatching(/^BTCUSDT 1min: 29 klines that repeat/)]);
  expect(all.warnings).toHaveLength(4);
  expect(all.gaps).toHaveLength(2);
  const other = `${repaired}, of all stored data`;
  const first = await of(60, 200);
  expect(first).toMatchObject({ warnings: [other], doubts: [other] });
  // Strategies receive all of them.
  expect(first.gaps).toHaveLength(2);
  expect((await of(220, 420)).warnings).toEqual([
    'BTCUSDT 1min: 1 gap, 10 klines missing, longest 10 min (2024-01-10T06:40:00Z)',
    other,
    expect.stringMatching(/20 klines without volume, longest run 20/),
  ]);
  const { warnings } = await of(205, 260, '5min');
  expect(warnings).toEqual([
    other,
    expect.stringMatching(/24 klines that repeat/),
    expect.stringMatching(/5min made from/),
  ]);
});

test('of a part of trades: what is known to lie elsewhere is left out', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stamps-'));
  const rows = Array.from({ length: 300 }, (_, row) => {
    const time = start + row * 1_000 + (row >= 200 ? 600_000 : 0);
    return `${time},${row === 100 ? 140 : 100},1,${row % 2 === 0 ? 'buy' : 'sell'}\n`;
  });
  writeFileSync(join(dir, 'x.csv'), `time_ms,price,qty,side\n${rows.join('')}`);
  await importFile(join(dir, 'x.csv'), { ...options, dir, repair: new Set<Repair>() });
  const of = async (from: number, to: number) => {
    const span = { from: start + from * 1_000, to: start + to * 1_000 };
    return (await storedTape(dir, { symbol: 'BTCUSDT', pricePrecision: 2, kinds: ['trades'], ...span })).warnings;
  };
  expect(await of(0, 90)).toEqual([]);
  expect(await of(0, 150)).toEqual([expect.stringMatching(/1 price more than 20 % .*, of all stored data/)]);
  expect(await of(150, 300)).toEqual([expect.stringMatching(/^BTCUSDT trades: 1 gap, longest 10 min/)]);
});
