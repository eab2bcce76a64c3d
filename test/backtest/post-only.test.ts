/** Limits that shall not take in backtests: rows worked out by hand, by columns, by streams and by events, and by recorded books. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import type { Tape } from '../../src/data/tape.ts';
import type { Level } from '../../src/domain/market.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { hold } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { bookColumns, tradeColumns } from '../kit/tape-columns.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf, runStreams } from './agreement.ts';

const minute = 60_000;

/** Minutes of one price each; bids for two at this limit from the first close on. */
function input(prices: readonly number[], limit: number, postOnly: boolean, tape?: Tape): RunInput {
  const klines = prices.map((price, row) => ({
    ...{ time: row * minute, open: price, high: price, low: price, close: price, volume: 100 },
  }));
  const plain = inputOf(
    caseOfXz({
      ...{ columns: columnsOf(klines), rules: 'sluice', cash: '1000000' },
      strategy: defineStrategy({
        ...{ name: 'bids', about: 'Bids from the first kline on', params: {}, indicators: () => ({}) },
        decide: () => hold({ quantity: 2 }, 'bid', { limit, postOnly }),
      }),
    }),
  );
  return tape === undefined ? plain : { ...plain, tapes: new Map([['XZ', tape]]) };
}

/** Whatever drives it, the same rows come of klines. */
async function byKlines(prices: readonly number[], limit: number, postOnly = true) {
  const rows = rowsOf(runNow(input(prices, limit, postOnly)));
  expect(rowsOf(await runStreams(input(prices, limit, postOnly)))).toEqual(rows);
  expect(rowsOf(await runTape(input(prices, limit, postOnly)))).toEqual(rows);
  return rows;
}

test('P1: a bid above the close is moved a tick below it, and fills there as a maker', async () => {
  // Moved to 99.99, which needs a low of 99.98; the fee of 0.001 is taken in X.
  const { orders, fills } = await byKlines([100, 100, 99.99, 99.98, 99.98], 101);
  expect(orders).toMatchObject([{ price: '99.99', state: 'filled' }]);
  expect(fills).toMatchObject([{ price: '99.99', quantity: '2', fee: '0.002', maker: true, time: 4 * minute - 1 }]);
});

test('P2: without it the same bid takes at the next open, half a spread up', async () => {
  const { fills } = await byKlines([100, 100, 99.99, 99.98, 99.98], 101, false);
  expect(fills).toMatchObject([{ price: '100.05', quantity: '2', fee: '0.004', maker: false, time: minute }]);
});

test('P3: a next open below the bid fills it at its own price, as a maker', async () => {
  const { orders, fills } = await byKlines([100, 98, 98], 101);
  expect(orders).toMatchObject([{ price: '99.99', state: 'filled' }]);
  expect(fills).toMatchObject([{ price: '99.99', fee: '0.002', maker: true, time: 2 * minute - 1 }]);
});

test('P4: a bid below the close stays where it is', async () => {
  const { orders } = await byKlines([100, 100, 100], 99.5);
  expect(orders).toMatchObject([{ price: '99.5', state: 'open' }]);
});

test('P5: by recorded books it is moved a tick below the best ask that was seen', async () => {
  const level = (price: number): readonly Level[] => [[price, 50]];
  const seen = (time: number) => ({ symbol: 'XZ', time, seenAt: time });
  const books = Array.from({ length: 300 }, (_, second) => ({
    ...seen(second * 1_000),
    bids: level(99.9),
    asks: level(100.2),
  }));
  const trades = [0, 60_000, 120_000, 180_000, 299_000].map((time) => ({
    ...{ ...seen(time), side: 'SELL' as const, price: time === 180_000 ? 100.1 : 100.2, quantity: 50 },
  }));
  const tape: Tape = { trades: tradeColumns(trades), books: bookColumns(books), gaps: [] };
  const { orders, fills } = rowsOf(await runTape(input([100, 100, 100, 100, 100], 101, true, tape)));
  expect(orders).toMatchObject([{ price: '100.19', state: 'filled' }]);
  expect(fills).toMatchObject([{ price: '100.19', maker: true, time: 180_000 }]);
});
