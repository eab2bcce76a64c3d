import { NEVER, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, decision, kline, target } from '../../test/kit/builders.ts';
import type { CancelFate, CreateFate, Question } from '../../test/kit/scripted-venue.ts';
import { type RigOptions, TestRig, timing } from '../../test/kit/test-rig.ts';
import { type Rng, seededRng } from '../clock/clock.ts';
import type { Kline } from '../domain/market.ts';
import { quantityText, units, unitsText } from '../domain/money.ts';
import type { Decision, Quote, Signal } from '../domain/order.ts';
import { readOrders } from '../journal/rows.ts';
import { defineStrategy } from '../strategy/contract.ts';
import { decisionsOf } from '../strategy/host.ts';
import { sma } from '../strategy/indicators.ts';
import { flat, hold } from '../strategy/signals.ts';
import { draftText } from './format.ts';

// A first start reads the account twice.
const startMs = timing.sweepGapMs + 1_000;
/** Holds 1 BTC while the price is above its average of two. */
const above = defineStrategy({
  name: 'above',
  about: 'test',
  params: {},
  indicators: () => ({ average: sma('close', 2) }),
  decide: ({ average }, moment) => (moment.kline.close > average ? hold({ quantity: 1 }, 'above') : flat('below')),
});

/** A rig on which `above` trades the klines that the test sends. */
function klineRig(options: RigOptions = {}) {
  const made = new TestRig(options);
  const klines = new Subject<Kline>();
  const { booked, portfolio } = made.assembled;
  const signals = decisionsOf(
    { id: 's', strategy: above, symbol: btc.symbol, interval: '1min', params: {}, instrument: btc },
    {
      history: [kline(100)],
      klines,
      trades: NEVER,
      depth: NEVER,
      ticker: NEVER,
      gaps: NEVER,
      fills: booked,
      holding: portfolio.holding('s', btc.symbol),
      now: () => made.clock.now(),
      failed: (error) => {
        throw error;
      },
    },
  );
  made.start(signals);
  return {
    made,
    /** A kline closes at this price, and a minute passes. */
    close: async (price: number): Promise<void> => {
      made.price(price);
      klines.next(kline(price));
      await made.pass(60_000);
    },
    position: () => unitsText(made.assembled.portfolio.position('s', btc.symbol).base),
  };
}

/** A rig that trades the signals that the test sends. */
async function signalRig(options: RigOptions = {}) {
  const made = new TestRig(options);
  const signals = new Subject<Decision>();
  made.start(signals);
  await made.pass(startMs);
  return {
    made,
    send: (signal: Signal, strategy = 's'): void => signals.next(decision(signal, strategy)),
  };
}

describe('a kline becomes a fill row', () => {
  test('by way of a signal, an order, and the exchange’s list of trades', async () => {
    const { made, close, position } = klineRig();
    await made.pass(startMs);
    await close(110);
    expect(await made.fillRows()).toEqual(['1 1001 1']);
    expect(position()).toBe('1');
    const rows = made.db.prepare('SELECT strategy, quantity FROM signals').all();
    expect(rows).toEqual([{ strategy: 's', quantity: '1' }]);
    expect(readOrders(made.db, '1')).toMatchObject([{ state: 'filled', reason: 'above', purpose: 'enter' }]);
  });

  test('once, although the answer was lost', async () => {
    const { made, close } = klineRig();
    made.venue.creates = ['acceptLost'];
    await made.pass(startMs);
    await close(110);
    expect(await made.fillRows()).toEqual(['1 1001 1']);
    expect(made.asked('create')).toBe(1);
    const events = made.db.prepare('SELECT event FROM events ORDER BY seq').all() as { event: string }[];
    expect(events.map(({ event }) => event)).toEqual(['approved', 'sending', 'unknown', 'found', 'closing', 'closed']);
  });

  test('and repeating the signal with every kline does nothing more', async () => {
    const { made, close, position } = klineRig();
    await made.pass(startMs);
    for (const price of [110, 120, 130, 140]) await close(price);
    expect(made.asked('create')).toBe(1);
    await close(100);
    await close(90);
    expect(position()).toBe('0');
    expect((await made.fillRows()).length).toBe(2);
  });

  test('only after recovery is through', async () => {
    const { made, close } = klineRig();
    made.venue.failing.add('openOrders');
    await close(110);
    expect(made.asked('create')).toBe(0);
    made.venue.failing.clear();
    await made.pass(startMs);
    await close(120);
    expect((await made.fillRows()).length).toBe(1);
  });
});

describe('while an outcome is unknown', () => {
  test('nothing is sent on that symbol, by any strategy; then the latest signal is', async () => {
    const { made, send } = await signalRig();
    made.venue.creates = ['acceptLost', 'accept'];
    made.venue.lagMs = 20_000;
    send(target(1));
    await made.pass(1_000);
    send(target(2), 't');
    send(target(3), 't');
    send(target(0));
    await made.pass(10_000);
    expect(made.asked('create')).toBe(1);
    made.venue.lagMs = 0;
    await made.pass(60_000);
    send(target(0));
    send(target(3), 't');
    await made.pass(60_000);
    const { portfolio } = made.assembled;
    expect(unitsText(portfolio.position('s', btc.symbol).base)).toBe('0');
    expect(unitsText(portfolio.position('t', btc.symbol).base)).toBe('3');
    expect(await made.fillRows()).toEqual(made.venueRows());
  });

  test('the symbol stays blocked when it is never found', async () => {
    const { made, send } = await signalRig({ balances: false });
    made.venue.creates = ['dropLost', 'accept'];
    send(target(1));
    await made.pass(300_000);
    for (let minute = 0; minute < 5; minute++) {
      send(target(minute));
      send(target(1), 't');
      await made.pass(60_000);
    }
    expect(made.asked('create')).toBe(1);
  });
});

describe('an order that is proven absent', () => {
  test('frees its symbol: the signal is carried out by another one', async () => {
    const { made, send } = await signalRig();
    made.venue.creates = ['dropLost', 'accept'];
    send(target(1));
    await made.pass(120_000);
    expect(made.asked('create')).toBe(1);
    send(target(2));
    await made.pass(60_000);
    expect(made.asked('create')).toBe(2);
    expect(unitsText(made.assembled.portfolio.position('s', btc.symbol).base)).toBe('2');
  });
});

describe('a signal', () => {
  test('that a rule denies is written down with its numbers and not sent', async () => {
    const { made, send } = await signalRig({ limits: { maxOrdersPerSecond: 0 } });
    send(target(1));
    send(target(1));
    await made.pass(1_000);
    await made.written();
    expect(made.asked('create')).toBe(0);
    const rows = made.db.prepare('SELECT code, times, facts FROM denials').all();
    expect(rows).toEqual([{ code: 'orderRate', times: 2, facts: '{"inLastSecond":0,"maxOrdersPerSecond":0}' }]);
  });

  test('at a limit at which it is worth less than the exchange takes is denied, not sent', async () => {
    const { made, send } = await signalRig();
    // At 100 it is worth 6, at its limit 4.8; the exchange takes 5.
    send(target(0.06, { limit: 80 }));
    await made.pass(1_000);
    await made.written();
    expect(made.asked('create')).toBe(0);
    const rows = made.db.prepare('SELECT code, facts FROM denials').all();
    expect(rows).toEqual([{ code: 'minimum', facts: '{"value":"4.8","minNotional":"5"}' }]);
  });

  test('that the exchange refuses is not sent again before the strategy speaks again', async () => {
    const { made, send } = await signalRig();
    made.venue.creates = ['reject', 'notSent', 'accept'];
    for (const creates of [1, 2, 3]) {
      send(target(1));
      await made.pass(60_000);
      expect(made.asked('create')).toBe(creates);
    }
    expect((await made.fillRows()).length).toBe(1);
  });

  test('of which one order is denied has its other orders created, and the denied one is asked for once', async () => {
    const { made, send } = await signalRig({ limits: { maxPosition: units('250') } });
    send(target(2));
    await made.pass(5_000);
    const quotes = [
      { side: 'BUY', price: 99, quantity: 1 },
      { side: 'BUY', price: 98, quantity: 1 },
      { side: 'SELL', price: 101, quantity: 1 },
      { side: 'BUY', price: 40, quantity: 1 },
    ] as const;
    send({ kind: 'quotes', quotes, reason: 'test' });
    await made.pass(5_000);
    await made.written();
    const placed = [...made.assembled.portfolio.orders()].map(({ intent, state }) => {
      return `${state} ${draftText(intent, btc)}`;
    });
    expect(placed).toEqual(['open SELL 1 BTC at 101', 'open BUY 1 BTC at 40']);
    const rows = made.db.prepare('SELECT draft, code, times FROM denials').all();
    expect(rows).toEqual([
      { draft: 'BUY 1 BTC at 99', code: 'position', times: 1 },
      { draft: 'BUY 1 BTC at 98', code: 'position', times: 1 },
    ]);
  });

  test('of quotes is carried out order by order, and changed by cancelling first', async () => {
    const { made, send } = await signalRig();
    const buys = (...prices: readonly number[]): Signal => ({
      kind: 'quotes',
      quotes: prices.map((price): Quote => ({ side: 'BUY', price, quantity: 1 })),
      reason: 'test',
    });
    send(buys(99, 98, 97));
    await made.pass(5_000);
    expect([...made.venue.orders.values()].map(({ status }) => status)).toEqual(['NEW', 'NEW', 'NEW']);
    send(buys(99, 96));
    await made.pass(10_000);
    expect([...made.venue.orders.values()].map(({ status }) => status)).toEqual(['NEW', 'CANCELED', 'CANCELED', 'NEW']);
    send(buys());
    await made.pass(10_000);
    expect([...made.venue.orders.values()].every(({ status }) => status === 'CANCELED')).toBe(true);
    expect([...made.assembled.portfolio.orders()]).toEqual([]);
  });

  test('with a stop is left when the stop is hit, and not entered again', async () => {
    const { made, send } = await signalRig();
    const guarded = target(1, { stop: 90 });
    send(guarded);
    await made.pass(5_000);
    made.price(89);
    for (const stop of made.assembled.protection.hitBy(btc.symbol, 89)) made.assembled.hitStop(stop, 'traded at 89');
    await made.pass(5_000);
    for (let times = 0; times < 3; times++) {
      send(guarded);
      await made.pass(60_000);
    }
    expect((await made.fillRows()).length).toBe(2);
    expect(unitsText(made.assembled.portfolio.position('s', btc.symbol).base)).toBe('0');
    expect(readOrders(made.db, "purpose = 'stop'")).toMatchObject([{ state: 'filled', side: 'SELL' }]);
  });
});

const signals = (rng: Rng): Signal => {
  const draw = rng();
  if (draw < 0.4) return target(Math.floor(rng() * 4));
  if (draw < 0.7) return target(Math.floor(rng() * 4), { limit: 95 + Math.floor(rng() * 10) });
  const quotes = Array.from(
    { length: Math.floor(rng() * 3) },
    (): Quote => ({ side: rng() < 0.7 ? 'BUY' : 'SELL', price: 90 + Math.floor(rng() * 20), quantity: 1 }),
  );
  return { kind: 'quotes', quotes, reason: 'random' };
};
const pick = <T>(rng: Rng, of: readonly [T, ...T[]]): T => of[Math.floor(rng() * of.length)] ?? of[0];

/** An exchange, a network and a process that go wrong by chance for a while, and then heal. */
class Storm {
  readonly rng: Rng;
  readonly rig = new TestRig({ timing: { absentAfterMs: 10_000 } });
  signals = new Subject<Decision>();

  constructor(seed: number) {
    this.rng = seededRng(seed);
    this.rig.start(this.signals);
  }

  async blow(): Promise<void> {
    const { rng, rig: made } = this;
    const { venue } = made;
    const fates: readonly [CreateFate, ...CreateFate[]] = [
      'accept',
      'accept',
      'acceptLost',
      'dropLost',
      'reject',
      'notSent',
    ];
    const cancels: readonly [CancelFate, ...CancelFate[]] = ['apply', 'applyLost', 'ignore', 'dropLost', 'refuse'];
    const questions: readonly [Question, ...Question[]] = ['query', 'openOrders', 'tradesSince', 'query'];
    for (let step = 0; step < 60; step++) {
      venue.creates = [pick(rng, fates)];
      venue.cancels = [pick(rng, cancels)];
      venue.lagMs = rng() < 0.3 ? Math.floor(rng() * 6_000) : 0;
      venue.latencyMs = 1 + Math.floor(rng() * (rng() < 0.2 ? 2_000 : 100));
      if (rng() < 0.15) venue.failing.add(pick(rng, questions));
      else venue.failing.clear();
      made.price(95 + Math.floor(rng() * 10));
      if (rng() < 0.6) this.send(signals(rng), rng() < 0.5 ? 's' : 't');
      if (rng() < 0.4) this.#fillSome();
      await made.pass(Math.floor(rng() * 2_000));
      if (rng() < 0.07) this.crash();
    }
  }

  send(signal: Signal, strategy: string): void {
    this.signals.next(decision(signal, strategy));
  }

  crash(): void {
    this.rig.crash();
    this.signals = new Subject();
    this.rig.start(this.signals);
  }

  /** The market trades with what rests, whole or in part; humans place and fill orders of their own. */
  #fillSome(): void {
    const { rng } = this;
    const { venue } = this.rig;
    if (rng() < 0.1) venue.place(rng() < 0.5 ? { clientOrderId: 'web_1' } : {});
    const open = [...venue.orders.values()].filter(({ status }) => status === 'NEW' || status === 'PARTIALLY_FILLED');
    const order = open[Math.floor(rng() * open.length)];
    if (order === undefined) return;
    if (rng() < 0.5 && order.status === 'NEW') venue.fill(order.orderId, '0.25');
    else venue.fill(order.orderId);
  }

  async heal(): Promise<void> {
    const { venue } = this.rig;
    venue.creates = ['accept'];
    venue.cancels = ['apply'];
    venue.lagMs = 0;
    venue.latencyMs = 10;
    venue.failing.clear();
    await this.rig.pass(60_000);
    for (const strategy of ['s', 't']) this.send({ kind: 'quotes', quotes: [], reason: 'end' }, strategy);
    await this.rig.pass(60_000);
    await this.rig.written();
  }
}

describe('under random faults', () => {
  test.each(Array.from({ length: 20 }, (_, group) => group * 10))(
    'fill rows are the exchange’s own list, and no intent makes two orders (ten seeds from %d)',
    async (first) => {
      for (let seed = first; seed < first + 10; seed++) {
        const storm = new Storm(seed);
        await storm.blow();
        await storm.heal();
        const { rig: made } = storm;
        const rows = await made.fillRows();
        expect(rows, `fills of seed ${seed}`).toEqual(made.venueRows());
        const creates = made.log.filter((line) => line.startsWith('create '));
        expect(new Set(creates).size, `creates of seed ${seed}`).toBe(creates.length);
        checkOrders(made, seed);
        checkPositions(made, seed);
      }
    },
  );
});

/** Every order at the exchange that is ours has its row; what is closed adds up; nothing is left open that the exchange ended. */
function checkOrders(made: TestRig, seed: number): void {
  const rows = new Map(readOrders(made.db, '1').map((row) => [row.clientOrderId, row]));
  for (const order of made.venue.orders.values()) {
    if (made.assembled.execution.readId(order.clientOrderId) === undefined) continue;
    const row = rows.get(order.clientOrderId);
    expect(row?.state, `order ${order.clientOrderId} of seed ${seed}`).toBe(
      order.status === 'FILLED' ? 'filled' : 'canceled',
    );
    expect(row?.filled, `order ${order.clientOrderId} of seed ${seed}`).toBe(quantityText(order.executed, btc));
    expect(row?.closedAt).not.toBeNull();
  }
}

function checkPositions(made: TestRig, seed: number): void {
  const { sums } = made.db
    .prepare(
      "SELECT group_concat(strategy || ' ' || base, ', ') AS sums FROM (SELECT strategy, sum(CASE side WHEN 'BUY' THEN 1 ELSE -1 END * quantity) AS base FROM fills GROUP BY strategy ORDER BY strategy)",
    )
    .get() as { sums: string | null };
  for (const part of sums?.split(', ') ?? []) {
    const [strategy = '', base = ''] = part.split(' ');
    const held = unitsText(made.assembled.portfolio.position(strategy, btc.symbol).base);
    expect(Number(held), `position of seed ${seed}`).toBeCloseTo(Number(base), 9);
  }
}
