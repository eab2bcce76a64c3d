import { describe, expect, test } from 'vitest';
import { fc } from '../../../test/kit/properties.ts';
import { instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { type Lots, noLots, noTicks, noUnits, rate, type Ticks, type Units, units } from '../../domain/money.ts';
import type { Market, MarketEvent } from '../market/market.ts';
import { type DisplayedBook, emptyBook } from './displayed-depth.ts';
import { Exchange, type OrderRequest } from './exchange.ts';
import type { SimOrder } from './order.ts';

// Tick 0.01, lot 0.0001, as in the golden cases of the fill engine.
const at = instrument({ symbol: 'ABCUSDT', base: 'ABC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 });
const t = (price: number): Ticks => BigInt(Math.round(price * 100)) as Ticks;
const q = (quantity: number): Lots => BigInt(Math.round(quantity * 10_000)) as Lots;

/** A market whose events the test gives, each one millisecond after the other. */
function scripted(first: DisplayedBook = emptyBook): Market & { script: MarketEvent[] } {
  const script: MarketEvent[] = [];
  let time = 0;
  return {
    script,
    symbol: at.symbol,
    recent: [],
    minutes: {
      count: 0,
      row: () => {
        throw new Error('there are no minutes');
      },
      forming: undefined,
    },
    nextAt: () => (script.length > 0 ? time + 1 : Number.POSITIVE_INFINITY),
    next: () => {
      time++;
      return script.shift() ?? {};
    },
    book: () => first,
    traded: () => undefined,
  };
}

function open(first?: DisplayedBook) {
  const market = scripted(first);
  const exchange = new Exchange({
    instruments: [at],
    markets: [market],
    fees: { maker: rate('0.001'), taker: rate('0.002') },
    startAt: 0,
    cancelDelayMs: undefined,
    onLooped: () => undefined,
  });
  for (const uid of ['1', '2', '3']) {
    exchange.accounts.deposit(uid, 'USDT', units('100000'));
    exchange.accounts.deposit(uid, 'ABC', units('1000'));
  }
  let now = 0;
  return {
    exchange,
    happens: (...events: MarketEvent[]): void => {
      market.script.push(...events);
      now += events.length;
      exchange.advanceTo(now);
    },
  };
}

const limit = (side: Side, price: number, quantity: number): OrderRequest => ({
  symbol: at.symbol,
  side,
  type: 'LIMIT',
  price: t(price),
  quantity: q(quantity),
  amount: noUnits,
  clientOrderId: '',
});
const market = (side: Side, quantity: number, amount: Units = noUnits): OrderRequest => ({
  ...limit(side, 0, quantity),
  type: 'MARKET',
  price: noTicks,
  amount,
});

function place(exchange: Exchange, request: OrderRequest, uid = '1'): SimOrder {
  const placed = exchange.place(uid, request);
  if (!placed.ok) throw new Error(placed.refusal.msg);
  return placed.value;
}

const side = (...levels: [number, number][]) =>
  levels.map(([price, quantity]) => ({ price: t(price), quantity: q(quantity) }));
const print = (of: Side, price: number, quantity: number): MarketEvent => ({
  print: { time: 0, price: t(price), quantity: q(quantity), side: of },
});
const fillsOf = (exchange: Exchange, uid = '1') =>
  exchange.orders
    .trades(uid, at.symbol)
    .map(({ trade }) => [Number(trade.price) / 100, Number(trade.quantity) / 10_000]);

describe('the displayed book', () => {
  const asks = side([100, 1], [100.1, 2], [100.2, 5]);

  test('a MARKET BUY walks it: golden case D1 of the fill engine', () => {
    const { exchange } = open({ bids: [], asks });
    const order = place(exchange, market('BUY', 0, units('350')));
    expect(fillsOf(exchange)).toEqual([
      [100, 1],
      [100.1, 2],
      [100.2, 0.497],
    ]);
    expect(order).toMatchObject({ status: 'FILLED', spent: units('349.9994') });
  });

  test('what was taken stays taken until the size shown at that price changes: golden case D2', () => {
    const { exchange, happens } = open({ bids: [], asks });
    place(exchange, market('BUY', 0, units('350')));
    happens({ book: { bids: [], asks: side([100, 1], [100.1, 3]) } });
    place(exchange, market('BUY', 0, units('100.10')), '2');
    expect(fillsOf(exchange, '2')).toEqual([[100.1, 1]]);
  });

  test('a crossing LIMIT takes up to its price and rests: golden case D7', () => {
    const { exchange } = open({ bids: [], asks });
    const order = place(exchange, limit('BUY', 100.1, 5));
    expect(fillsOf(exchange)).toEqual([
      [100, 1],
      [100.1, 2],
    ]);
    expect(order).toMatchObject({ status: 'PARTIALLY_FILLED', executed: q(3) });
    expect(exchange.matching(at.symbol).depth('BUY', 30)).toEqual([{ price: t(100.1), quantity: q(2) }]);
  });

  test('displayed size that was there first trades first, then the resting order, then size that came later', () => {
    const { exchange, happens } = open({ bids: [], asks: side([100, 1]) });
    place(exchange, limit('SELL', 100, 2), '2');
    happens({ book: { bids: [], asks: side([100, 5]) } });
    place(exchange, limit('BUY', 100, 1));
    expect(fillsOf(exchange, '2')).toEqual([]);
    place(exchange, limit('BUY', 100, 3));
    expect(fillsOf(exchange, '2')).toEqual([[100, 2]]);
    expect(fillsOf(exchange)).toEqual([
      [100, 1],
      [100, 2],
      [100, 1],
    ]);
  });

  test('everybody sees the displayed book, less what was taken, with the users’ orders added', () => {
    const { exchange } = open({ bids: side([99, 1]), asks });
    place(exchange, limit('BUY', 100, 0.25));
    place(exchange, limit('BUY', 99, 1), '2');
    place(exchange, limit('SELL', 100.15, 1), '2');
    const { price, quantity } = { price: t(100), quantity: q(0.75) };
    expect(exchange.matching(at.symbol).depth('SELL', 3)).toEqual([
      { price, quantity },
      { price: t(100.1), quantity: q(2) },
      { price: t(100.15), quantity: q(1) },
    ]);
    expect(exchange.matching(at.symbol).depth('BUY', 3)).toEqual([{ price: t(99), quantity: q(2) }]);
  });
});

describe('prints of the market', () => {
  test('a resting order fills by prints through its price, up to their size: golden case T2', () => {
    const { exchange, happens } = open({ bids: side([100, 50]), asks: [] });
    place(exchange, limit('BUY', 100, 3));
    happens(print('SELL', 100, 5), print('SELL', 99.99, 1.2), print('BUY', 99.98, 9), print('SELL', 99.97, 4));
    expect(fillsOf(exchange)).toEqual([
      [100, 1.2],
      [100, 1.8],
    ]);
  });

  test('at its price it fills only behind the displayed queue: golden case D3', () => {
    const { exchange, happens } = open({ bids: side([100, 100]), asks: [] });
    place(exchange, limit('BUY', 100, 60));
    happens(print('BUY', 100, 50), print('SELL', 100, 80), print('SELL', 100, 30), print('SELL', 100, 50));
    expect(fillsOf(exchange)).toEqual([
      [100, 10],
      [100, 50],
    ]);
  });

  test('a queue is never longer than what is displayed: golden case D4', () => {
    const { exchange, happens } = open({ bids: side([100, 100]), asks: [] });
    place(exchange, limit('BUY', 100, 60));
    happens(print('SELL', 100, 20), { book: { bids: side([100, 60]), asks: [] } }, print('SELL', 100, 70));
    expect(fillsOf(exchange)).toEqual([[100, 10]]);
  });

  test('inside the spread there is no queue; beyond the displayed levels it is unknown', () => {
    const { exchange, happens } = open({ bids: side([99, 5]), asks: side([101, 5]) });
    place(exchange, limit('BUY', 100, 1));
    place(exchange, limit('BUY', 98, 1), '2');
    happens(print('SELL', 100, 1), print('SELL', 98, 1_000));
    expect(fillsOf(exchange)).toEqual([[100, 1]]);
    expect(fillsOf(exchange, '2')).toEqual([]);
    happens(print('SELL', 97.99, 1_000));
    expect(fillsOf(exchange, '2')).toEqual([[98, 1]]);
  });

  test('a displayed book that crosses a resting order fills it at its own price, up to the crossing size', () => {
    const { exchange, happens } = open();
    const order = place(exchange, limit('BUY', 100, 3));
    happens({ book: { bids: [], asks: side([99, 2], [101, 9]) } });
    expect(fillsOf(exchange)).toEqual([[100, 2]]);
    expect(order).toMatchObject({ status: 'PARTIALLY_FILLED' });
  });
});

test('whatever users and market do, the ledger stays at zero, locked funds are what open orders need, and no book is crossed', () => {
  const uid = fc.constantFrom('1', '2', '3');
  const sides = fc.constantFrom<Side>('BUY', 'SELL');
  const price = fc.integer({ min: 9_900, max: 10_100 }).map((cents) => cents / 100);
  const quantity = fc.integer({ min: 1, max: 400_000 }).map((lot) => lot / 10_000);
  const levels = (low: number, high: number) =>
    fc.array(
      fc.tuple(
        fc.integer({ min: low, max: high }).map((cents) => cents / 100),
        quantity,
      ),
      { maxLength: 4 },
    );
  const operation = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('limit' as const), uid, side: sides, price, quantity }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('market' as const), uid, side: sides, quantity }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('print' as const), side: sides, price, quantity }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('book' as const),
        bids: levels(9_900, 9_999),
        asks: levels(10_000, 10_100),
      }),
    },
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const { exchange, happens } = open();
      const placed: SimOrder[] = [];
      for (const one of operations) {
        if (one.kind === 'limit') {
          const result = exchange.place(one.uid, limit(one.side, one.price, one.quantity));
          if (result.ok) placed.push(result.value);
        } else if (one.kind === 'market') {
          exchange.place(
            one.uid,
            one.side === 'BUY' ? market('BUY', 0, units(String(one.quantity * 100))) : market('SELL', one.quantity),
          );
        } else if (one.kind === 'cancel') {
          const order = placed[one.index];
          if (order !== undefined) exchange.cancel(order);
        } else if (one.kind === 'print') happens(print(one.side, one.price, one.quantity));
        else {
          const unique = (rows: [number, number][]) => [...new Map(rows)].sort(([a], [b]) => a - b);
          happens({ book: { bids: side(...unique(one.bids).reverse()), asks: side(...unique(one.asks)) } });
        }
        exchange.checkLedger();
        const [bid] = exchange.matching(at.symbol).depth('BUY', 1);
        const [ask] = exchange.matching(at.symbol).depth('SELL', 1);
        if (bid !== undefined && ask !== undefined) expect(bid.price).toBeLessThan(ask.price);
      }
      for (const order of placed) expect(order.executed <= order.quantity && order.executed >= noLots).toBe(true);
    }),
    { numRuns: 300 },
  );
});
