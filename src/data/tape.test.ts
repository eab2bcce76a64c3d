import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linesOf } from './bytes.ts';
import { loadDepth } from './depth.ts';
import { loadTrades } from './trades.ts';

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

  const head = 'time_ms,price,qty,side\n5,100,1,buy\n';
  test.each([
    ['other columns', 'time,price\n', /line 1: the columns are "time,price"/],
    ['a cut line', `${head}6,100`, /line 3: 2 columns, not 4/],
    ['a side that is none', `${head}6,100,1,both\n`, /line 3: the side is "both"/],
    ['a price that is none', `${head}6,,1,buy\n`, /line 3: "6,,1,buy" is no trade/],
    ['disorder', `${head}4,100,1,sell\n`, /line 3: it is 1 ms earlier/],
  ])('%s are refused with the line', (_, content, message) => {
    expect(() => loadTrades({ path: written(content), symbol: 'X' })).toThrow(message);
  });
});

test('a file that is longer than a text can be is refused with the way that takes it', () => {
  const path = written('x'.repeat(2_000_000));
  expect(linesOf(path, 2_000_000)).toHaveLength(1);
  expect(() => linesOf(path, 1_999_999)).toThrow(
    /has more than the 1 MB, unpacked, .*: import it \(sluice data import/,
  );
});

describe('recorded books', () => {
  test('the bundled books are read whole, best first', () => {
    const books = loadDepth({ path: bundled('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz'), symbol: 'BTCUSDT' });
    expect(books).toHaveLength(650);
    expect(books[0]).toMatchObject({ symbol: 'BTCUSDT', time: 1_723_161_256_000 });
    expect(books[0]?.bids[0]).toEqual([61_828.01, 0.0455]);
    expect(books.every(({ bids, asks }) => (bids[0]?.[0] ?? 0) < (asks[0]?.[0] ?? 0))).toBe(true);
  });

  const one = '{"t":5,"b":[[99,1],[98,1]],"a":[[100,1]]}\n';
  test.each([
    ['a cut line', `${one}{"t":6,"b":[[99`, /line 2: it is not JSON/],
    ['a book without asks', `${one}{"t":6,"b":[[99,1]],"a":[]}\n`, /line 2: it is no book: a/],
    ['a crossed book', one.replace('[100,1]', '[98.5,1]'), /line 1: the book is crossed \(bid 99 above ask 98.5\)/],
    ['unsorted levels', one.replace('[98,1]', '[99.5,1]'), /line 1: its levels are not sorted/],
    ['disorder', `${one}${one.replace('5', '4')}`, /line 2: it is 1 ms earlier/],
  ])('%s are refused with the line', (_, content, message) => {
    expect(() => loadDepth({ path: written(content), symbol: 'X' })).toThrow(message);
  });
});
