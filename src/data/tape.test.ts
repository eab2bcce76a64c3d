import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { depthNotes, loadDepth, loadTrades, readDepth, readTrades, silencesOf, tradeNotes } from './tape-files.ts';

const bundled = (name: string): string => new URL(`../../backtests/data/${name}`, import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'sluice-tape-'));
let files = 0;
function written(content: string): string {
  const path = join(folder, `${files++}`);
  writeFileSync(path, content);
  return path;
}

describe('recorded trades', () => {
  test('the bundled tape is read whole', () => {
    const trades = loadTrades({ path: bundled('BTCUSDT-trades-2024-08-08T2354_11min.csv.gz'), symbol: 'BTCUSDT' });
    expect(trades).toHaveLength(19_904);
    expect(trades.filter(({ side }) => side === 'BUY')).toHaveLength(9093);
    const time = 1_723_161_255_342;
    expect(trades[0]).toEqual({
      symbol: 'BTCUSDT',
      time,
      price: 61_837.63,
      quantity: 0.02,
      side: 'SELL',
      seenAt: time,
    });
  });

  const at = Date.UTC(2024, 0, 1);
  const head = `time_ms,price,qty,side\n${at + 5},100,1,buy\n`;
  test.each([
    ['other columns', 'time,price\n', /line 1: the columns are "time,price"/],
    ['a cut line', `${head}${at},100`, /line 3: 2 columns, not 4/],
    [
      'a side that is none',
      `${head}${at},100,1,both\n`,
      /line 3: "both" in column 4 is not buy or sell \(1 line cannot be read, of 2\)/,
    ],
    ['a price that is none', `${head}${at},,1,buy\n`, /line 3: "" in column 2 is not a number/],
    ['a price below 0', `${head}${at + 6},-100,1,buy\n`, /1 impossible trade \(line 3, .*: price -100, quantity 1\)/],
    ['a price that nothing costs', `${head}${at + 6},1e24,1,buy\n`, /1 impossible trade \(line 3, .*: price 1e\+24/],
    ['times in s', `${head}${at / 1_000},100,1,buy\n`, /line 3: the time 1704067200 is in s; files/],
    ['times in µs', `${head}${at}000,100,1,buy\n`, /line 3: the time 1704067200000000 is in µs; .* import it/],
    ['times in ns', `${head}${at}000000,100,1,buy\n`, /line 3: the time 1704067200000000000 is in ns; files/],
    ['parts of a ms', `${head}${at}.5,100,1,buy\n`, /line 3: the time 1704067200000.5 has fractions of a ms/],
    [
      'disorder',
      `${head}${at + 4},100,1,sell\n`,
      /not read .* 1 trade earlier than the one before \(line 3, 2024-01-01T00:00:00.004Z\): .*--repair sort.*write catalogue/,
    ],
  ])('%s are refused with the line', (_, content, message) => {
    expect(() => loadTrades({ path: written(content), symbol: 'X' })).toThrow(message);
  });
});

test('books are the same wherever a file is cut into blocks, and the last line needs no end', () => {
  const start = Date.UTC(2024, 0, 1);
  // Twelve MB: lines of any length, and letters of two bytes that blocks cut in two.
  const line = (at: number): string =>
    JSON.stringify({ note: 'é'.repeat((at * 7_919) % 9_000), t: start + at, b: [[99, at + 1]], a: [[101, 1]] });
  const lines = Array.from({ length: 1_500 }, (_, at) => line(at));
  const long = `{"note":"${'é'.repeat(2 ** 20 - 99)}","t":${start + 1_500},"b":[[99,1]],"a":[[101,1]]}`;
  const quantities = [...lines.map((_, at) => at + 1), 1];
  for (const [end, ended] of [
    ['', false],
    ['\n', true],
  ] as const) {
    const read = readDepth(written([...lines, long].join('\n') + end));
    expect([...read.rows.quantity].filter((_, row) => row % 2 === 0)).toEqual(quantities);
    expect(read.ended).toBe(ended);
  }
});

describe('recorded books', () => {
  test('the bundled books are read whole, best first', () => {
    const books = loadDepth({ path: bundled('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz'), symbol: 'BTCUSDT' });
    expect(books).toHaveLength(650);
    expect(books[0]).toMatchObject({ symbol: 'BTCUSDT', time: 1_723_161_256_000 });
    expect(books[0]?.bids[0]).toEqual([61_828.01, 0.0455]);
    expect(books.every(({ bids, asks }) => (bids[0]?.[0] ?? 0) < (asks[0]?.[0] ?? 0))).toBe(true);
  });

  const t = Date.UTC(2024, 0, 1);
  const one = `{"t":${t},"b":[[99,1],[98,1]],"a":[[100,1]]}\n`;
  test.each([
    ['a cut line', `${one}{"t":${t},"b":[[99`, /line 2: it is not JSON/],
    [
      'books without asks',
      one.replace('[100,1]', ''),
      /1 book without bids or without asks \(line 1, .*: no asks\): orders on one side do not fill/,
    ],
    ['a level of nothing', one.replace('[98,1]', '[98,0]'), /line 1: the level at 98 has quantity 0/],
    ['times in µs', `${one}${one.replace(`${t}`, `${t}000`)}`, /line 2: the time 1704067200000000 is in µs/],
    [
      'a crossed book',
      one.replace('[100,1]', '[98.5,1]'),
      /1 book with a bid above the ask \(line 1, .*--repair impossible/,
    ],
    [
      'unsorted levels',
      one.replace('[98,1]', '[99.5,1]'),
      /1 book with impossible levels \(line 1, .*: levels are not sorted best first\)/,
    ],
    [
      'disorder',
      `${one}${one.replace(`${t}`, `${t - 1}`)}`,
      /1 book earlier than the one before \(line 2, .*--repair sort/,
    ],
  ])('%s are refused with the line', (_, content, message) => {
    expect(() => loadDepth({ path: written(content), symbol: 'X' })).toThrow(message);
  });
});

describe('what an import would say is said of files that are named', () => {
  const start = Date.UTC(2024, 0, 10);
  const file = { name: 'x.csv', now: Date.UTC(2026, 0, 1) };

  test('of trades: a side that is broken, gaps; and nothing of what lies outside the run', () => {
    const rows = Array.from({ length: 300 }, (_, row) => {
      const time = start + row * 1_000 + (row >= 250 ? 600_000 : 0);
      return `${time},100,1,${row < 100 && row % 2 === 0 ? 'buy' : 'sell'}\n`;
    });
    const trades = readTrades(written(`time_ms,price,qty,side\n${rows.join('')}`)).columns;
    const gaps = silencesOf('X', trades);
    expect(tradeNotes(file, trades, gaps).warnings).toEqual(['x.csv: 1 gap, longest 10 min (2024-01-10T00:04:09Z)']);
    expect(tradeNotes({ ...file, from: start + 100_000, to: start + 249_000 }, trades, gaps)).toEqual({
      warnings: [expect.stringMatching(/^x\.csv: every trade is a SELL: the side in the source is wrong/)],
      doubts: ['x.csv: every trade is a SELL'],
    });
  });

  test('of books: prices that were rounded, gaps; also of more books than are checked together', () => {
    const lines = Array.from({ length: 2_500 }, (_, book) => {
      const time = start + book * 1_000 + (book >= 2_400 ? 60_000 : 0);
      const ask = book % 1_200 === 1_000 ? 99 : 100 + (book % 7);
      return `{"t":${time},"b":[[99,1],[98,${book + 1}]],"a":[[${ask},1],[200,1]]}\n`;
    });
    const { rows } = readDepth(written(lines.join('')));
    expect(depthNotes(file, 'X', rows)).toEqual({
      warnings: [
        'x.csv: 1 gap, longest 61 s (2024-01-10T00:39:59Z)',
        expect.stringMatching(
          /^x\.csv: 2 books with bid and ask at one price \(first 2024-01-10T00:16:40Z\): the source rounded prices/,
        ),
      ],
      doubts: ['x.csv: 2 books with bid and ask at one price'],
    });
    expect(depthNotes({ ...file, from: start + 2_300_000, to: start + 2_400_000 }, 'X', rows).warnings).toEqual([]);
    const now = start;
    expect(depthNotes({ ...file, now }, 'X', rows).doubts[1]).toContain('which is after 2024-01-10, today');
  });
});
