import { expect, test } from 'vitest';
import { booksOf, type Tape } from '../../data/tape.ts';
import type { Columns } from '../../domain/market.ts';
import { levelNotes } from './tape-levels.ts';

const minute = 60_000;
const start = Date.UTC(2024, 0, 7);
const numbers = (count: number, of: (at: number) => number): Float64Array =>
  Float64Array.from({ length: count }, (_, at) => of(at));

/** Ten minutes between 99 and 101. */
const columns: Columns = {
  openTime: numbers(10, (at) => start + at * minute),
  open: numbers(10, () => 100),
  high: numbers(10, () => 101),
  low: numbers(10, () => 99),
  close: numbers(10, () => 100),
  volume: numbers(10, () => 5),
};
const notes = (tape: Omit<Tape, 'gaps'>): readonly string[] =>
  levelNotes({ symbol: 'ABCUSDT', interval: '1min', columns }, { ...tape, gaps: [] });

/** A trade at the end of each minute from `first` on. */
const trades = (prices: readonly number[], first = 0): Omit<Tape, 'gaps'> => ({
  trades: {
    time: numbers(prices.length, (at) => start + (first + at + 1) * minute - 1),
    price: Float64Array.from(prices),
    quantity: numbers(prices.length, () => 1),
    side: numbers(prices.length, () => 1),
  },
});
const books = (bid: number, ask: number): Omit<Tape, 'gaps'> => ({
  books: booksOf({
    time: numbers(20, (row) => start + (row >> 1) * minute),
    book: numbers(20, (row) => row >> 1),
    side: numbers(20, (row) => (row % 2 === 0 ? 1 : -1)),
    price: numbers(20, (row) => (row % 2 === 0 ? bid : ask)),
    quantity: numbers(20, () => 1),
  }),
});

test('trades at another price than the klines of their time are reported', () => {
  expect(notes(trades([100, 90.07, 90, 90], 3))).toEqual([
    'ABCUSDT: its trades do not match its klines: more than 2 % below the low or above the high in 3 of 4 klines of 1min (first 90.07 in the kline of 2024-01-07T00:04:00Z, which goes from 99 to 101): orders would fill at prices that the strategy never saw. Use both from one market, or only klines (fidelity: klines)',
  ]);
  expect(notes(trades([104, 104], 8))).toHaveLength(1);
});

test('books are compared by the middle of their best prices', () => {
  expect(notes(books(90, 91))).toEqual([expect.stringMatching(/^ABCUSDT: its books do not match .* in 10 of 10/)]);
  expect(notes(books(96, 104))).toEqual([]);
});

test.each([
  ['a little beyond the kline', trades([103, 97.1, 102, 98])],
  ['a few wrong prints', trades([100, 90, 100, 90])],
  ['no kline of their time', trades([1, 2, 3], 50)],
  ['before the first kline', trades([1, 2, 3], -9)],
  ['none at all', trades([])],
  ['nothing', {}],
])('%s is not reported', (_, tape) => {
  expect(notes(tape)).toEqual([]);
});
