/** What a backtest's requests would have weighed live. */
import { describe, expect, test } from 'vitest';
import {
  askedTogether,
  liveTiming,
  SentOrders,
  spentWeight,
  weightText,
} from '../../src/backtest/result/spent-weight.ts';
import { defaultTiming } from '../../src/execution/context.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import { type Case, caseOfXz, columnsOf, inputOf, runStreams, scripted } from './agreement.ts';

const given = (seed: number): Case => {
  const { klines, signals } = generated(seed, 200);
  return caseOfXz({ columns: columnsOf(klines), rules: 'plain', cash: '1000000', strategy: scripted(signals) });
};

describe('what a run sent', () => {
  test('is the same by columns and by streams', async () => {
    for (const seed of [1, 2, 3]) {
      const input = inputOf(given(seed));
      const asked = runNow(input).asked();
      expect(asked.cancels).toBeGreaterThan(0);
      expect((await runStreams(input)).asked()).toEqual(asked);
    }
  });

  test('is the same in short numbers and the long way', () => {
    const params = { fast: 3, slow: 9, quantity: 1, share: 0, stop: 0 };
    const input = inputOf({ ...given(4), strategy: smaCross, params });
    const asked = runNow(input).asked();
    expect(asked.orders).toBeGreaterThan(5);
    expect(asked).toEqual(runByKlines(input).asked());
  });

  test('counts the time that at least one order of a symbol worked once', () => {
    const sent = new SentOrders();
    sent.add('A', 0, 30, false);
    sent.add('A', 10, 20, false);
    sent.add('A', 50, 60, false);
    sent.add('B', 0, 5, false);
    sent.add('A', 25, 40, true);
    const { asked } = sent;
    expect(asked).toEqual({ orders: 5, cancels: 1, workedMs: 40 + 10 + 5 });
    expect(askedTogether([asked, asked])).toEqual({ orders: 10, cancels: 2, workedMs: 110 });
  });
});

test('looks are those of a daemon that is not told otherwise', () => {
  const { pollMs, sweepMs } = defaultTiming;
  expect(liveTiming).toEqual({ pollMs, sweepMs });
});

test('orders, looks while they work and idle looks are weighed by the prices of the exchange', () => {
  const at = { account: 'spot', symbols: 1, spanMs: 120_000 } as const;
  const none = spentWeight({ orders: 0, cancels: 0, workedMs: 0 }, at);
  expect([none.orders, none.polls]).toEqual([0, 0]);
  expect(none.sweeps).toBeGreaterThan(0);
  const some = spentWeight({ orders: 2, cancels: 1, workedMs: 60_000 }, at);
  // Half of the time one looks five times as often.
  expect(some.polls).toBe(2.5 * none.sweeps);
  expect(some.sweeps).toBe(none.sweeps / 2);
  expect(some.perMinute).toBe((some.orders + some.polls + some.sweeps) / 2);
  expect(weightText({ perMinute: 0.75 })).toBe('0.8 a minute if traded live, which exchanges limit');
});
