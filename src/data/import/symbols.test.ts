/** Files whose rows are of several symbols. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuck, quoted } from '../catalogue/duckdb.ts';
import { type ImportResult, importFile } from './import.ts';

const at = Date.UTC(2024, 0, 1);
const now = Date.UTC(2026, 5, 1);

function place() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-symbols-'));
  return {
    dir,
    take(name: string, text?: string, columns?: readonly string[]): Promise<ImportResult> {
      if (text !== undefined) writeFileSync(join(dir, name), text);
      const options = { kind: 'trades' as const, symbol: 'BTCUSDT', endStamps: false, repair: new Set<never>() };
      const given = { ...options, ...(columns !== undefined && { columns }) };
      return importFile(join(dir, name), { ...given, dir: join(dir, 'data'), replace: false, now });
    },
  };
}

/** Tardis trades, a second apart, each of what is said of its row. */
const csv = (rows: number, symbol: (row: number) => string): string =>
  `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n${Array.from(
    { length: rows },
    (_, row) => `"a, ""b",${symbol(row)},${at + row * 1_000},${at + row * 1_000},${row},buy,${100 + (row % 7)},1\n`,
  ).join('')}`;
const objects = (rows: number, symbol: (row: number) => string): string =>
  Array.from(
    { length: rows },
    (_, row) => `{"time":${at + row * 1_000},"symbol":"${symbol(row)}","side":"buy","price":1,"qty":1}\n`,
  ).join('');
const byTurns = (row: number): string => (row % 2 === 0 ? 'BTCUSDT' : 'ETHUSDT');

test.for<[string, string, string, RegExp]>([
  ['by turns', 'trades_PERPETUALS.csv', csv(10, byTurns), /several symbols \(BTCUSDT and ETHUSDT\).*by symbol/],
  [
    'of which one comes late',
    'trades_PERPETUALS.csv',
    csv(9_000, (row) => (row === 8_997 ? 'ETHUSDT' : 'BTCUSDT')),
    /several symbols \(BTCUSDT, and ETHUSDT in line 8999\)/,
  ],
  ['by turns in JSON', 'trades.jsonl', objects(10, byTurns), /several symbols \(BTCUSDT and ETHUSDT\)/],
  [
    'of which one comes late in JSON',
    'trades.jsonl',
    objects(900, (row) => (row === 898 ? 'ETHUSDT' : 'BTCUSDT')),
    /several symbols \(BTCUSDT, and ETHUSDT in line 899\)/,
  ],
  [
    'by turns, in a column of pairs',
    'trades.csv',
    csv(10, byTurns).replace('symbol', 'pair'),
    /several symbols \(BTCUSDT and ETHUSDT\)/,
  ],
  [
    'by turns, as a stream of Binance says it',
    'trades.jsonl',
    objects(10, byTurns).replaceAll('"symbol"', '"s"'),
    /several symbols \(BTCUSDT and ETHUSDT\)/,
  ],
])('trades %s are refused, whatever symbol is said', async ([, name, text, message]) => {
  const here = place();
  await expect(here.take(name, text)).rejects.toThrow(message);
  expect(existsSync(join(here.dir, 'data', 'trades', 'BTCUSDT', 'series.json'))).toBe(false);
});

test.for<[string, string, readonly string[]]>([
  ['CSV', csv(10, byTurns), ['-', '-', 'time', '-', '-', 'side', 'price', 'qty']],
  ['JSON', objects(10, byTurns), ['time', '-', 'side', 'price', 'qty']],
])('a column of symbols that is left out is checked all the same, in %s', async ([, text, columns]) => {
  await expect(place().take('trades.data', text, columns)).rejects.toThrow(/several symbols \(BTCUSDT and ETHUSDT\)/);
});

test('quantities are no symbols, whatever their column is called', async () => {
  const here = place();
  const columns = ['time', 'price', 'qty', 'side'];
  const row = (at: number): string => JSON.stringify({ t: now - 1_000 + at, p: 1, s: at + 0.5, tks: 'buy' });
  const text = [0, 1, 2].map(row).join('\n');
  await expect(here.take('trades.jsonl', text)).rejects.toThrow(/no column for/);
  const duck = await openDuck(1);
  const select = `SELECT ${at} + i * 1000 AS t, 1.5 AS p, i + 0.5 AS s, 'buy' AS tks FROM range(10) t(i)`;
  await duck.connection.run(`COPY (${select}) TO ${quoted(join(here.dir, 'a.parquet'))} (FORMAT parquet)`);
  duck.close();
  expect(await here.take('a.parquet', undefined, columns)).toMatchObject({ added: 10 });
});

test('one symbol, however it is spelt, is one', async () => {
  const spellings = ['BTCUSDT', 'btc-usdt', '"BTC/USDT"', ''];
  const text = csv(3_000, (row) => spellings[row % 4] ?? '');
  expect(await place().take('trades.csv', text)).toMatchObject({ added: 3_000 });
});

test('a header that comes again and a line that is cut off are no symbols, but lines that cannot be read', async () => {
  const rows = csv(300, () => 'BTCUSDT');
  const again = `${rows}${csv(600, () => 'BTCUSDT').replace(rows.slice(rows.indexOf('\n') + 1), '')}"a",BTCU`;
  await expect(place().take('trades.csv', again)).rejects.toThrow(/2 lines that cannot be read .*\(first line 302: /);
});

test('trades of several symbols in Parquet are refused', async () => {
  const here = place();
  const duck = await openDuck(1);
  const select = `SELECT ${at} + i * 1000 AS time_ms, 1.5 AS price, 1.5 AS qty, 'buy' AS side, CASE WHEN i = 9 THEN 'ETHUSDT' ELSE 'BTCUSDT' END AS symbol FROM range(10) t(i)`;
  await duck.connection.run(`COPY (${select}) TO ${quoted(join(here.dir, 'all.parquet'))} (FORMAT parquet)`);
  await duck.connection.run(
    `COPY (${select} WHERE i < 9) TO ${quoted(join(here.dir, 'a[l]l.parquet'))} (FORMAT parquet)`,
  );
  duck.close();
  await expect(here.take('all.parquet')).rejects.toThrow(/several symbols/);
  expect(await here.take('a[l]l.parquet')).toMatchObject({ added: 9 });
});
