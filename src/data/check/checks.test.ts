/** Defects planted in good rows: each is found, with its place, and nothing else is. */
import { describe, expect, test } from 'vitest';
import { DepthChecks } from './depth.ts';
import { type Finding, findingText } from './finding.ts';
import { KlineChecks } from './klines.ts';
import { TradeChecks } from './trades.ts';

type Row = readonly number[];
const at = Date.UTC(2024, 0, 1);
const columnsOf = (rows: readonly Row[]): Float64Array[] =>
  (rows[0] ?? []).map((_, column) => Float64Array.from(rows, (row) => row[column] as number));
const linesOf = (rows: readonly Row[]): Uint32Array => Uint32Array.from(rows, (_, row) => row + 2);
const texts = (findings: readonly Finding[]): string[] =>
  findings.map((finding) => `${finding.refused ? '!' : ''}${findingText(finding)}`);

const good = Array.from(
  { length: 50 },
  (_, row): Row => [at + row * 60_000, 100 + row, 103 + row, 99 + row, 101 + row, 7 + row],
);
function klines(rows: readonly Row[]): string[] {
  const checks = new KlineChecks('1min');
  // In two batches: what lies between them counts, too.
  for (const [from, to] of [
    [0, 20],
    [20, rows.length],
  ] as const)
    checks.add(columnsOf(rows.slice(from, to)), rows.slice(from, to).length, linesOf(rows).slice(from, to));
  return texts(checks.findings());
}
const withCells = (row: number, cells: Readonly<Record<number, number>>): Row[] =>
  good.with(
    row,
    (good[row] as Row).map((value, column) => cells[column] ?? value),
  );

test('good klines have no findings', () => expect(klines(good)).toEqual([]));

test.for<[string, readonly Row[], RegExp]>([
  [
    'a high below the low',
    withCells(30, { 2: 1 }),
    /^!1 impossible row of 50 rows \(line 32, 2024-01-01T00:30:00Z: open 130, high 1,.*--repair impossible/,
  ],
  ['a negative volume', withCells(30, { 5: -1 }), /^!1 impossible row .*volume -1/],
  ['a price that nothing costs', withCells(30, { 2: 1e24 }), /^!1 impossible row .*high 1e\+24/],
  ['a close outside', withCells(30, { 4: 500 }), /^!1 impossible row/],
  [
    'columns in another order',
    good.map(([time = 0, open = 0, high = 0, low = 0, close = 0, volume = 0]) => [
      time,
      open,
      close,
      high,
      low,
      volume,
    ]),
    /if the columns have another order, name them \(--columns or --format\)/,
  ],
  [
    'several gaps, by the first of them',
    good.toSpliced(39, 5).toSpliced(19, 3),
    /^2 gaps, 8 klines missing, longest 5 min from 2024-01-01T00:39:00Z on \(first 2024-01-01T00:19:00Z\)/,
  ],
  ['a gap across batches', good.toSpliced(19, 3), /^1 gap, 3 klines missing, longest 3 min \(2024-01-01T00:19:00Z\)/],
  [
    'a time between klines',
    withCells(30, { 0: at + 30 * 60_000 + 1 }),
    /^!1 time at which no 1min kline opens \(line 32/,
  ],
  [
    'ends instead of openings',
    good.map((row) => row.with(0, (row[0] ?? 0) + 59_999)),
    /these are closing times: use --stamps close/,
  ],
  [
    'disorder',
    good.with(30, good[31] as Row).with(31, good[30] as Row),
    /^!1 row earlier than the row before \(line 33/,
  ],
  ['a row twice', good.toSpliced(30, 0, good[29] as Row), /^!1 row of the same time as the row before \(line 32/],
  [
    'an hour that clocks take back',
    [...good, ...good].map((row, index) => row.with(0, at + (index < 50 ? index : index - 60) * 60_000)),
    /^!times go back by an hour 1 time .*--zone Europe/,
  ],
  [
    'swapped open and close columns',
    Array.from({ length: 60 }, (_, row) => {
      const [open, close] = [100 + 5 * Math.sin(row), 100 + 5 * Math.sin(row + 1)];
      return [at + row * 60_000, close, 106, 94, open, 7];
    }),
    /^!the open and close columns are swapped: .*--columns time,close,high,low,open,volume\)/,
  ],
  [
    'a volume that no market has',
    withCells(30, { 5: 9e16 }),
    /^1 kline with a volume worth 1e15 or more in the quote asset \(line 32, .*: volume 90000000000000000\): no/,
  ],
  ['no volume', withCells(30, { 5: 0 }), /^1 kline without volume \(line 32/],
  ['an open slightly outside', withCells(30, { 1: 128 }), /^1 open outside \[low, high\]/],
  [
    'an open far above its own high',
    withCells(30, { 1: 13_000 }),
    /^1 open more than 20 % from both neighbours \(line 32, 2024-01-01T00:30:00Z: open 13000\): one wrong print/,
  ],
  ['an open far below its own low', withCells(30, { 1: 1.3 }), /^1 open more than 20 % .*: open 1.3\)/],
  ['an open far below its own low in the first row', withCells(0, { 1: 1 }), /^1 open more than 20 % .*: open 1\)/],
  [
    'a feed that stood still',
    good.map((row, index) => (index < 20 || index > 35 ? row : [row[0] ?? 0, ...(good[20] ?? []).slice(1)])),
    /^15 klines that repeat the one before .*longest run 15 \(first line 23/,
  ],
  [
    'a wrong print',
    withCells(30, { 2: 900, 4: 900 }),
    /^1 close more than 20 % from both neighbours \(line 32, 2024-01-01T00:30:00Z: close 900\)/,
  ],
  ['a wrong open', withCells(30, { 1: 900, 2: 900 }), /^1 kline whose open, low or high .*line 32.*open 900/],
  [
    'a wick',
    withCells(30, { 3: 0.01 }),
    /^1 kline whose open, low or high is more than 20 % beyond its close .*\(line 32, 2024-01-01T00:30:00Z: open .*low 0.01/,
  ],
  [
    'another scale',
    good.map((row, index) => (index < 30 ? row : row.map((value, column) => (column === 0 ? value : value * 1000)))),
    /^!1 jump to more than 3 times .*close 130, then 131000/,
  ],
  [
    'another scale, and a wrong print later',
    good.map((row, index) => {
      const times = (index < 30 ? 1 : 1000) * (index === 40 ? 5 : 1);
      return row.map((value, column) => (column === 0 ? value : value * times));
    }),
    /^!1 jump to more than 3 times .*close 130, then 131000/,
  ],
])('klines with %s', ([, rows, message]) => {
  expect(klines(rows).some((text) => message.test(text))).toBe(true);
});

test('an open that is a wrong print is not said to be the close before', () =>
  expect(klines(withCells(30, { 1: 13_000 }))).toEqual([expect.stringContaining('more than 20 %')]));

const trade = (
  second: number,
  price = 100 + (second % 7),
  quantity = 1 + second,
  side = second % 2 === 0 ? 1 : -1,
): Row => [at + second * 1000, price, quantity, side];
const goodTrades = Array.from({ length: 200 }, (_, second) => trade(second));
function trades(rows: readonly Row[]): string[] {
  const checks = new TradeChecks();
  checks.add(columnsOf(rows), rows.length, linesOf(rows));
  return texts(checks.findings());
}

describe('trades', () => {
  test('that are good have no findings', () => expect(trades(goodTrades)).toEqual([]));
  test.for<[string, readonly Row[], RegExp]>([
    ['of one side', goodTrades.map((row) => row.with(3, -1)), /^every trade is a SELL/],
    ['out of order', goodTrades.with(50, trade(48)), /^!1 trade earlier than the one before \(line 52/],
    ['at a price that nothing costs', goodTrades.with(50, trade(50, 1e24)), /^!1 impossible trade \(.*price 1e\+24/],
    ['that are none', goodTrades.with(50, trade(50, 0)), /^!1 impossible trade \(line 52, .*price 0/],
    ['of more than a market has', goodTrades.with(50, trade(50, 100, 9e16)), /^1 trade worth 1e15 or more .*line 52/],
    [
      'of another scale',
      goodTrades.map((row, at) => (at < 90 ? row : row.with(1, (row[1] ?? 0) * 1_000))),
      /^1 jump to more than 3 times .*\(line 92, .*: price 105, then 106000\)/,
    ],
    ['with a hole', goodTrades.toSpliced(50, 100), /^1 gap, longest 101 s \(2024-01-01T00:00:49Z\)/],
    [
      'that are equal',
      goodTrades.toSpliced(50, 0, trade(50)),
      /^1 trade identical to another of the same time \(line 53/,
    ],
    [
      'with a wrong print, named by its own line and time',
      goodTrades.with(50, trade(50, 900)),
      /^1 price more than 20 % from both neighbours \(line 52, 2024-01-01T00:00:50Z: price 900\)/,
    ],
    [
      'delivered twice, moment by moment',
      goodTrades.flatMap((row, index) => (index > 50 && index < 65 ? [row, row] : [row])),
      /^1 stretch of repeated trades/,
    ],
    [
      'delivered twice within a moment',
      [
        ...goodTrades.slice(0, 50),
        ...[1, 2].flatMap(() => Array.from({ length: 12 }, (_, index) => trade(50, 100 + index))),
        ...goodTrades.slice(51),
      ],
      /^1 stretch of repeated trades .*12 trades/,
    ],
    [
      'of which a few different ones come twice within a moment',
      [
        ...goodTrades.slice(0, 50),
        ...[1, 2].flatMap(() => [0, 1, 0, 2, 3, 3, 4].map((index) => trade(50, 100 + index))),
        ...goodTrades.slice(51),
      ],
      /^1 stretch of repeated trades .*7 trades/,
    ],
  ])('%s', ([, rows, message]) => {
    expect(trades(rows).some((text) => message.test(text))).toBe(true);
  });
});

const book = (second: number, number: number, bid = 99 + (second % 3) / 10, ask = 101): Row[] => [
  [at + second * 1000, number, 1, bid, 1 + second],
  [at + second * 1000, number, 1, bid - 1, 2],
  [at + second * 1000, number, -1, ask, 3],
];
const books = (...given: readonly (readonly Row[])[]): string[] => {
  const checks = new DepthChecks();
  const rows = given.flat();
  checks.add(columnsOf(rows), rows.length, linesOf(rows));
  return texts(checks.findings());
};

test('pieces of one order that repeat within a moment are no trades delivered twice', () => {
  const pieces = Array.from({ length: 24 }, (_, index) => trade(50, 100 + (index % 4)));
  const found = trades([...goodTrades.slice(0, 50), ...pieces, ...goodTrades.slice(51)]);
  expect(found).toEqual([expect.stringMatching(/^20 trades identical/)]);
});

describe('books', () => {
  const whole = Array.from({ length: 100 }, (_, second) => book(second, second));
  test('that are good have no findings', () => expect(books(...whole)).toEqual([]));
  test.for<[string, readonly (readonly Row[])[], RegExp]>([
    ['that are crossed', whole.with(9, book(9, 9, 102)), /^!1 book with a bid above the ask \(line 29/],
    [
      'without asks',
      whole.with(9, book(9, 9).slice(0, 2)),
      /^1 book without bids or without asks \(line 29, .*: no asks\): /,
    ],
    [
      'without bids',
      whole.with(9, book(9, 9).slice(2)),
      /^1 book without bids or without asks \(line 29, .*: no bids\): /,
    ],
    [
      'that are all without bids',
      whole.map((rows) => rows.slice(2)),
      /^!100 books without bids or without asks \(first line 2/,
    ],
    [
      'of more than a market has',
      whole.with(9, (whole[9] ?? []).with(1, [at + 9_000, 9, 1, 98, 9e16])),
      /^1 book with a level worth 1e15 or more in the quote asset \(line 29, .*: quantity 90000000000000000\)/,
    ],
    [
      'with a level of nothing',
      whole.with(9, (whole[9] ?? []).with(1, [at + 9_000, 9, 1, 98, 0])),
      /^!1 book with impossible levels/,
    ],
    [
      'whose asks come first',
      whole.with(9, book(9, 9).toReversed()),
      /^!1 book with impossible levels .*: asks before bids\)/,
    ],
    [
      'with a wrong print',
      whole.with(9, book(9, 9, 900, 901)),
      /^1 middle more than 20 % from both neighbours \(line 29, 2024-01-01T00:00:09Z: middle 900.5\)/,
    ],
    [
      'of another scale',
      whole.map((rows, at) => (at < 50 ? rows : rows.map((row) => row.with(3, (row[3] ?? 0) * 1_000)))),
      /^1 jump to more than 3 times .*\(line 152, .*: middle 100.05, then 100/,
    ],
    [
      'at a price that nothing costs',
      whole.with(9, book(9, 9, 99, 1e24)),
      /^!1 book with impossible levels .*: price 1e\+24/,
    ],
    ['that are locked', whole.with(9, book(9, 9, 101)), /^1 book with bid and ask at one price \(line 29/],
    [
      'whose levels are not sorted',
      whole.with(
        9,
        (whole[9] ?? []).toReversed().toSorted((a, b) => (b[2] ?? 0) - (a[2] ?? 0)),
      ),
      /^!1 book with impossible levels .*not sorted/,
    ],
    ['out of order', whole.with(9, book(3, 9)), /^!1 book earlier than the one before/],
    ['of one time', whole.with(9, book(8, 9, 98)), /^1 book of the same time/],
    [
      'that repeat',
      whole.with(
        9,
        (whole[8] ?? []).map((row) => row.with(1, 9)),
      ),
      /^1 book that repeats the one before/,
    ],
    ['with a hole', whole.toSpliced(9, 12), /^1 gap, longest 13 s/],
    [
      'that are too old for a fill now and then',
      whole.filter((_, second) => second % 10 === 0 || second % 10 > 4),
      /^20\.2 % of the time without a book of the last 3 s \(10 holes\) \(first 2024-01-01T00:00:00Z\)/,
    ],
  ])('%s', ([, rows, message]) => {
    expect(books(...rows).some((text) => message.test(text))).toBe(true);
  });
  test.for<[string, number, number, readonly string[]]>([
    [
      'for 11 minutes',
      661,
      1,
      ['660 books unchanged for 10 min or more, longest 11 min (first line 5, 2024-01-01T00:00:01Z)'],
    ],
    ['for 9 minutes', 540, 1, []],
    ['over silences of 2 minutes', 20, 120, []],
  ])('that stay the same %s', ([, count, each, expected]) => {
    const frozen = Array.from({ length: count }, (_, number) =>
      book(0, 0).map((row) => [at + number * each * 1_000, number, ...row.slice(2)] as Row),
    );
    const found = books(...frozen, book(count * each, count)).filter((text) => text.includes('unchanged for'));
    expect(found.map((text) => text.replace(/:? ?the feed was stuck.*/, ''))).toEqual(expected);
  });
  test('are not called old for a hole that is reported as a gap', () =>
    expect(books(...whole.toSpliced(9, 12))).toHaveLength(1));
});
