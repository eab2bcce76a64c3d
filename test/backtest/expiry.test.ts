/** Entries that expire in backtests: rows worked out by hand, the same by columns, by streams and by events, and between two trades. */
import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import type { Tape } from '../../src/data/tape.ts';
import type { Signal } from '../../src/domain/order.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { hold } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { tradeColumns } from '../kit/tape-columns.ts';
import { caseOfXz, columnsOf, inputOf, type Rows, rowsOf, runStreams } from './agreement.ts';

const minute = 60_000;

/** Minutes at 100 with these lows; each gives a tenth of its volume of 100 to what rests. */
const klinesWith = (lows: readonly number[]) =>
  columnsOf(lows.map((low, row) => ({ time: row * minute, open: 100, high: 100, low, close: 100, volume: 100 })));

/** Says its signals at the rows that they are given for, and nothing else. */
function input(lows: readonly number[], signals: Readonly<Record<number, Signal>>, tape?: Tape): RunInput {
  const plain = inputOf(
    caseOfXz({
      ...{ columns: klinesWith(lows), rules: 'sluice', cash: '1000000' },
      strategy: defineStrategy({
        ...{ name: 'scripted', about: 'Says what a test wrote down', params: {}, indicators: () => ({}) },
        decide: (_, { kline }) => signals[kline.openTime / minute],
      }),
    }),
  );
  return tape === undefined ? plain : { ...plain, tapes: new Map([['XZ', tape]]) };
}

type Order = Readonly<Record<'time' | 'side' | 'quantity' | 'price' | 'purpose' | 'executed' | 'state', string>>;

const text = ({ orders }: Rows): string[] =>
  (orders as readonly (Rows['orders'][number] & Order)[]).map(
    ({ time, side, quantity, price, purpose, executed, state }) =>
      `${Number(time) / minute} ${purpose} ${side} ${quantity} at ${price}: ${executed} ${state}`,
  );

/** The orders of a run over klines, by the minute at which each was created. */
async function byKlines(lows: readonly number[], signals: Readonly<Record<number, Signal>>): Promise<string[]> {
  const columns = rowsOf(runNow(input(lows, signals)));
  expect(rowsOf(await runStreams(input(lows, signals)))).toEqual(columns);
  expect(rowsOf(await runTape(input(lows, signals)))).toEqual(columns);
  return text(columns);
}

describe('by klines, of a bid at 99 that is given at the close of the first minute', () => {
  const bid = (options: Parameters<typeof hold>[2] = {}) =>
    hold({ quantity: 30 }, 'bid', { limit: 99, expiresAfterKlines: 2, ...options });

  test('X1: two klines go by without a fill, and what the third would have filled is gone', async () => {
    expect(await byKlines([100, 99.5, 99, 90, 90], { 0: bid() })).toEqual(['1 enter BUY 30 at 99: 0 canceled']);
  });

  test('X2: the last of them fills it before its close', async () => {
    // A tenth of 100 each: 10 in the second minute, 10 in the third, and the 10 that are left are not ordered again.
    expect(await byKlines([100, 98, 98, 98, 98], { 0: bid() })).toEqual(['1 enter BUY 30 at 99: 20 canceled']);
  });

  test('X3: what filled takes its profit, by shares of what filled', async () => {
    const takeProfit = [
      { at: 110, share: 0.5 },
      { at: 120, share: 0.5 },
    ];
    // 20 less the maker's fee of 0.001 X each, in whole lots of 0.0001: 19.98.
    expect(await byKlines([100, 98, 98, 98, 98], { 0: bid({ takeProfit }) })).toEqual([
      '1 enter BUY 30 at 99: 20 canceled',
      '3 takeProfit SELL 9.99 at 110: 0 open',
      '3 takeProfit SELL 9.99 at 120: 0 open',
    ]);
  });

  test('X4: the same target does not order it again, another price does, for a time of its own', async () => {
    expect(
      await byKlines([100, 99, 99, 99, 99, 99, 99, 99], {
        0: bid(),
        3: bid(),
        4: bid({ limit: 98 }),
        5: bid({ limit: 98 }),
      }),
    ).toEqual(['1 enter BUY 30 at 99: 0 canceled', '5 enter BUY 30 at 98: 0 canceled']);
  });

  test('X5: a time between two closes counts at the later one', async () => {
    const late = hold({ quantity: 5 }, 'bid', { limit: 99, expiresAfterMs: 1.5 * minute });
    expect(await byKlines([100, 99, 98, 98], { 0: late })).toEqual(['1 enter BUY 5 at 99: 5 filled']);
    expect(await byKlines([100, 99, 99, 98], { 0: late })).toEqual(['1 enter BUY 5 at 99: 0 canceled']);
  });
});

describe('by trades', () => {
  /** Behind the first 90 s nothing is traded but one print, at this time. */
  const orders = async (at: number): Promise<string[]> => {
    const prints = [0, 30_000, 60_000, 90_000, 300_000].map((time) => ({ time, price: 100, side: 'BUY' as const }));
    const last = { time: at, price: 98, side: 'SELL' as const };
    const trades = [...prints, last]
      .toSorted((a, b) => a.time - b.time)
      .map((one) => ({ ...one, symbol: 'XZ', seenAt: one.time, quantity: 50 }));
    const bid = hold({ quantity: 1 }, 'bid', { limit: 99, expiresAfterMs: 90_000 });
    const tape: Tape = { trades: tradeColumns(trades), gaps: [] };
    return text(rowsOf(await runTape(input([100, 100, 100, 100, 100], { 0: bid }, tape)))).map((row) =>
      row.slice(row.indexOf(':')),
    );
  };

  test('X6: it is cancelled at its time, on the way for 150 ms, though nothing is traded then', async () => {
    // Decided on at 60,100, so the cancel leaves at 150,100 and arrives at 150,250.
    expect(await orders(150_240)).toEqual([': 1 filled']);
    expect(await orders(150_260)).toEqual([': 0 canceled']);
    expect(await orders(200_000)).toEqual([': 0 canceled']);
  });
});
