/** Files that are not what their users think: each message says what, where, how many, and what to do. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { type ImportOptions, type ImportResult, importFile } from './import.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2020, 0, 1);
const minute = 60_000;
type Row = readonly [time: number, open: number, high: number, low: number, close: number, volume: number];

function made(count: number, { step = minute, from = start, times = 1 } = {}): Row[] {
  const draw = seededRng(3);
  const round = (value: number): number => Math.round(value * times * 100) / 100;
  let close = 100;
  return Array.from({ length: count }, (_, row): Row => {
    const open = close;
    close *= 1 + (draw() - 0.5) / 100;
    const [high, low] = [Math.max(open, close) * 1.001, Math.min(open, close) * 0.999];
    return [
      from + row * step,
      round(open),
      round(high),
      round(low),
      round(close),
      Math.round(draw() * 1_000) / 100 + 1,
    ];
  });
}

const header = 'time_ms,open,high,low,close,volume';
const csv = (rows: readonly (readonly (number | string)[])[], head = header): string =>
  `${[head, ...rows.map((row) => row.join(','))].join('\n')}\n`;
const good = made(3_000);

function place() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bad-'));
  return {
    take(content: string, options: Partial<ImportOptions> = {}): Promise<ImportResult> {
      writeFileSync(join(dir, 'BTCUSDT_1m.csv'), content);
      const key = { kind: 'klines', symbol: 'BTCUSDT', interval: '1min', source: 'x' } as const;
      const given = {
        dir: join(dir, 'data'),
        ...key,
        endStamps: false,
        repair: new Set<never>(),
        replace: false,
        now,
      };
      return importFile(join(dir, 'BTCUSDT_1m.csv'), { ...given, ...options });
    },
    rows: (): number =>
      readManifest(join(dir, 'data'), { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' })?.months.reduce(
        (sum, month) => sum + month.rows,
        0,
      ) ?? 0,
  };
}

const commas = (row: Row): string =>
  row.map((cell, at) => (at === 0 ? cell : String(cell).replace('.', ','))).join(',');

test.for<[string, string, RegExp, Partial<ImportOptions>?]>([
  [
    'cut off in its last line',
    csv(good).slice(0, -9),
    /1 line that cannot be read \(the last one: the file may be cut off\) \(line 3001: .*--repair unreadable/s,
  ],
  [
    'unsorted',
    csv(good.with(100, good[500] as Row).with(500, good[100] as Row)),
    /2 rows earlier than the row before \(first line 103, 2020-01-01T01:41:00Z\): a run would see the future; .*--repair sort/,
  ],
  [
    'put together of files that overlap',
    csv([...good.slice(0, 2_000), ...good.slice(1_500)]),
    /1 row earlier than the row before \(line 2002, .*if parts overlap, --repair sort,duplicates/,
  ],
  [
    'of larger klines behind its own',
    csv([...good.slice(0, 1_500), ...made(300, { step: 5 * minute, from: start + 1_500 * minute })]),
    /298 rows in a row at a larger, equal distance than 1min.*split the file by interval/,
  ],
  [
    'of smaller klines behind its own',
    csv([...made(300, { step: 5 * minute }), ...made(600, { from: start + 1_500 * minute })]),
    /480 times at which no 5min kline opens \(first line 303, .*correct these times; if they are of a smaller interval, split the file/,
    { interval: '5min' },
  ],
  [
    'of decimals with commas between commas',
    `${header}\n${good.map(commas).join('\n')}\n`,
    /its header has 6 columns and most rows have 11: their commas are decimals as well as separators.*semicolons, or with decimal points/,
  ],
  [
    'with columns that its header does not name',
    `${header}\n${good.map((row) => [...row, '0.5', 'x'].join(',')).join('\n')}\n`,
    /its header has 6 columns and most rows have 8: name them in their order \(--columns time,open,high,low,close,volume; - for/,
  ],
  [
    'with one such column',
    `${header}\n${good.map((row) => [...row, '7'].join(',')).join('\n')}\n`,
    /its header has 6 columns and most rows have 7: name them in their order/,
  ],
  [
    'with the separator in a text that is not in quotes',
    `${header},note\n${good.map((row) => [...row, 'a, b'].join(',')).join('\n')}\n`,
    /its header has 7 columns and most rows have 8: name them in their order/,
  ],
  [
    'with its columns in the order of Bitfinex',
    csv(good.map(([t, o, h, l, c, v]) => [t, o, c, h, l, v])),
    /3,000 impossible rows of 3,000 rows \(first line 2.*if the columns have another order, name them/,
  ],
  [
    'with its columns in the order of Coinbase',
    csv(good.map(([t, o, h, l, c, v]) => [t, l, h, o, c, v])),
    /impossible rows of 3,000 rows .*if the columns have another order, name them/,
  ],
  [
    'of local times over the autumn change',
    csv(
      good.map(([t, ...rest], row) => [
        new Date(t + (row < 1_500 ? 60 * minute : 0)).toISOString().slice(0, 19).replace('T', ' '),
        ...rest,
      ]),
      header.replace('time_ms', 'date'),
    ),
    /times go back by an hour 1 time \(line 1502, 2020-01-02T01:00:00Z\): .*--zone Europe\/Berlin/,
  ],
  [
    'of ends of klines',
    csv(good.map(([t, ...rest]) => [t + minute - 1, ...rest])),
    /3,000 times at which no 1min kline opens .*use --stamps close/,
  ],
  [
    'of times of last trades',
    csv(good.map(([t, ...rest]) => [t + 7_000, ...rest])),
    /each is 7 s late: not opening times/,
  ],
  [
    'of days of another zone',
    csv(made(300, { step: 1_440 * minute, from: start - 8 * 60 * minute })),
    /each is 16 h late: days of another time zone \(UTC\+8\)/,
    { interval: '1day' },
  ],
  [
    'whose header has a column twice',
    csv(
      good.map((row) => [...row, row[4] * 2]),
      `${header},close`,
    ),
    /its header has "close" more than once: remove the wrong column, or name the columns in order \(--columns/,
  ],
  [
    'for which a column is named twice',
    csv(
      good.map((row) => [...row, row[4]]),
      `${header},x`,
    ),
    /its header has "close" more than once/,
    { columns: `${header},close`.split(',') },
  ],
  [
    'of swapped open and close columns',
    csv(good.map(([t, o, h, l, c, v]) => [t, c, h, l, o, v])),
    /the open and close columns are swapped.*swap the two column names/,
  ],
])('a file %s is refused', async ([, content, message, options]) => {
  const here = place();
  await expect(here.take(content, options)).rejects.toThrow(message);
  expect(here.rows()).toBe(0);
});

describe('what the refusal says to do', () => {
  test('repairs a file whose parts overlap, and that is written down', async () => {
    const here = place();
    const content = csv([...good.slice(0, 2_000), ...good.slice(1_500)]);
    const { repaired } = await here.take(content, { repair: new Set(['sort', 'duplicates'] as const) });
    expect(repaired).toMatchObject([
      { repair: 'sort', rows: 1 },
      { repair: 'duplicates', rows: 500 },
    ]);
    expect(here.rows()).toBe(3_000);
  });

  test('reads columns in the order that the user names', async () => {
    const here = place();
    const content = csv(good.map(([t, o, h, l, c, v]) => [t, l, h, o, c, v]));
    const columns = 'time,low,high,open,close,volume'.split(',');
    expect((await here.take(content, { columns })).findings).toEqual([]);
  });
});

describe('another scale', () => {
  const jumping = csv([...good.slice(0, 1_500), ...made(3_000, { times: 100 }).slice(1_500)]);

  test('within a file is refused, with where it begins', async () => {
    const here = place();
    await expect(here.take(jumping)).rejects.toThrow(
      /not imported.*1 jump to more than 3 times .*line 1502, 2020-01-02T01:00:00Z.*if the market really moved so far, use --accept-jumps/s,
    );
    expect(here.rows()).toBe(0);
  });

  test('within a file that is said to be the market is taken with a warning', async () => {
    const { findings } = await place().take(jumping, { acceptJumps: true });
    expect(findings).toMatchObject([
      { check: 'scale', count: 1, refused: false, places: [{ line: 1502, time: start + 1_500 * minute }] },
    ]);
  });

  test('for one row is a wrong print, and beyond a hole of a day it may be the market: both are reported', async () => {
    const print = csv(
      good.map(([t, ...rest], row) => [t, ...(row === 1_500 ? rest.map((value) => value * 50) : rest)]),
    );
    expect((await place().take(print)).findings).toMatchObject([{ check: 'outliers', refused: false }]);
    const hole = csv([...good, ...made(3_000, { from: start + 5_000 * minute, times: 20 })]);
    expect((await place().take(hole)).findings).toContainEqual(
      expect.objectContaining({ check: 'scale', count: 1, refused: false }),
    );
  });

  test.for<[string, number]>([
    ['behind', 3_000 * minute],
    ['before', -3_010 * minute],
  ])('%s what is stored is refused, and what is stored stays', async ([, shiftMs]) => {
    const here = place();
    await here.take(csv(good));
    const other = csv(made(3_000, { from: start + shiftMs, times: 1 / 20 }));
    await expect(here.take(other)).rejects.toThrow(
      /not imported.*less than a third of, the neighbouring stored prices .*--symbol/s,
    );
    expect(here.rows()).toBe(3_000);
    expect(
      (await here.take(csv(made(3_000, { from: start + shiftMs })))).findings.map(({ check }) => check),
    ).not.toContain('scale');
  });

  test.for([
    ['and is reported', 20, 20, [{ check: 'scale', refused: false }]],
    ['however far', 400, 60, [{ check: 'scale', refused: false }]],
    ['which years make of it without a word', 400, 20, []],
  ] as const)('far away from what is stored may be the market, %s', async ([, days, times, findings]) => {
    const here = place();
    await here.take(csv(good));
    const later = await here.take(csv(made(3_000, { from: start + days * 1_440 * minute, times })));
    expect(later.findings).toMatchObject(findings);
    expect(here.rows()).toBe(6_000);
  });
});

test('rows that are still to come, and a kline that is not over yet, are reported', async () => {
  const findingsFrom = async (from: number): Promise<readonly unknown[]> =>
    (await place().take(csv(made(100, { from })))).findings.map(({ check, what }) => [check, what]);
  expect(await findingsFrom(now - 100 * minute)).toEqual([]);
  expect(await findingsFrom(now - 100 * minute + minute)).toEqual([['future', 'the last kline has not closed yet']]);
  expect(await findingsFrom(now)).toEqual([
    [
      'future',
      `times reach to ${new Date(now + 99 * minute).toISOString().slice(0, 19)}Z, which is after ${new Date(now).toISOString().slice(0, 10)}, today`,
    ],
  ]);
});

test('a comma at the end of each row makes no column', async () => {
  const { layout, rows } = await place().take(`${header}\n${good.map((row) => `${row.join(',')},\n`).join('')}`);
  expect([layout, rows]).toEqual(['klines', 3_000]);
});

test('a time in which one of the thirteen digits is another sign is none, wherever it stands', async () => {
  const signs = ['/', ':', '-', 'a', '~'];
  for (const at of [0, 1, 3, 4, 7, 8, 11, 12]) {
    const rows = good.slice(0, signs.length).map((row, index): readonly (number | string)[] => {
      const text = String(row[0]);
      return [text.slice(0, at) + signs[index] + text.slice(at + 1), ...row.slice(1)];
    });
    const taken = place().take(csv([...good.slice(0, 100), ...rows]));
    await expect(taken).rejects.toThrow(/5 lines that cannot be read/);
  }
});

test('trades and books whose header has a column twice are refused', async () => {
  const rows = Array.from({ length: 3 }, (_, at) => `${start + at},100,1,buy,7\n`).join('');
  const trades = place().take(`time,price,qty,side,qty\n${rows}`, { kind: 'trades' });
  await expect(trades).rejects.toThrow('its header has "qty" more than once');
  const books = place().take(`time_ms,book,side,price,quantity,price\n${start},1,bid,9,1,8\n`, { kind: 'depth' });
  await expect(books).rejects.toThrow('its header has "price" more than once');
});

test.for<[string, (second: number) => string, RegExp]>([
  ['bids', () => '"b":[],"a":[[101,1]]', /3 books without bids or without asks \(first line 1, .*: no bids\)/],
  ['asks', () => '"b":[[99,1]],"a":[]', /3 books without bids or without asks \(first line 1, .*: no asks\)/],
])('books that are all without %s are refused', async ([, sides, message]) => {
  const content = Array.from({ length: 3 }, (_, at) => `{"t":${start + at * 1_000},${sides(at)}}\n`).join('');
  await expect(place().take(content, { kind: 'depth' })).rejects.toThrow(message);
});

const snapshots = 'timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount';
const bands = 'timestamp,percentage,depth,notional';
const [first, second] = ['2020-01-01 00:00:00', '2020-01-01 00:00:30'];
test.for<[string, string, readonly string[], RegExp]>([
  ['cut off within a book', snapshots, [`${start},101,1,100,2`, `${start + 1_000},101,1`], /line 3: 3 columns, not 5/],
  ['cut off within a time', snapshots, [`${start},101,1,100,2`, '15778'], /line 3: 1 columns, not 5/],
  [
    'with a band that is no number',
    bands,
    [`${first},-1,2,198`, `${first},1,x,404`, `${second},-1,2,198`, `${second},1,4,404`],
    /line 3: "2020-01-01 00:00:00,1,x,404" is not a band of depth/,
  ],
  [
    'cut off within a band',
    bands,
    [`${first},-1,2,198`, `${first},1,4,404`, `${second},-1,2`],
    /line 4: 3 columns, not 4/,
  ],
])('books in columns, %s, are not taken without it', async ([, head, rows, message]) => {
  const content = [head, ...rows].join('\n');
  await expect(place().take(content, { kind: 'depth' })).rejects.toThrow(message);
  const repair = new Set(['unreadable'] as const);
  expect(await place().take(content, { kind: 'depth', repair })).toMatchObject({ rows: 2 });
});

test.for<[string, readonly string[]]>([
  ['Tardis', [snapshots, `${start},101,1,100,2`]],
  ['Binance', [bands, `${first},-1,2,198`, `${first},1,4,404`]],
])('books of %s whose last line has no end may be cut off, which is reported', async ([, rows]) => {
  const cuts = async (content: string): Promise<number> =>
    (await place().take(content, { kind: 'depth' })).findings.filter(({ check }) => check === 'cut-off').length;
  expect([await cuts(rows.join('\n')), await cuts(`${rows.join('\n')}\n`)]).toEqual([1, 0]);
});
