import { expect, test } from 'vitest';
import { fc } from '../../../test/kit/properties.ts';
import { instrument } from '../../domain/instrument.ts';
import { type Lots, noUnits, plus, rate, type Ticks, type Units, units } from '../../domain/money.ts';
import { emptyMarket } from '../market/empty-market.ts';
import { Exchange } from './exchange.ts';
import { holderOf, type SimOrder } from './order.ts';

const at = instrument({ symbol: 'ABCUSDT', base: 'ABC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 });
const holders = ['1', '1 margin', '2', '2 margin'] as const;

function open(): Exchange {
  const exchange = new Exchange({
    instruments: [at],
    markets: [emptyMarket(at)],
    fees: { maker: rate('0.001'), taker: rate('0.002') },
    startAt: 0,
    cancelDelayMs: undefined,
    onLooped: () => undefined,
  });
  for (const holder of holders) {
    exchange.accounts.deposit(holder, 'USDT', units('1000'));
    exchange.accounts.deposit(holder, 'ABC', units('10'));
  }
  return exchange;
}

const uid = fc.constantFrom('1', '2');
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      uid,
      account: fc.constantFrom('spot' as const, 'margin' as const),
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      price: fc.integer({ min: 9_990, max: 10_010 }),
      quantity: fc.integer({ min: 1, max: 50_000 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('apply' as const), uid, amount: fc.integer({ min: 1, max: 800 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      id: fc.integer({ min: 1, max: 6 }),
      to: fc.constantFrom('approved', 'rejected', 'paying', 'failed', 'completed', 'revoked'),
    }),
  },
);

test('spot, margin and withdrawals: every holding and all of them together always sum to zero', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
      const exchange = open();
      const placed: SimOrder[] = [];
      let applied = 0;
      for (const one of operations) {
        if (one.kind === 'place') {
          const { account, side } = one;
          const price = BigInt(one.price) as Ticks;
          const quantity = BigInt(one.quantity) as Lots;
          const order = { symbol: at.symbol, side, type: 'LIMIT', price, quantity, amount: noUnits } as const;
          const result = exchange.place(one.uid, { ...order, clientOrderId: '' }, account);
          if (result.ok) placed.push(result.value);
        } else if (one.kind === 'cancel') {
          const order = placed[one.pick];
          if (order !== undefined) exchange.cancel(order);
        } else if (one.kind === 'apply') {
          const terms = { symbol: 'USDT', asset: 'USDT', fee: noUnits, address: 'a', label: '' };
          const withdrawOrderId = String(++applied);
          exchange.withdrawals.apply({ ...terms, uid: one.uid, withdrawOrderId, amount: units(String(one.amount)) }, 0);
        } else {
          try {
            exchange.withdrawals.move(one.id, one.to, {}, 0);
          } catch (error) {
            expect(String(error)).toMatch(/there is no withdrawal|only one that is/);
          }
        }
        exchange.checkLedger();
      }
      const fees = holders.map((holder) => exchange.accounts.holding(holder, 'ABC').fees).reduce<Units>(plus, noUnits);
      expect(exchange.accounts.house('ABC').fees).toBe(fees);
    }),
    { numRuns: 200 },
  );
});

test('money that comes from nowhere, or is locked for nothing, is found', () => {
  const found = (spoil: (exchange: Exchange) => void) => () => {
    const exchange = open();
    spoil(exchange);
    exchange.checkLedger();
  };
  const holding = (exchange: Exchange) => exchange.accounts.holding(holderOf('1', 'margin'), 'USDT');
  expect(
    found((exchange) => {
      holding(exchange).free = units('1001');
    }),
  ).toThrow('the ledger of user 1 margin is off by 1 USDT');
  expect(
    found((exchange) => {
      holding(exchange).free = units('1001');
      holding(exchange).paidIn = units('1001');
    }),
  ).toThrow('the ledger of USDT is off by 1');
  expect(found((exchange) => void exchange.accounts.lock('1', 'USDT', units('1')))).toThrow(
    'user 1 has wrong funds locked: USDT',
  );
});
