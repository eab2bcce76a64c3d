import { expect, test } from 'vitest';
import { decision, fill, intent, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { rate } from '../domain/money.ts';
import { Planner } from '../portfolio/planner.ts';
import { Protection } from '../portfolio/protection.ts';
import { PendingTakeProfits } from './pending-take-profits.ts';

const traded = { id: 's', symbol: 'BTCUSDT' };

function bench(more: Parameters<typeof target>[1] = { takeProfit: 110 }) {
  const held = portfolio();
  held.mark(traded.symbol, 100, startTime);
  const planner = new Planner({
    portfolio: held,
    protection: new Protection(held, () => undefined),
    account: 'spot',
    marketBuyIn: 'lots',
    feeInBase: rate('0'),
    changed: () => {},
    unsent: () => {},
  });
  planner.note(decision(target(1, more)));
  return { held, planner, targets: new PendingTakeProfits({ portfolio: held, planner }) };
}

test('is due once for each position, however often it is polled', () => {
  const { held, targets } = bench();
  expect(targets.due(traded, startTime)).toBeUndefined();
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(traded, startTime)?.signal).toMatchObject({ takeProfit: 110 });
  expect(targets.due(traded, startTime)).toBeUndefined();
  targets.forget(traded);
  expect(targets.due(traded, startTime)).toBeDefined();
  held.apply(fill({ side: 'SELL', quantity: '1' }));
  expect(targets.due(traded, startTime)).toBeUndefined();
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(traded, startTime)).toBeDefined();
});

test('that is refused is due again after a while, which another position begins anew', () => {
  const { held, planner } = bench();
  const targets = new PendingTakeProfits({ portfolio: held, planner }, (times: number) => times * 1_000);
  const dueAt = (ms: number): boolean => targets.due(traded, startTime + ms) !== undefined;
  held.apply(fill({ quantity: '1' }));
  expect([0, 999, 1_000, 2_999, 3_000].map(dueAt)).toEqual([true, false, true, false, true]);
  held.apply(fill({ side: 'SELL', quantity: '1' }));
  held.apply(fill({ quantity: '1' }));
  expect([3_001, 4_000, 4_001].map(dueAt)).toEqual([true, false, true]);
});

test('that ended without selling is due again, whatever ended it, and at once where its strategy said another word', () => {
  const { held, planner, targets } = bench();
  const dueAt = (ms: number): boolean => targets.due(traded, startTime + ms) !== undefined;
  held.apply(fill({ quantity: '1' }));
  expect(dueAt(0)).toBe(true);
  for (const [end, ms] of [
    ['rejected', 2_000],
    ['absent', 18_000],
    ['canceled', 146_000],
  ] as const) {
    const order = held.reserve(intent({ side: 'SELL', purpose: 'takeProfit' }));
    expect(dueAt(ms - 1)).toBe(false);
    held.close(order, end);
    expect([dueAt(ms - 1), dueAt(ms)]).toEqual([false, true]);
  }
  planner.note(decision(target(1, { takeProfit: 112 })));
  expect(dueAt(146_001)).toBe(true);
});

test('is not due while an order works, nor where something else comes first', () => {
  const { held, targets } = bench();
  held.apply(fill({ quantity: '0.5' }));
  // The other half is entered when the strategy says so again.
  expect(targets.due(traded, startTime)).toBeUndefined();
  held.apply(fill({ quantity: '0.5' }));
  const order = held.reserve(intent({ side: 'SELL' }));
  expect(targets.due(traded, startTime)).toBeUndefined();
  held.close(order, 'canceled');
  expect(targets.due(traded, startTime)).toBeDefined();
});

test('is not due without a take-profit', () => {
  const { held, targets } = bench({ stop: 90 });
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(traded, startTime)).toBeUndefined();
});

test('of several is due where another rests', () => {
  const list = [
    { at: 110, share: 0.5 },
    { at: 120, share: 0.5 },
  ];
  const { held, planner, targets } = bench({ takeProfit: list });
  held.apply(fill({ quantity: '1' }));
  const dueAt = (ms: number): boolean => targets.due(traded, startTime + ms) !== undefined;
  expect(dueAt(0)).toBe(true);
  const made = decision(target(1, { takeProfit: list }));
  const rests = (): void => {
    const step = planner.plan(made);
    if (step?.do !== 'create') throw new Error('nothing to order');
    held.reserve({ ...step.draft, clientOrderId: 'c', createdAt: startTime, expiresAt: startTime }).state = 'open';
  };
  rests();
  expect([dueAt(1_999), dueAt(2_000)]).toEqual([false, true]);
  rests();
  expect(dueAt(1_000_000)).toBe(false);
});
