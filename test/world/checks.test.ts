/**
 * The checks that no planted bug reaches, because another one sees it first (I1 comes after I2, I3 and I6 after I12): each is given a
 * journal that is otherwise sound and differs from the exchange in one thing. No planted bug keeps a stop away for long either, and the
 * risk gate denies an exit that is larger than its position.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seededRng } from '../../src/clock/clock.ts';
import { makeClientOrderId } from '../../src/domain/ids.ts';
import { lots, noUnits, ticks, units } from '../../src/domain/money.ts';
import type { FillEntry } from '../../src/journal/entries.ts';
import { writer } from '../../src/journal/writer.ts';
import type { Exchange } from '../../src/simulator/core/exchange.ts';
import type { SimOrder } from '../../src/simulator/core/order.ts';
import { btc, eth, startTime } from '../kit/builders.ts';
import { fillRowOf, orderRowOf } from '../kit/journal-rows.ts';
import { exitsFit, flattenStopsAtZero, nothingIsCreatedUnderHalt } from './by-hand-checks.ts';
import { cleared } from './database.ts';
import { Time } from './life.ts';
import type { Plan } from './plan.ts';
import { idKey } from './process.ts';
import { balancesAreExplained, everyOrderHasOneIntent, fillsAreEqual, nothingStoodBare } from './rest-checks.ts';
import type { OrderFacts } from './rows.ts';
import { fillsAreTheExchanges, ordersHaveIntents } from './step-checks.ts';
import { strategyIds, symbolsOf } from './strategies.ts';
import { Truth } from './truth.ts';
import { crowdUid, ourUid, Venue } from './venue.ts';

const id = makeClientOrderId({ instance: 1, epoch: 1, strategy: 1, sequence: 1 }, idKey);
let exchange: Exchange;
let truth: Truth;
let db: ReturnType<typeof cleared>;
let fresh: readonly SimOrder[];
let sound: FillEntry;

function place(uid: string, clientOrderId: string, side: 'BUY' | 'SELL'): void {
  const placed = exchange.place(uid, {
    ...{ clientOrderId, symbol: btc.symbol, side, type: 'LIMIT' },
    ...{ price: ticks('100', btc), quantity: lots('1', btc), amount: noUnits },
  });
  expect(placed).toMatchObject({ ok: true });
}

const restChecks = { I1: everyOrderHasOneIntent, I3: fillsAreEqual, I6: balancesAreExplained };
const broken = (invariant: keyof typeof restChecks): string | undefined =>
  restChecks[invariant]({ db, truth, exchange, holder: ourUid, transfers: [] });

/** One BUY of ours, filled by the crowd's SELL: on the exchange, and as it belongs into the journal. */
beforeEach(() => {
  ({ exchange } = new Venue({
    time: new Time(startTime, seededRng(1)),
    ...{ instruments: [btc, eth], quirks: {}, limits: { ipWeightPerMinute: 1_000, uidWeightPerMinute: 1_000 } },
    ...{ lagMs: undefined, account: 'spot', sockets: false, changed: () => {} },
  }));
  place(crowdUid, '', 'SELL');
  place(ourUid, id, 'BUY');
  const { orders, trades } = exchange.takeChanges();
  truth = new Truth();
  fresh = truth.see([...orders], trades);
  const [own] = truth.legs;
  if (own === undefined) throw new Error('nothing was traded');
  const { orderId, fee, feeAsset } = own.leg;
  sound = fillRowOf({
    ...{ tradeId: own.trade.tradeId, orderId, clientOrderId: id, strategy: strategyIds[0] },
    ...{ price: '100', quantity: '1', fee: '0.002', feeAsset, time: own.trade.time },
  });
  expect(fee).toBe(units('0.002'));
  db = cleared();
});
afterEach(() => {
  db.close();
});

function journal(...fills: readonly FillEntry[]): void {
  writer(db, 1)([orderRowOf({ clientOrderId: id, strategy: strategyIds[0], state: 'filled' }), ...fills]);
}

test('what is alike passes them all', () => {
  journal(sound);
  expect(ordersHaveIntents(fresh, truth, db)).toBeUndefined();
  expect(fillsAreTheExchanges(sound, truth)).toBeUndefined();
  expect([broken('I1'), broken('I3'), broken('I6')]).toEqual([undefined, undefined, undefined]);
});

test('I1 sees an order of ours without an intent, when it comes and at rest', () => {
  expect(ordersHaveIntents(fresh, truth, db)).toMatch(/has no intent/);
  expect(broken('I1')).toMatch(/has no intent/);
});

test('I1 sees two orders with one id', () => {
  journal(sound);
  place(ourUid, id, 'BUY');
  const second = truth.see([...exchange.takeChanges().orders], []);
  expect(ordersHaveIntents(second, truth, db)).toMatch(/two orders carry/);
  expect(broken('I1')).toMatch(/2 orders carry/);
});

test('I3 sees a fill that is missing, and one that the exchange does not have', () => {
  journal();
  expect(broken('I3')).toMatch(/1 fills are missing/);
  journal(sound, { ...sound, tradeId: '5' });
  expect(broken('I3')).toMatch(/1 fills are not the exchange's/);
  expect(fillsAreTheExchanges({ ...sound, tradeId: '5' }, truth)).toMatch(/is none of the exchange's/);
});

test.each([
  ['price', '100.01'],
  ['quantity', '0.9'],
  ['fee', '0.001'],
  ['feeAsset', 'USDT'],
  ['side', 'SELL'],
  ['strategy', strategyIds[1]],
] as const)('I3 sees a fill with another %s', (field, value) => {
  expect(fillsAreTheExchanges({ ...sound, [field]: value }, truth)).toMatch(/differs/);
});

test('I6 sees a balance that fills and fees do not explain, to the last decimal', () => {
  journal({ ...sound, fee: '0.00200001' });
  expect(broken('I6')).toMatch(/BTC: the exchange has 1000\.998, our books explain 1000\.99799999/);
});

test('a position that stood without its stop for longer than is promised is seen', () => {
  const [strategy] = strategyIds;
  const [symbol] = symbolsOf[strategy];
  const stood = (longestMs: number, plan: Pick<Plan, 'classes' | 'events'> = { classes: [], events: [] }) =>
    nothingStoodBare(
      {
        unprotected: {
          of: (...place) => ({ longestMs: place.join() === `${strategy},${symbol}` ? longestMs : 0, since: undefined }),
        },
      },
      plan,
    );
  expect(stood(75_000)).toBeUndefined();
  expect(stood(75_001)).toBe(`${strategy} stood 75001 ms on ${symbol} without its stop, 75000 at most are promised`);
  const banned = { classes: ['limits'], events: [{ kind: 'skew', at: 0, forMs: 5, byMs: -4_000 }] } as const;
  expect([stood(199_000, banned), stood(199_001, banned)]).toEqual([
    undefined,
    expect.stringMatching(/199000 at most/),
  ]);
});

describe('what closes a position', () => {
  const exit: OrderFacts = {
    ...{ state: 'sending', strategy: 's', symbol: btc.symbol, price: '100', bodyHash: null },
    side: 'SELL',
    type: 'LIMIT',
    purpose: 'flatten',
    quantity: '1',
    amount: null,
  };

  test('is no more than the position with what closes it already', () => {
    const verdict = (held: string, closing: string, given: Partial<OrderFacts> = {}) =>
      exitsFit(id, { ...exit, ...given }, units(held), units(closing), 100);
    expect([verdict('1', '0'), verdict('2', '1'), verdict('0', '0', { purpose: 'quote' })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(verdict('1.4', '0.5')).toMatch(/sells 1, and s holds 1.4 of BTCUSDT, of which 0.5 is being closed/);
    expect(verdict('-1', '0', { side: 'BUY', quantity: null, amount: '104' })).toBeUndefined();
    expect(verdict('-1', '0', { side: 'BUY', quantity: null, amount: '110' })).toMatch(/buys for 110/);
  });

  test('does not turn it round', () => {
    expect(flattenStopsAtZero(exit, units('0'))).toBeUndefined();
    expect(flattenStopsAtZero(exit, units('-0.1'))).toMatch(/turned it round to -0.1/);
  });
});

test('an order that leaves under a HALT is seen', () => {
  expect(nothingIsCreatedUnderHalt(id, undefined, 500)).toBeUndefined();
  expect(nothingIsCreatedUnderHalt(id, 400, 500)).toBeUndefined();
  expect(nothingIsCreatedUnderHalt(id, 399, 500)).toMatch(/leaves 101 ms after a HALT/);
});
