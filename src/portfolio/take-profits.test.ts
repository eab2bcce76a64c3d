/** Several take-profits of a target: the orders of what is left, after each fill and after a restart. */
import { describe, expect, test } from 'vitest';
import { btc, decision, fill, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { lots, priceText, quantityText, rate, ticks } from '../domain/money.ts';
import type { Target } from '../domain/order.ts';
import type { OrderDraft } from './plan.ts';
import { Planner } from './planner.ts';
import { Protection, type SavedGuard } from './protection.ts';
import { isLastTaken, partsOf } from './take-profits.ts';

const two = [
  { at: 120, share: 0.5 },
  { at: 110, share: 0.5 },
];

/** A strategy that holds what it wants: what it orders next, one order a call, as if each of them rested. */
function bench(saved?: SavedGuard, taken = '0', fee = '0') {
  const held = portfolio();
  let last: SavedGuard | null = null;
  const protection = new Protection(held, (_strategy, _symbol, of) => {
    last = of();
  });
  held.apply(fill({ quantity: '4' }));
  if (taken !== '0') held.apply(fill({ side: 'SELL', quantity: taken, price: '110' }));
  const planner = new Planner({
    ...{ portfolio: held, protection, account: 'spot', marketBuyIn: 'lots', feeInBase: rate(fee) },
    ...{ changed: () => {}, unsent: () => {} },
  });
  const signal = (more: Partial<Target> = {}): Target => target(4, { takeProfit: two, ...more });
  if (saved !== undefined) {
    protection.restore('s', btc.symbol, saved);
    const [leg] = decision(signal()).legs;
    planner.restore(leg, lots('4', btc), 1);
  }
  return {
    ...{ held, protection, planner, signal },
    saved: () => last,
    /** The orders that a signal needs; those at a price of `refused` are refused. */
    orders: (wanted: Target, ...refused: readonly string[]): readonly string[] => {
      const made = decision(wanted);
      planner.note(made);
      const texts: string[] = [];
      const without: OrderDraft[] = [];
      for (let step = planner.plan(made); step !== undefined; step = planner.plan(made, without)) {
        if (step.do === 'cancel') {
          texts.push(`cancel ${step.order.intent.clientOrderId}`);
          held.close(step.order, 'canceled');
          continue;
        }
        const { side, expectedLots, price } = step.draft;
        texts.push(
          `${side} ${quantityText(expectedLots, btc)} at ${price === undefined ? 'market' : priceText(price, btc)}`,
        );
        if (price !== undefined && refused.includes(priceText(price, btc))) {
          without.push(step.draft);
          continue;
        }
        const order = held.reserve({
          ...step.draft,
          ...{ clientOrderId: `c${texts.length}`, createdAt: startTime, expiresAt: startTime },
        });
        order.state = 'open';
        if (texts.length > 9) break;
      }
      return texts;
    },
  };
}

test('rest together, the nearest first, whatever their order in the list', () => {
  const { orders, signal } = bench();
  expect(orders(signal())).toEqual(['SELL 2 at 110', 'SELL 2 at 120']);
  expect(orders(signal())).toEqual([]);
});

test('move one by one with their levels', () => {
  const { orders, signal } = bench();
  orders(signal());
  const [far] = two;
  expect(
    orders(
      signal({
        takeProfit: [
          { at: 110, share: 0.5 },
          { ...far, at: 121, share: 0.5 },
        ],
      }),
    ),
  ).toEqual(['cancel c2', 'SELL 2 at 121']);
});

test('leave room for one another: the last is cancelled where it offers more than is left for it, however little', () => {
  const { orders } = bench(undefined, '0', '0.01');
  expect(orders(target(4, { takeProfit: two }))).toEqual(['SELL 2 at 110', 'SELL 2 at 120']);
  // All that is held is within the fee of 4.02; but 2.01 and 2 would be more than that.
  expect(orders(target(4.02, { takeProfit: two }))).toEqual([
    ...['cancel c1', 'cancel c2'],
    ...['SELL 2.01 at 110', 'SELL 1.99 at 120'],
  ]);
  expect(orders(target(4, { takeProfit: two }))).toEqual(['cancel c3', 'SELL 2 at 110']);
});

test('are cancelled by a flat target before it sells', () => {
  const { orders, signal } = bench();
  orders(signal());
  expect(orders(target(0))).toEqual(['cancel c1', 'cancel c2', 'SELL 4 at market']);
});

test('are each refused alone: the others rest, and what was refused is asked for again with the next signal', () => {
  const { orders, signal } = bench();
  expect(orders(signal(), '110')).toEqual(['SELL 2 at 110', 'SELL 2 at 120']);
  expect(orders(signal(), '110')).toEqual(['SELL 2 at 110']);
  expect(orders(signal())).toEqual(['SELL 2 at 110']);
});

describe('after the first has filled', () => {
  test('only the second rests, also after a restart, and nothing is bought back', () => {
    const before = bench();
    before.orders(before.signal());
    before.held.apply(fill({ side: 'SELL', quantity: '2', price: '110' }));
    before.planner.booked({ ...fill({ side: 'SELL', quantity: '2', price: '110' }), purpose: 'takeProfit' });
    expect(before.saved()).toMatchObject({ taken: '2', relative: JSON.stringify({ parts: two }) });
    const after = bench(before.saved() ?? {}, '2');
    expect(after.orders(after.signal())).toEqual(['SELL 2 at 120']);
    expect(after.protection.isExiting('s', btc.symbol)).toBe(false);
  });

  test('partly, its rest and the second stay', () => {
    const { orders, signal, held, planner } = bench();
    orders(signal());
    const part = {
      ...fill({ side: 'SELL', quantity: '0.5', price: '110', id: 'c1' }),
      purpose: 'takeProfit' as const,
    };
    held.apply(part);
    planner.booked(part);
    expect(orders(signal())).toEqual([]);
  });
});

test('measured from the entry they are worked out from what the position was bought at', () => {
  const { orders, signal } = bench();
  const takeProfit = [
    { at: { fromEntry: 0.1 }, share: 0.5 },
    { at: { distance: 5 }, share: 0.25 },
  ];
  expect(orders(signal({ takeProfit }))).toEqual(['SELL 1 at 105', 'SELL 2 at 110']);
  // A distance stays as it was at the entry.
  const wider = [
    { at: { fromEntry: 0.1 }, share: 0.5 },
    { at: { distance: 7 }, share: 0.25 },
  ];
  expect(orders(signal({ takeProfit: wider }))).toEqual([]);
});

test('shares that add up to one in numbers only nearly close the position', () => {
  const parts = Array.from({ length: 10 }, (_, step) => ({ at: ticks(String(110 + step), btc), share: 0.1 }));
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeLessThan(1);
  const levels = partsOf('SELL', parts);
  expect(levels.at(-1)?.share).toBeUndefined();
  expect(isLastTaken(levels, lots('4', btc), lots('3.6', btc), btc)).toBe(false);
  expect(isLastTaken(levels, lots('4', btc), lots('3.7', btc), btc)).toBe(true);
  const some = partsOf('SELL', [{ at: ticks('110', btc), share: 0.5 }]);
  expect(isLastTaken(some, lots('4', btc), lots('2', btc), btc)).toBe(false);
});

test('of a short position the highest is the nearest', () => {
  const parts = [
    { at: ticks('90', btc), share: 0.25 },
    { at: ticks('95', btc), share: 0.5 },
  ];
  expect(partsOf('BUY', parts).map(({ at }) => priceText(at, btc))).toEqual(['95', '90']);
});

test.each(['SELL', 'BUY'] as const)(
  'at the same price they stay in the order of the list, on the side of a %s',
  (side) => {
    const at = ticks('95', btc);
    const shares = [0.25, 0.5, 0.125];
    const levels = partsOf(
      side,
      shares.map((share) => ({ at, share })),
    );
    expect(levels.map(({ share }) => share)).toEqual(shares.map((share) => rate(String(share))));
  },
);
