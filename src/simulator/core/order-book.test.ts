import { expect, test } from 'vitest';
import { fc } from '../../../test/kit/properties.ts';
import type { Side } from '../../domain/market.ts';
import { type Lots, noLots, noUnits, type Ticks } from '../../domain/money.ts';
import type { SimOrder } from './order.ts';
import { OrderBook, quantityAt } from './order-book.ts';

let count = 0;
const order = (side: Side, price: number, quantity: number): SimOrder => ({
  orderId: String(++count),
  clientOrderId: '',
  uid: '1',
  account: 'spot',
  holder: '1',
  symbol: 'ABCUSDT',
  side,
  type: 'LIMIT',
  price: BigInt(price) as Ticks,
  quantity: BigInt(quantity) as Lots,
  amount: noUnits,
  createdAt: 0,
  updatedAt: 0,
  status: 'NEW',
  executed: noLots,
  spent: noUnits,
  locked: noUnits,
  queueAhead: noLots,
});

/** What is in a side, as the plainest possible program would list it. */
function listed(book: OrderBook, side: Side) {
  return [...book.side(side).levels()].map(({ price, orders: line }) => {
    const orders = [...line];
    return { price, quantity: quantityAt(orders), ids: orders.map(({ orderId }) => orderId) };
  });
}

function expected(orders: readonly SimOrder[], side: Side) {
  const prices = [...new Set(orders.map(({ price }) => price))].sort((a, b) => (a < b === (side === 'SELL') ? -1 : 1));
  return prices.map((price) => {
    const here = orders.filter((one) => one.price === price);
    const quantity = here.reduce((sum, one) => sum + one.quantity - one.executed, 0n);
    return { price, quantity, ids: here.map(({ orderId }) => orderId) };
  });
}

test.each(['BUY', 'SELL'] as const)(
  '%s: whatever comes and goes, prices stand best first, and orders at a price in order of time',
  (side) => {
    const step = fc.record({
      kind: fc.constantFrom('add', 'add', 'remove', 'fill a part', 'fill all'),
      price: fc.integer({ min: 1, max: 40 }),
      pick: fc.nat(1_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const book = new OrderBook();
        const resting: SimOrder[] = [];
        for (const { kind, price, pick } of steps) {
          if (kind === 'add') {
            const one = order(side, price, 5);
            book.side(side).add(one);
            resting.push(one);
            continue;
          }
          const index = pick % Math.max(1, resting.length);
          const one = resting[index];
          if (one === undefined) continue;
          const part = (kind === 'fill a part' ? 1n : one.quantity - one.executed) as Lots;
          if (kind !== 'remove') one.executed = (one.executed + part) as Lots;
          if (kind !== 'remove' && one.executed < one.quantity) continue;
          book.side(side).remove(one);
          resting.splice(index, 1);
        }
        expect(listed(book, side)).toEqual(expected(resting, side));
        expect(book.side(side).best() === undefined).toBe(resting.length === 0);
      }),
      { numRuns: 200 },
    );
  },
);

test('thousands of prices, added and removed in any order, stay sorted over many blocks', () => {
  const book = new OrderBook();
  const prices = Array.from({ length: 5_000 }, (_, index) => 1 + ((index * 7_919) % 5_000));
  const orders = prices.map((price) => order('SELL', price, 1));
  for (const one of orders) book.side('SELL').add(one);
  expect([...book.side('SELL').levels()].map(({ price }) => Number(price))).toEqual(
    Array.from({ length: 5_000 }, (_, index) => index + 1),
  );
  for (const one of orders) if (Number(one.price) % 3 !== 0) book.side('SELL').remove(one);
  expect([...book.side('SELL').levels()].map(({ price }) => Number(price))).toEqual(
    Array.from({ length: 1_666 }, (_, index) => (index + 1) * 3),
  );
  for (const one of orders) book.side('SELL').remove(one);
  expect(book.side('SELL').best() === undefined).toBe(true);
});
