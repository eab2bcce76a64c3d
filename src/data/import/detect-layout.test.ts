/** Layouts that resemble another one: each is read as what it is, or refused with what to give. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadSeries } from '../catalogue/load.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { type ImportOptions, importFile } from './import.ts';
import { formats } from './layout.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const at = Date.UTC(2024, 0, 1);
const minute = 60_000;

/** Row by row, times as minutes after `at`. */
async function take(
  content: string | Uint8Array,
  options: Partial<ImportOptions> = {},
): Promise<readonly (readonly number[])[]> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-guess-'));
  const path = join(dir, 'BTCUSDT-1m.data');
  writeFileSync(path, content);
  const given = { dir, endStamps: false, repair: new Set<never>(), replace: false, now, ...options };
  const { key } = await importFile(path, given);
  const manifest = readManifest(dir, key);
  if (manifest === undefined) throw new Error('nothing was stored');
  const { columns, rows } = await loadSeries(dir, manifest);
  return Array.from({ length: rows }, (_, row) =>
    columns.map((column, place) => (place === 0 ? ((column[row] as number) - at) / minute : (column[row] as number))),
  );
}

const lines = (rows: readonly unknown[]): string =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');

describe('JSON whose keys differ in their case alone', () => {
  const trade = (id: number, time: number, p: string, isMaker: boolean): unknown => ({
    ...{ e: 'trade', E: at + time + 3, s: 'BTCUSDT', t: id, p, q: '2', b: 8, a: 9, T: at + time, m: isMaker, M: true },
  });
  // Numbers that could be times, in s, and one that could not.
  test.for([3_400_000_000, 1_400_000_000, 77])('is read by the exact ones: trades whose number is %s', async (id) => {
    const rows = [trade(id, 0, '100.5', false), trade(id + 1, minute, '100.25', true)];
    expect(await take(lines(rows))).toEqual([
      [0, 100.5, 2, 1],
      [1, 100.25, 2, -1],
    ]);
  });

  test('is read by the exact ones: klines', async () => {
    const kline = (row: number): unknown => ({
      ...{ t: at + row * minute, T: at + (row + 1) * minute - 1, s: 'BTCUSDT', i: '1m', f: 100, L: 101, o: '100' },
      ...{ c: '101', h: '103', l: '99', V: '3', v: '7', n: 2, x: true, q: '700', Q: '300', B: '0' },
    });
    expect(await take(lines([kline(0), kline(1)]))).toEqual([
      [0, 100, 103, 99, 101, 7],
      [1, 100, 103, 99, 101, 7],
    ]);
  });

  test('is read by the columns that the user names, in the order of its keys', async () => {
    const content = lines([{ a: 1_400_000_000, when: at, b: 9, cost: '100.5', much: 2, way: 'sell' }]);
    const columns = ['-', 'time', '-', 'price', 'quantity', 'side'];
    expect(await take(content, { columns })).toEqual([[0, 100.5, 2, -1]]);
    await expect(take(content, { columns: [...columns, '-'] })).rejects.toThrow(
      /--columns names 7 columns, and its first object has 6 keys \("a,when,b,cost,much,way"\): name these/,
    );
  });
});

describe('files of known sources', () => {
  const [price, coins] = [8_000, 0.25];
  const trade = [[0, price, coins, -1]];
  const kline = [[0, 7_990, 8_100, 7_900, price, coins]];
  test.for<[string, string, readonly (readonly number[])[]]>([
    ['binance-klines', `${at},7990,8100,7900,8000,0.25,${at + minute - 1},2000,9,0.1,800,0`, kline],
    ['binance-coin-klines', `${at},7990,8100,7900,8000,20,${at + minute - 1},0.25,9,8,0.1,0`, kline],
    ['binance-trades', `1,8000,0.25,2000,${at},true,true`, trade],
    ['binance-coin-trades', `1,8000,20,0.25,${at},true`, trade],
    ['binance-aggtrades', `1,8000,0.25,1,1,${at},true,true`, trade],
    ['bitfinex-klines', `${at},7990,8000,8100,7900,0.25`, kline],
    [
      'bitmex-klines',
      `timestamp,symbol,open,high,low,close,trades,volume,vwap,lastSize,turnover,homeNotional,foreignNotional
2024-01-01T00:01:00.000Z,BTCUSDT,7990,8100,7900,8000,9,2000,7999,100,25000000,0.25,2000`,
      kline,
    ],
    [
      'bitmex-trades',
      `timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional
2024-01-01D00:00:00.000000000,BTCUSDT,Sell,2000,8000,MinusTick,a,25000000,0.25,2000`,
      trade,
    ],
    ['bybit-trades', `${at / 1_000},BTCUSDT,Sell,0.25,8000,MinusTick,a,2e11,0.25,2000`, trade],
    ['bybit-inverse-trades', `${at / 1_000},BTCUSDT,Sell,2000,8000,MinusTick,a,25000000,2000,0.25`, trade],
    ['coinbase-klines', `[[${at / 1_000},7900,8100,7990,8000,0.25]]`, kline],
    ['freqtrade-klines', `[[${at},7990,8100,7900,8000,0.25]]`, kline],
    ['freqtrade-trades', `[[${at},"1",null,"sell",8000,0.25,2000]]`, trade],
    ['gateio-klines', `${at / 1_000},0.25,8000,8100,7900,7990`, kline],
    ['kraken-klines', `${at / 1_000},7990,8100,7900,8000,0.25,9`, kline],
    ['kraken-api-klines', `[[${at / 1_000},"7990","8100","7900","8000","7999","0.25",9]]`, kline],
    ['okx-klines', `${at},7990,8100,7900,8000,0.25,2000,2000,1`, kline],
    ['okx-swap-klines', `${at},7990,8100,7900,8000,25,0.25,2000,1`, kline],
  ])('are read by --format %s', async ([format, content, expected]) => {
    expect(await take(`${content}\n`, { ...formats[format], interval: '1min' })).toEqual(expected);
  });

  test('that count contracts beside coins are refused without it', async () => {
    const rows = ['timestamp,side,size,price,homeNotional', '1704067260.366,Sell,2100,8400,0.25'];
    await expect(take(lines(rows))).rejects.toThrow(/counts contracts beside .*--format bitmex-klines, bitmex-trades,/);
  });

  test('without a header are refused without it, with what to say', async () => {
    await expect(take(`${at},1,2,1,2,5\n`)).rejects.toThrow(
      /has no header, so its 6 columns .* are unknown: give its format \(--format binance-klines, .*--columns time,/,
    );
  });
});

describe('swapped open and close columns', () => {
  /** Each opens where the one before closed. */
  const close = (row: number): number => 100 + 5 * Math.sin(row);
  const rows = Array.from({ length: 60 }, (_, row) => [at + row * minute, 7, close(row - 1), 106, 94, close(row)]);
  const columns = ['time', 'volume', 'open', 'high', 'low', 'close'];
  test('are refused where columns were named', async () => {
    const swapped = columns.with(2, 'close').with(5, 'open');
    await expect(take(lines(rows.map((row) => row.join(','))), { columns: swapped })).rejects.toThrow(
      /the open and close columns are swapped/,
    );
  });
  test('are read by the columns that are named', async () =>
    expect((await take(lines(rows.map((row) => row.join(','))), { columns })).map((row) => row[4])).toEqual(
      rows.map((row) => row[5]),
    ));
});

describe('books', () => {
  test('that are updates are refused, and none of later lines is stored', async () => {
    const update = { e: 'depthUpdate', E: at, s: 'BTCUSDT', U: 157, u: 160, b: [['99', '2']], a: [['101', '4']] };
    const gone = { t: at, b: [['99', '2']], a: [{ price: '101', amount: '0.000' }] };
    const book = { t: at, b: [['99', '2']], a: [['101', '4']] };
    for (const content of [[update], [gone], [book, gone]])
      await expect(take(lines(content))).rejects.toThrow(/holds depth updates .*only full snapshots are read: record/);
    // Behind all that the detection reads.
    await expect(take(lines([...Array.from({ length: 300 }, () => book), gone]))).rejects.toThrow(
      /1 line that cannot be read \(line 301: the level at 101 has quantity 0, as in depth updates: only full snapshots are read/,
    );
  });

  const header = 'time_ms,book,side,price,quantity';
  const row = (time: number, book: number, side: string, price: number): string =>
    `${at + time * minute},${book},${side},${price},2`;
  const levels = [
    ...[row(0, 0, 'bid', 99), row(0, 0, 'bid', 98), row(0, 0, 'ask', 101)],
    ...[row(0, 1, 'bid', 97), row(0, 1, 'ask', 101)],
    ...[row(2, 2, 'bid', 96), row(2, 2, 'ask', 102)],
  ];

  test('as `data export` writes them, a level a line, are books again and no trades', async () => {
    const books = [
      ...[
        [0, 0, 1, 99, 2],
        [0, 0, 1, 98, 2],
        [0, 0, -1, 101, 2],
      ],
      ...[
        [0, 1, 1, 97, 2],
        [0, 1, -1, 101, 2],
      ],
      ...[
        [2, 2, 1, 96, 2],
        [2, 2, -1, 102, 2],
      ],
    ];
    expect(await take(lines([header, ...levels]))).toEqual(books);
    expect(await take(lines([header, ...levels]), { kind: 'depth' })).toEqual(books);
    const bad = lines([header, ...levels, row(3, 3, 'bid', 96), row(3, 3, 'buy', 95), row(4, 4, 'bid', 0)]);
    await expect(take(bad)).rejects.toThrow(
      /1 line that cannot be read \(line 10: "[^"]*,buy,95,2" is not a level of depth.*1 book with impossible levels \(line 11,/s,
    );
    const json = (text: string): object => {
      const [time_ms, book, side, price, quantity] = text.split(',');
      return { time_ms: Number(time_ms), book: Number(book), side, price, quantity: Number(quantity) };
    };
    expect(await take(lines(levels.map(json)))).toEqual(books);
    expect(await take(lines(levels.map(json)), { kind: 'depth' })).toEqual(books);
    const badJson = [...levels, row(3, 3, 'bid', 96), row(3, 3, 'buy', 95)].map(json);
    await expect(take(`${lines(badJson)}{"time_ms":\n`)).rejects.toThrow(
      /2 lines that cannot be read \(first line 9: "[^"]*,buy,95,2" is not a level of depth/,
    );
  });

  test.for<[string, (text: string) => string | Uint8Array]>([
    ['as it is', (text) => text],
    ['packed', (text) => gzipSync(text)],
  ])('of thousands of levels, whose lines are long, are read: %s', async ([, packed]) => {
    const side = (sign: number): [string, string][] =>
      Array.from({ length: 9_000 }, (_, level) => [(50_000 + sign * (level + 1)).toFixed(8), (1 + level).toFixed(8)]);
    const deep = { lastUpdateId: 7, t: at, bids: side(-1), asks: side(1) };
    const content = lines([deep, { ...deep, t: at + minute }]);
    expect(content.indexOf('\n')).toBeGreaterThan(2 ** 18);
    expect(await take(packed(content))).toHaveLength(36_000);
  });

  test('whose first line never ends are refused with that', async () => {
    await expect(take(`{"t":${at},"b":[${'[1,1],'.repeat(2 ** 19)}`)).rejects.toThrow(
      /line 1 is longer than the limit of 2 MiB: write one row or one object a line/,
    );
  });
});

describe('times that a spreadsheet wrote', () => {
  const header = 'time_ms,open,high,low,close,volume';
  test('rounded to what it shows are refused, with why and what to do', async () => {
    const rows = Array.from({ length: 9 }, () => '1.75928E+12,100,101,99,100,5');
    await expect(take(lines([header, ...rows]))).rejects.toThrow(
      /its times are rounded, such as 1\.75928E\+12, and several rows share one: a spreadsheet .*Fetch the file again/,
    );
  });

  test('in full are times, whatever their notation', async () => {
    const rows = Array.from(
      { length: 9 },
      (_, row) => `${(at + row * minute).toExponential()},100,101,99,100,${5 + (row % 2)}`,
    );
    expect((await take(lines([header, ...rows]))).map(([time]) => time)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('what --as says against what the file holds', () => {
  const klines = lines([
    'time_ms,open,high,low,close,volume',
    `${at},100,101,99,100,5`,
    `${at + minute},100,101,99,100,6`,
  ]);
  const trades = lines(['time,price,quantity,side', `${at},100,1,buy`, `${at + minute},101,2,sell`]);
  const book = (time: number): unknown => ({ time, bids: [[100, 1]], asks: [[101, 1]] });
  const levels = 'symbol,timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount';

  test.for([
    ['klines', klines, /has no readable depth \(it has time_ms, open, high, low, close, volume\)/],
    ['trades', trades, /has no readable depth \(it has time, price, quantity, side\)/],
    ['objects', lines([{ time: at, price: 100, quantity: 1, side: 'buy' }]), /has no readable depth/],
  ] as const)('is refused: %s as books', async ([, content, why]) => {
    await expect(take(content, { kind: 'depth', symbol: 'BTCUSDT', source: 'x' })).rejects.toThrow(why);
  });

  test.for([
    ['objects', lines([book(at), book(at + minute)])],
    ['columns', lines([levels, `BTCUSDT,${at}000,101,1,100,1`, `BTCUSDT,${at + minute}000,101,1,100,1`])],
  ] as const)('is refused: books in %s as klines', async ([, content]) => {
    await expect(take(content, { kind: 'klines', symbol: 'BTCUSDT', source: 'x', interval: '1min' })).rejects.toThrow(
      /holds depth, not klines: give --as depth, or leave --as out/,
    );
  });
});

test('books in columns have the symbol that their rows say', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-guess-'));
  const path = join(dir, 'x.csv');
  const header = 'exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount';
  writeFileSync(path, lines([header, `binance,ETHUSDT,${at}000,${at}007,101,1,100,1`]));
  const { key } = await importFile(path, {
    dir,
    endStamps: false,
    repair: new Set<never>(),
    replace: false,
    now,
    source: 'x',
  });
  expect(key.symbol).toBe('ETHUSDT');
});
