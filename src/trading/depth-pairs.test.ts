import { expect, test } from 'vitest';
import type { Depth } from '../domain/market.ts';
import { depthPairs } from './depth-pairs.ts';

/** What each book says together with the one before it; `[time, bid, ask]`. */
function pairsOf(...books: readonly (readonly [number, number, number])[]) {
  const pair = depthPairs();
  return books.map(([time, bid, ask]) => {
    const book: Depth = { symbol: 'BTCUSDT', time, bids: [[bid, 1]], asks: [[ask, 1]], seenAt: 0 };
    const said = pair(book);
    return said && [said.near.bid, said.near.ask, said.far.bid, said.far.ask, said.isSteady];
  });
}

test('a price counts as far as two books in a row have come', () => {
  expect(pairsOf([1, 100, 101], [2, 98, 99], [3, 97, 98])).toEqual([
    undefined,
    [100, 99, 98, 101, false],
    [98, 98, 97, 99, false],
  ]);
  expect(pairsOf([1, 100, 101], [2, 100.5, 101])[1]).toEqual([100.5, 101, 100, 101, true]);
});

test('a single odd book between others changes nothing that both of a pair say', () => {
  const [, into, outOf] = pairsOf([1, 100, 101], [2, 50, 51], [3, 100, 101]);
  expect([into?.[0], outOf?.[0], into?.[4], outOf?.[4]]).toEqual([100, 100, false, false]);
});

test('the same book twice, or two of one moment, are one', () => {
  expect(pairsOf([1, 100, 101], [1, 90, 91], [1, 90, 91], [2, 90, 91])).toEqual([
    undefined,
    undefined,
    undefined,
    [90, 91, 90, 91, true],
  ]);
});

test('a book that has lost a side is none, and the next one is the first again', () => {
  expect(pairsOf([1, 100, 101], [2, 1, 101], [3, 1, 101], [4, 100, 101], [5, 100, 101]).map(Boolean)).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
});
