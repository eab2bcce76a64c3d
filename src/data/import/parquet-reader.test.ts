/** Parquet as people make it with pandas, polars or DuckDB: every value is read as it stands there, or refused. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDuck, quoted } from '../catalogue/duckdb.ts';
import type { SeriesKey } from '../catalogue/kinds.ts';
import { loadSeries } from '../catalogue/load.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { type ImportOptions, type ImportResult, importFile } from './import.ts';

// A machine whose clocks are not those of UTC, set before DuckDB reads it.
process.env['TZ'] = 'America/New_York';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);
const start = Date.UTC(2024, 0, 1);
const klines = { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' } as const;
const trades = { kind: 'trades', symbol: 'BTCUSDT' } as const;
const depth = { kind: 'depth', symbol: 'BTCUSDT' } as const;

const moment = `make_timestamp((${start} + i * 60000) * 1000)`;
const prices = '1.0 AS open, 2.0 AS high, 0.5 AS low, 1.5 AS close';
const kline = (time = moment, volume = '(7 + i)::DOUBLE'): string => `${time} AS t, ${prices}, ${volume} AS volume`;
const tradeAt = `${start} + i * 1001`;
const trade = ({ time = tradeAt, side = `CASE WHEN i % 2 = 0 THEN 'buy' ELSE 'sell' END` } = {}): string =>
  `${time} AS t, 100 + i * 0.01 AS price, 0.1 AS qty, ${side} AS side`;

/** Imports the rows of a select for i from 0. */
async function take(
  key: SeriesKey,
  select: string,
  {
    rows = 10,
    name = 'given',
    isStated = true,
    ...options
  }: Partial<ImportOptions> & { readonly rows?: number; readonly name?: string; readonly isStated?: boolean } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-parquet-rows-'));
  const path = join(dir, `${name}.parquet`);
  mkdirSync(dirname(path), { recursive: true });
  const duck = await openDuck(1);
  await duck.connection.run(`COPY (SELECT ${select} FROM range(${rows}) r(i)) TO ${quoted(path)} (FORMAT parquet)`);
  // A file that a pattern of that name fits.
  await duck.connection.run(`COPY (SELECT 1 AS other) TO ${quoted(join(dir, 'given1.parquet'))} (FORMAT parquet)`);
  duck.close();
  const { kind, ...named } = key;
  const target = { dir: join(dir, 'data'), endStamps: false, repair: new Set<never>(), replace: false, now };
  const given: ImportOptions = { ...named, ...target, ...(isStated && { kind }) };
  const result: ImportResult = await importFile(path, { ...given, ...options });
  const manifest = readManifest(join(dir, 'data'), key);
  if (manifest === undefined) throw new Error('nothing was stored');
  const { columns } = await loadSeries(join(dir, 'data'), manifest);
  return { result, column: (at: number): number[] => [...(columns[at] ?? [])] };
}

const book = (ask: string): string =>
  `${start} + i // 2 * 1000 AS time_ms, i // 2 AS book, CASE WHEN i % 2 = 0 THEN 'BID' ELSE ${ask} END AS side, 100 + i * 0.5 AS price, 1.0 AS quantity`;

test.for([
  [klines, kline()],
  [trades, trade()],
  [depth, book("'ASK'")],
] as const)('what it holds is known by the names of its columns: %j', async ([key, select]) => {
  const { result, column } = await take(key, select, { isStated: false });
  expect(result.key).toEqual(key);
  expect(column(0)).toEqual((await take(key, select)).column(0));
});

test('a kind that the names do not show has to be stated', async () => {
  await expect(take(trades, `${start} + i AS t, 1.5 AS value`, { isStated: false })).rejects.toThrow(
    /given\.parquet is Parquet, and its column names do not identify its contents: add --as klines, trades or depth/,
  );
});

const upTo = (rows: number, value: (row: number) => number): number[] =>
  Array.from({ length: rows }, (_, row) => value(row));

describe('times', () => {
  test.for([
    ['with a zone', `make_timestamptz((${start} + i * 60000) * 1000)`],
    ['without', moment],
    ['of ns', `make_timestamp_ns((${start} + i * 60000) * 1000000)`],
    ['as ms', `${start} + i * 60000`],
  ])('%s are the same ones on a machine of any zone', async ([, time]) => {
    const { column } = await take(klines, kline(time));
    expect(column(0)).toEqual(upTo(10, (row) => start + row * 60_000));
  });

  test.for(['BIGINT', 'DOUBLE'])('in ns, as %s, are read in their ms, not in the one before', async (type) => {
    const { column } = await take(trades, trade({ time: `((${tradeAt}) * 1000000)::${type}` }), { rows: 1_000 });
    expect(column(0)).toEqual(upTo(1_000, (row) => start + row * 1_001));
  });

  test('finer than ms are cut off', async () => {
    const { column } = await take(trades, trade({ time: `(${tradeAt}) * 1000000 + 999999` }));
    expect(column(0)).toEqual(upTo(10, (row) => start + row * 1_001));
  });

  test('that name no zone are refused where one is stated, and others need none', async () => {
    await expect(take(klines, kline(), { zone: 'Europe/Berlin' })).rejects.toThrow(
      /given\.parquet: t has times without a zone, which are read as UTC in Parquet: .*tz_localize\('Europe\/Berlin'\)\) and leave out --zone/,
    );
    await take(klines, kline(), { zone: 'UTC' });
    await take(klines, kline(`make_timestamptz((${start} + i * 60000) * 1000)`), { zone: 'Europe/Berlin' });
  });

  test('that name no zone are reported, and checked for hours that clocks leave out', async () => {
    const noted = async (time: string, options = {}) => {
      const { result } = await take(klines, kline(time), { rows: 300, ...options });
      return result.findings
        .filter(({ check }) => check === 'assumed' || check === 'zone')
        .map(({ check, what }) => [check, what]);
    };
    const note = ['assumed', expect.stringMatching(/^times \(t\) have no zone and are read as UTC/)];
    expect(await noted(moment)).toEqual([note]);
    expect(await noted(moment, { zone: 'UTC' })).toEqual([]);
    expect(await noted(`make_timestamptz((${start} + i * 60000) * 1000)`)).toEqual([]);
    const spring = Date.UTC(2024, 2, 31);
    const left = `make_timestamp((${spring} + i * 60000 + CASE WHEN i < 120 THEN 0 ELSE 3600000 END) * 1000)`;
    expect(await noted(left)).toEqual([note, ['zone', expect.stringMatching(/Europe\/Berlin/)]]);
  });

  test('that are missing are refused, and no row behind them is lost', async () => {
    const select = trade({ time: `CASE WHEN i <> 500 THEN ${tradeAt} END` });
    await expect(take(trades, select, { rows: 2_000 })).rejects.toThrow(
      /1 line that cannot be read \(line 501: t is empty or not a time in s, ms, µs or ns since 1970\).*--repair unreadable/,
    );
    const { column } = await take(trades, select, { rows: 2_000, repair: new Set(['unreadable'] as const) });
    expect(column(0)).toEqual(upTo(2_000, (row) => start + row * 1_001).toSpliced(500, 1));
    expect(column(1)).toHaveLength(1_999);
  });
});

test.for(['NULL', "'nan'::DOUBLE", "'inf'::DOUBLE"])(
  'a volume of %s is refused, and none of another row',
  async (none) => {
    const select = kline(moment, `CASE WHEN i % 100 = 50 THEN ${none} ELSE (7 + i)::DOUBLE END`);
    await expect(take(klines, select, { rows: 5_000 })).rejects.toThrow(
      /50 lines that cannot be read \(first line 51: volume is empty or not a number\)/,
    );
    const { result, column } = await take(klines, select, { rows: 5_000, repair: new Set(['unreadable'] as const) });
    expect(result.repaired).toEqual([{ repair: 'unreadable', rows: 50, first: { line: 51 } }]);
    expect(column(5)).toEqual(upTo(5_000, (row) => 7 + row).filter((_, row) => row % 100 !== 50));
  },
);

test('prices as floats of 32 bits are the decimals that were meant', async () => {
  const { column, result } = await take(trades, trade().replace('100 + i * 0.01', '(41985.07 + i * 0.1)::FLOAT'));
  expect(column(1)).toEqual(upTo(10, (row) => (4_198_507 + row * 10) / 100));
  expect(result.findings.map(({ check }) => check)).toEqual([]);
});

describe('sides', () => {
  test.for([
    ['buy', 'sell'],
    ['BUY', 'SELL'],
    ['bid', 'ask'],
    ['b', 's'],
  ])('of trades may be %s and %s', async ([buy, sell]) => {
    const { column } = await take(trades, trade({ side: `CASE WHEN i % 2 = 0 THEN '${buy}' ELSE '${sell}' END` }));
    expect(column(3)).toEqual(upTo(10, (row) => (row % 2 === 0 ? 1 : -1)));
  });

  test.for(["'unknown'", 'NULL', "''"])('of trades are refused where one is %s', async (side) => {
    await expect(take(trades, trade({ side: `CASE WHEN i > 2 THEN 'buy' ELSE ${side} END` }))).rejects.toThrow(
      /3 lines that cannot be read \(first line 1: side is empty or not buy or sell\)/,
    );
  });

  test.for(['BOOLEAN', 'INTEGER', 'DOUBLE', 'VARCHAR'])('by who made the market may be %s', async (type) => {
    const by = (flag: string): string =>
      `${tradeAt} AS t, 100.0 AS price, 0.1 AS qty, (${flag})::BOOLEAN::${type} AS is_buyer_maker`;
    const { column } = await take(trades, by('i % 2'));
    expect(column(3)).toEqual(upTo(10, (row) => (row % 2 === 0 ? 1 : -1)));
    await expect(take(trades, by('CASE WHEN i > 3 THEN true END'))).rejects.toThrow(
      /4 lines that cannot be read \(first line 1: is_buyer_maker is empty or not true or false\)/,
    );
  });

  test('of books may be written large, and no other word is an ask', async () => {
    const { column } = await take(depth, book("'ASK'"));
    expect(column(2)).toEqual(upTo(10, (row) => (row % 2 === 0 ? 1 : -1)));
    await expect(take(depth, book("'offer'"))).rejects.toThrow(
      /5 lines that cannot be read \(first line 2: side is empty/,
    );
  });
});

test('books that are laid out otherwise are refused by what they miss', async () => {
  await expect(take(depth, trade())).rejects.toThrow(
    /no column for time_ms, book, quantity among "t,price,qty,side": books in Parquet have a row for each level/,
  );
});

test('contracts beside what was traded in coins are refused', async () => {
  const select = `${trade()}, 0.05 AS homeNotional, 0.05 * (100 + i * 0.01) AS foreignNotional`;
  await expect(take(trades, select)).rejects.toThrow(/counts contracts beside the quantity in coins: give its format/);
});

test('a folder whose name contains a value changes nothing of what is in the file', async () => {
  const { column } = await take(klines, kline(), { name: 't=7/open=5/symbol=ETHUSDT/given' });
  expect(column(0)).toEqual(upTo(10, (row) => start + row * 60_000));
  expect(column(1)).toEqual(upTo(10, () => 1));
});

test('a file named as a pattern is read, and none that fits it', async () => {
  const { column } = await take(klines, kline(), { name: 'given[1]' });
  expect(column(0)).toEqual(upTo(10, (row) => start + row * 60_000));
});
