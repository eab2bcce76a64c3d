/** Files as users have them, of every known layout, through the whole import. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSeries } from '../catalogue/load.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { type ImportOptions, type ImportResult, importFile } from './import.ts';
import { formats } from './layout.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const at = Date.UTC(2024, 0, 1);
const minute = 60_000;

interface Imported {
  readonly result: ImportResult;
  /** Row by row, times as minutes after `at`. */
  readonly rows: readonly (readonly number[])[];
  /** Of prices and of quantities. */
  readonly decimals: readonly [number, number];
}

async function take(name: string, content: string, options: Partial<ImportOptions> = {}): Promise<Imported> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-layouts-'));
  const path = join(dir, name);
  writeFileSync(path, content);
  const given = { dir, endStamps: false, repair: new Set<never>(), replace: false, now, ...options };
  const result = await importFile(path, given);
  const manifest = readManifest(dir, result.key);
  if (manifest === undefined) throw new Error('nothing was stored');
  const { columns, rows } = await loadSeries(dir, manifest);
  const row = (index: number): number[] =>
    columns.map((column, place) =>
      place === 0 ? ((column[index] as number) - at) / minute : (column[index] as number),
    );
  const decimals = [manifest.priceDecimals, manifest.quantityDecimals] as const;
  return { result, rows: Array.from({ length: rows }, (_, index) => row(index)), decimals };
}

const two = [
  [0, 100, 103, 99, 101, 7],
  [1, 101, 104, 100, 102.5, 8],
];
const iso = (minutes: number, zone = ''): string => `2024-01-01 00:0${minutes}:00${zone}`;
const lines = (...rows: readonly string[]): string => `${rows.join('\n')}\n`;

describe('klines', () => {
  const binance = (unit: number): string =>
    lines(
      `${at * unit},100.00,103.00,99.00,101.00,7.0,${(at + minute) * unit - 1},700,5,3,300,0`,
      `${(at + minute) * unit},101.00,104.00,100.00,102.50,8.0,${(at + 2 * minute) * unit - 1},800,5,3,300,0`,
    );
  test.for<[string, string, string, string, string?]>([
    ['Binance, in ms', 'BTCUSDT-1m-2024-01.csv', binance(1), 'klines', 'binance-klines'],
    ['Binance since 2025, in µs', 'BTCUSDT-1m-2024-01.csv', binance(1_000), 'klines', 'binance-klines'],
    [
      'our own',
      'binance_BTCUSDT_1m.csv',
      lines('time_ms,open,high,low,close,volume', `${at},100,103,99,101,7`, `${at + minute},101,104,100,102.5,8`),
      'klines',
    ],
    [
      'freqtrade',
      'BTC_USDT-1m.json',
      `[[${at},100.0,103.0,99.0,101.0,7.0],[${at + minute},101.0,104.0,100.0,102.5,8.0]]`,
      'klines',
      'freqtrade-klines',
    ],
    [
      'CryptoDataDownload, the newest first',
      'Binance_BTCUSDT_minute.csv',
      lines(
        'https://www.CryptoDataDownload.com',
        'Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount',
        `${at + minute},${iso(1)},BTCUSDT,101,104,100,102.5,8,816,4`,
        `${at},${iso(0)},BTCUSDT,100,103,99,101,7,707,4`,
      ),
      'klines',
    ],
    [
      'TradingView, with a zone in every time',
      'BINANCE_BTCUSDT, 1.csv',
      lines(
        'time,open,high,low,close,Volume',
        '2024-01-01T01:00:00+01:00,100,103,99,101,7',
        '2024-01-01T01:01:00+01:00,101,104,100,102.5,8',
      ),
      'klines',
    ],
    [
      'a sheet with semicolons and decimal commas',
      'BTCUSDT_1m.csv',
      lines(
        'date;open;high;low;close;volume',
        `${iso(0)};100,0;103,0;99,0;101,0;7,0`,
        `${iso(1)};101,0;104,0;100,0;102,5;8,0`,
      ),
      'klines',
    ],
    [
      'JSON lines',
      'BTCUSDT_1m.jsonl',
      lines(
        `{"t":${at},"o":"100","h":"103","l":"99","c":"101","v":"7"}`,
        `{"t":${at + minute},"o":101,"h":104,"l":100,"c":102.5,"v":8}`,
      ),
      'klines, one JSON object a line',
    ],
  ])('of %s', async ([, name, content, about, format]) => {
    const { result, rows } = await take(name, content, formats[format ?? '']);
    expect(rows).toEqual(two);
    expect(result.key).toEqual({ kind: 'klines', symbol: 'BTCUSDT', interval: '1min' });
    expect(result.layout).toBe(about);
  });

  test.each([
    ['7.50000000', '103.00000000', '102.05000000', [2, 1]],
    ['"7.50000000"', '1.03e2', '"102.050"', [2, 1]],
    ['7', '103.00', '102.00', [0, 0]],
    ['0.00001000', '103', '102.12345678', [8, 5]],
  ])('zeros at the end of a number are no decimals: %s, %s, %s', async (volume, high, close, decimals) => {
    const line = (time: number): string => `${time},100.00000000,${high},99.00000000,${close},${volume}`;
    const text = lines('time,open,high,low,close,volume', line(at), line(at + minute));
    expect((await take('padded.csv', text, { kind: 'klines', symbol: 'BTCUSDT' })).decimals).toEqual(decimals);
  });

  test('beside texts in quotes that hold separators and quotes', async () => {
    const { rows } = await take(
      'notes.csv',
      lines(
        'time,"note, if any",open,high,low,close,volume,who',
        `${at},"a, b",100,103,99,101,"7",x ""y`,
        `${at + minute},"he said ""buy, now"", twice",101,104,100,102.5,8,""`,
      ),
      { kind: 'klines', symbol: 'BTCUSDT' },
    );
    expect(rows).toEqual(two);
  });

  test.for<[string, string, string, string]>([
    ['of an asset with digits in its name', 'Binance_1INCHUSDT_1h.csv', '1INCH/USDT', 'Volume 1INCH,Volume USDT'],
    ['behind that in the quote', 'Binance_BTCUSDT_1h.csv', '', 'Volume USDT,Volume BTC'],
    ['under another name of the asset', 'Bitmex_BTCUSD_1h.csv', '', 'Volume USD,Volume XBT'],
    ['of an asset that the quote begins like', 'Gemini_USDCUSD_1h.csv', '', 'Volume USD,Volume USDC'],
  ])('whose volume in the base asset is that %s', async ([, name, symbol, volumes]) => {
    const isFirst = volumes.startsWith('Volume 1INCH');
    const cells = (base: number): string => (isFirst ? `${base},9999` : `9999,${base}`);
    const content = lines(
      `unix,date,symbol,open,high,low,close,${volumes}`,
      `${at},2024-01-01,${symbol},100,103,99,101,${cells(7)}`,
      `${at + minute},2024-01-01,${symbol},101,104,100,102.5,${cells(8)}`,
    );
    expect((await take(name, content)).rows).toEqual(two);
  });

  test('that have volume in the quote alone are refused', async () => {
    const content = lines('date,symbol,open,high,low,close,Volume USD', `${iso(0)},BTC/USD,100,103,99,101,700`);
    await expect(take('FTX_1h.csv', content)).rejects.toThrow(/no column for volume among .*not in the quote/);
  });

  test('in an order that the user names', async () => {
    const content = lines(`7,x,${at},99,103,100,101`, `8,x,${at + minute},100,104,101,102.5`);
    const columns = ['volume', '-', 'time', 'low', 'high', 'open', 'close'];
    expect((await take('a.csv', content, { columns, symbol: 'BTCUSDT', interval: '1min' })).rows).toEqual(two);
  });

  test('stamped with their ends, when that is said', async () => {
    const content = lines(
      'time,open,high,low,close,volume',
      `${at + minute},100,103,99,101,7`,
      `${at + 2 * minute},101,104,100,102.5,8`,
    );
    expect((await take('BTCUSDT_1m.csv', content, { endStamps: true })).rows).toEqual(two);
  });

  test('in local time, when the place is said', async () => {
    const content = lines(
      'date,open,high,low,close,volume',
      '2024-01-01 01:00,100,103,99,101,7',
      '2024-01-01 01:01,101,104,100,102.5,8',
    );
    expect((await take('BTCUSDT_1m.csv', content, { zone: 'Europe/Berlin' })).rows).toEqual(two);
  });
});

describe('trades', () => {
  const rows = [
    [0, 100.5, 2, 1],
    [1, 100.25, 0.5, -1],
  ];
  test.for<[string, string, string, string, string?]>([
    [
      'Binance',
      'BTCUSDT-trades-2024-01.csv',
      lines(`1,100.50,2.0,201,${at},false,true`, `2,100.25,0.5,50.1,${at + minute},True,True`),
      'trades',
      'binance-trades',
    ],
    [
      'trades',
      'BTCUSDT-aggTrades-2024-01.csv',
      lines(`1,100.50,2.0,1,1,${at},false,true`, `2,100.25,0.5,2,2,${at + minute},true,true`),
      'trades',
      'binance-aggtrades',
    ],
    [
      'Binance futures, with a header',
      'BTCUSDT-aggTrades-2024-01.csv',
      lines(
        'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker',
        `1,100.50,2.0,1,1,${at},false`,
        `2,100.25,0.5,2,2,${at + minute},true`,
      ),
      'trades',
    ],
    [
      'Tardis',
      'binance_trades_2024-01-01_BTCUSDT.csv',
      lines(
        'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
        `binance,BTCUSDT,${at * 1000},${at * 1000 + 5},1,buy,100.5,2`,
        `binance,BTCUSDT,${(at + minute) * 1000},${at * 1000 + 9},2,sell,100.25,0.5`,
      ),
      'trades',
    ],
    [
      'freqtrade',
      'BTC_USDT-trades.json',
      `[[${at},"1",null,"buy",100.5,2.0,201.0],[${at + minute},"2",null,"sell",100.25,0.5,50.125]]`,
      'trades',
      'freqtrade-trades',
    ],
  ])('of %s', async ([, name, content, about, format]) => {
    const taken = await take(name, content, formats[format ?? '']);
    expect(taken.rows).toEqual(rows);
    expect(taken.result.key).toEqual({ kind: 'trades', symbol: 'BTCUSDT' });
    expect(taken.result.layout).toBe(about);
  });
});

describe('depth', () => {
  const book = [
    [0, 0, 1, 99, 2],
    [0, 0, 1, 98, 3],
    [0, 0, -1, 101, 4],
  ];
  test.for<[string, string]>([
    ['our own', lines(`{"t":${at},"b":[[99,2],[98,3]],"a":[[101,4]]}`)],
    ['others, with strings', lines(`{"ts":${at},"bids":[["99.0","2"],["98","3"]],"asks":[["101","4"]]}`)],
    [
      'Tardis',
      lines(
        'exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount,asks[1].price,asks[1].amount,bids[1].price,bids[1].amount',
        `binance,BTCUSDT,${at * 1000},1,101,4,99,2,,,98,3`,
      ),
    ],
  ])('of %s', async ([, content]) => {
    const { rows, result } = await take('BTCUSDT-depth.csv', content);
    expect(rows).toEqual(book);
    expect(result.key).toEqual({ kind: 'depth', symbol: 'BTCUSDT' });
  });

  describe('of Tardis that come as differences', () => {
    const header = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
    const row = (ms: number, snapshot: boolean, side: string, price: number, amount: number): string =>
      `binance,BTCUSDT,${(at + ms) * 1000},${(at + ms) * 1000 + 7},${snapshot},${side},${price},${amount}`;
    const first = [row(0, true, 'ask', 101, 4), row(0, true, 'bid', 98, 3), row(0, true, 'bid', 99, 2)];

    test('are whole books after each message, a tenth of a second apart', async () => {
      const { rows, result } = await take(
        'BTCUSDT-book.csv',
        lines(
          header,
          ...first,
          row(50, false, 'bid', 99, 7),
          row(120, false, 'bid', 99, 0),
          row(120, false, 'ask', 100.5, 1),
          row(400, true, 'ask', 103, 1),
          row(400, true, 'bid', 102, 1),
        ),
      );
      expect(rows).toEqual([
        [0, 0, 1, 99, 2],
        [0, 0, 1, 98, 3],
        [0, 0, -1, 101, 4],
        [120 / minute, 1, 1, 98, 3],
        [120 / minute, 1, -1, 100.5, 1],
        [120 / minute, 1, -1, 101, 4],
        [400 / minute, 2, 1, 102, 1],
        [400 / minute, 2, -1, 103, 1],
      ]);
      expect(result.key).toEqual({ kind: 'depth', symbol: 'BTCUSDT' });
      expect(result.findings).toMatchObject([{ check: 'assumed', what: expect.stringMatching(/best 25 levels/) }]);
    });

    test('are refused where nothing says what they change, and where they are none', async () => {
      const bad = lines(header, row(0, false, 'bid', 99, 7), ...first, row(5, false, 'buy', 1, 1));
      await expect(take('BTCUSDT-book.csv', bad)).rejects.toThrow(
        /2 lines that cannot be read \(first line 2: an update before the first snapshot/,
      );
    });
  });

  test('of Binance bookDepth, whose bands are said to be coarse', async () => {
    const bands = [
      [-2, 5, 490],
      [-1, 2, 198],
      [1, 4, 404],
      [2, 5, 506],
    ].map((band) => `2024-01-01 00:00:00,${band.join(',')}`);
    const { rows, result } = await take(
      'BTCUSDT-bookDepth-2024-01-01.csv',
      lines('timestamp,percentage,depth,notional', ...bands),
    );
    expect(rows).toEqual([
      [0, 0, 1, 99, 2],
      [0, 0, 1, 97.3333333333, 3],
      [0, 0, -1, 101, 4],
      [0, 0, -1, 102, 1],
    ]);
    expect(result.findings.map(({ what }) => what).join()).toContain('too coarse');
  });
});

test('a line that holds no time says nothing of the unit of the others', async () => {
  const content = lines(
    'time,open,high,low,close,volume',
    `${at / 1_000},100,103,99,101,7`,
    'garbage,1,1,1,1,1',
    'oops',
  ).concat(lines(`${at / 1_000 + 60},101,104,100,102.5,8`));
  const { result, rows } = await take('BTCUSDT_1m.csv', content, { repair: new Set(['unreadable'] as const) });
  expect(rows).toEqual(two);
  expect(result.repaired).toMatchObject([{ repair: 'unreadable', rows: 2 }]);
  expect(result.findings.map(({ what }) => what).join()).not.toContain('times change');
});

test('klines as JSON lines show their interval, and whether the newest come first', async () => {
  const object = ([time = 0, open, high, low, close, volume]: readonly number[]): string =>
    JSON.stringify({ time: at + time * minute, open, high, low, close, volume });
  const taken = await take('BTCUSDT.jsonl', lines(...two.map(object)));
  expect([taken.result.key.interval, taken.rows]).toEqual(['1min', two]);
  const reverse = await take('BTCUSDT.jsonl', lines(...two.toReversed().map(object)));
  expect([reverse.result.key.interval, reverse.rows]).toEqual(['1min', two]);
});

test('rows in disorder are not said to begin with the newest', async () => {
  const row = (time: number): string => `${at + time * minute},100,103,99,101,7`;
  const content = lines('time,open,high,low,close,volume', ...[5, 6, 7, 8, 0, 1, 2, 3].map(row));
  await expect(take('BTCUSDT_1m.csv', content)).rejects.toThrow(/1 row earlier than the row before \(line 6/);
  const sorted = await take('BTCUSDT_1m.csv', content, { repair: new Set(['sort'] as const) });
  expect(sorted.result.findings.map(({ what }) => what).join()).not.toContain('newest');
});

describe('what the file does not show has to be stated', () => {
  const header = 'time,open,high,low,close,volume';
  test.for<[string, string, string, RegExp]>([
    [
      'a symbol',
      'data.csv',
      lines(header, `${at},1,1,1,1,1`, `${at + minute},1,1,1,1,1`),
      /contain the symbol: give --symbol/,
    ],
    [
      'an interval',
      'BTCUSDT.csv',
      lines(header, `${at},1,1,1,1,1`, `${at + 7 * minute},1,1,1,1,1`),
      /give the interval \(--interval\)/,
    ],
    [
      'a column',
      'BTCUSDT.csv',
      lines('time,open,high,low,close', `${at},1,1,1,1`),
      /no column for volume among "time,open.*Klines need the volume .*name the columns in order .*If none does, fetch .*or add a column/,
    ],
    [
      'the columns',
      'BTCUSDT.csv',
      lines(`${at},5,9`, `${at},5,9`),
      /has no header, so its 3 columns .* are unknown: give its format \(--format /,
    ],
    [
      'a time',
      'BTCUSDT.csv',
      lines(header, '12,1,1,1,1,1'),
      /column 1 is read as the time, but "12" is not one\. Times are .*rewrite others/,
    ],
    ['rows', 'BTCUSDT.csv', lines('a', 'b'), /no rows of numbers in its first 2 lines/],
    ['a header alone', 'BTCUSDT.csv', 'a\n', /no rows of numbers in its first line:/],
    ['anything', 'BTCUSDT.csv', '', /is empty/],
    ['another format', 'BTC_USDT-1m.feather', 'ARROW1\0\0', /is a Feather file.*freqtrade convert-data/],
  ])('%s', async ([, name, content, message]) => {
    await expect(take(name, content)).rejects.toThrow(message);
  });
});
