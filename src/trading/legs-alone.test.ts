/** Decisions on two markets at an exchange that denies, rejects, or loses answers: what becomes of the other leg. */
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, eth, startTime, target } from '../../test/kit/builders.ts';
import { type RigOptions, TestRig, timing } from '../../test/kit/test-rig.ts';
import { ticks, units, unitsText } from '../domain/money.ts';
import type { AlonePolicy, Decision, Signal } from '../domain/order.ts';

const policy = (seconds: number, action: AlonePolicy['action']): AlonePolicy => ({ afterMs: seconds * 1_000, action });

/** A rig whose strategy `s` trades BTC and ETH at 100 each. */
async function pairRig(options: RigOptions & { readonly pair: AlonePolicy }) {
  const rig = new TestRig(options);
  const begin = (): Subject<Decision> => {
    const decisions = new Subject<Decision>();
    rig.start(decisions);
    return decisions;
  };
  let decisions = begin();
  await rig.pass(timing.sweepGapMs + 1_000);
  return {
    rig,
    /** Both at once. */
    send: (first: Signal, second: Signal): void =>
      decisions.next({
        ...{ strategy: 's', at: startTime },
        legs: [
          { strategy: 's', role: 'near', symbol: btc.symbol, at: startTime, signal: first },
          { strategy: 's', role: 'far', symbol: eth.symbol, at: startTime, signal: second },
        ],
      }),
    /** `BTC ETH`. */
    held: (): string =>
      [btc, eth].map(({ symbol }) => unitsText(rig.assembled.portfolio.position('s', symbol).base)).join(' '),
    alone: () => {
      const times = rig.assembled.legsAlone.times(rig.clock.now()).find(({ strategy }) => strategy === 's');
      if (times === undefined) throw new Error('nothing is measured');
      return times;
    },
    restart: async (): Promise<void> => {
      await rig.written();
      rig.crash();
      decisions = begin();
      await rig.pass(timing.sweepGapMs + 1_000);
    },
  };
}

describe('of two legs', () => {
  test('the other goes on where one is denied, rejected, not sent, or its answer is lost', async () => {
    const denied = await pairRig({ pair: policy(600, 'unwind'), limits: { maxOrderValue: units('150') } });
    denied.send(target(2), target(1));
    await denied.rig.seconds(2);
    expect(denied.held()).toBe('0 1');
    for (const fate of ['reject', 'notSent', 'dropLost'] as const) {
      const { rig, send, held } = await pairRig({ pair: policy(600, 'unwind') });
      rig.venue.creates = [fate, 'accept'];
      send(target(1), target(1));
      await rig.seconds(2);
      expect(held()).toBe('0 1');
      expect(rig.asked('create')).toBe(2);
    }
  });

  test('one whose answer is lost blocks its own symbol alone, and is found', async () => {
    const { rig, send, held, alone } = await pairRig({ pair: policy(600, 'unwind') });
    rig.venue.creates = ['acceptLost'];
    rig.venue.lagMs = 20_000;
    send(target(1), target(1));
    await rig.seconds(5);
    expect(held()).toBe('0 1');
    send(target(3), target(0));
    await rig.seconds(5);
    expect(held()).toBe('0 0');
    expect(rig.asked('create')).toBe(3);
    rig.venue.lagMs = 0;
    await rig.seconds(60);
    send(target(1), target(1));
    await rig.seconds(10);
    expect(held()).toBe('1 1');
    expect(alone().since).toBeNull();
  });
});

test('a cancel that gets no answer holds up its own symbol alone', async () => {
  const { rig, send, held } = await pairRig({ pair: policy(600, 'unwind') });
  send(target(1, { limit: 90 }), target(1));
  await rig.seconds(3);
  rig.venue.cancels = ['dropLost'];
  send(target(2), target(0));
  await rig.seconds(5);
  expect(held()).toBe('0 0');
  rig.venue.cancels = ['apply'];
  await rig.seconds(30);
  expect(held()).toBe('2 0');
});

describe('a leg that is open alone', () => {
  test('is completed at market after its time where a LIMIT order does not fill', async () => {
    const { rig, send, held, alone } = await pairRig({ pair: policy(30, 'complete') });
    send(target(1), target(1, { limit: 90 }));
    await rig.seconds(29);
    expect(held()).toBe('1 0');
    await rig.seconds(5);
    expect(held()).toBe('1 1');
    expect(alone()).toMatchObject({ since: null, open: [btc.symbol], missing: [eth.symbol] });
    expect(alone().longestMs).toBeGreaterThan(29_000);
    // The strategy repeats itself: nothing more is sent.
    send(target(1), target(1, { limit: 90 }));
    await rig.seconds(5);
    expect(held()).toBe('1 1');
  });

  test('is completed although its strategy repeats the limit while that is under way, even at each moment', async () => {
    const { rig, send, held } = await pairRig({ pair: policy(30, 'complete') });
    for (let step = 0; step < 140; step++) {
      send(target(1), target(1, { limit: 90 }));
      await rig.pass(250);
      if (step % 4 === 3) rig.assembled.retryPending();
    }
    expect(held()).toBe('1 1');
    await rig.written();
    const reasons = rig.db.prepare("SELECT type, reason FROM orders WHERE symbol = 'ETHUSDT'").all();
    expect(reasons).toMatchObject([
      { type: 'LIMIT' },
      { type: 'MARKET', reason: 'completed, BTCUSDT open without ETHUSDT for 30 s: test' },
    ]);
  });

  test('is left after its time where the other is rejected, and both stay closed', async () => {
    const { rig, send, held, alone } = await pairRig({ pair: policy(30, 'unwind') });
    rig.second.creates = ['reject'];
    send(target(1), target(1));
    await rig.seconds(40);
    expect(held()).toBe('0 0');
    expect(alone()).toMatchObject({ since: null, times: 1, largest: 100 });
    expect(alone().beyondMs).toBeLessThan(5_000);
    rig.second.creates = ['accept'];
    for (let minute = 0; minute < 3; minute++) {
      send(target(1), target(1));
      await rig.seconds(60);
    }
    expect(held()).toBe('0 0');
    const exits = rig.db.prepare("SELECT reason FROM orders WHERE purpose = 'stop'").all();
    expect(exits).toEqual([{ reason: 'unwound, BTCUSDT open without ETHUSDT for 30 s' }]);
    // Another target enters again.
    send(target(2), target(2));
    await rig.seconds(5);
    expect(held()).toBe('2 2');
  });

  test('was left, and is entered again only when one decision changes the targets of all', async () => {
    const { rig, send, held, alone, restart } = await pairRig({ pair: policy(30, 'unwind') });
    rig.second.creates = ['reject', 'accept'];
    send(target(1), target(1));
    await rig.seconds(40);
    expect(held()).toBe('0 0');
    expect(alone().unwound).toBe('unwound, BTCUSDT open without ETHUSDT for 30 s');
    for (const [near, far] of [
      [2, 1],
      [2, 3],
      [0, 3],
    ] as const) {
      send(target(near), target(far));
      await rig.seconds(5);
      expect(held()).toBe('0 0');
    }
    await restart();
    send(target(2), target(3));
    await rig.seconds(5);
    expect(held()).toBe('0 0');
    send(target(3), target(4));
    await rig.seconds(5);
    expect(held()).toBe('3 4');
    expect(alone()).toMatchObject({ unwound: null, times: 1 });
  });

  test('stays alone for as long as the outcome of the other is unknown, which is measured', async () => {
    const { rig, send, held, alone } = await pairRig({ pair: policy(10, 'unwind') });
    rig.second.creates = ['acceptLost'];
    rig.second.lagMs = 100_000;
    send(target(1), target(1));
    await rig.seconds(40);
    expect(held()).toBe('1 0');
    expect(alone()).toMatchObject({ missing: [eth.symbol], times: 1, largest: 100 });
    expect(alone().beyondMs).toBeGreaterThan(25_000);
    rig.second.lagMs = 0;
    await rig.seconds(120);
    expect(held()).toBe('1 1');
    expect(alone()).toMatchObject({ since: null, times: 1 });
  });

  test('is left after the stop of the other, which "complete" does not enter again', async () => {
    const { rig, send, held } = await pairRig({ pair: policy(10, 'complete') });
    send(target(1), target(1, { stop: 90 }));
    await rig.seconds(3);
    expect(held()).toBe('1 1');
    rig.assembled.hitStop({ strategy: 's', symbol: eth.symbol }, 'stop hit');
    await rig.seconds(3);
    expect(held()).toBe('1 0');
    await rig.seconds(12);
    expect(held()).toBe('0 0');
  });

  test('is known after a restart since when it was', async () => {
    const { rig, send, held, alone, restart } = await pairRig({ pair: policy(60, 'unwind') });
    rig.second.creates = ['reject'];
    send(target(1), target(1));
    await rig.seconds(20);
    const { since } = alone();
    expect(since).not.toBeNull();
    await restart();
    expect(alone().since).toBe(since);
    await rig.seconds(60);
    expect(held()).toBe('0 0');
    expect(alone().longestMs).toBeLessThan(70_000);
    expect(alone().longestMs).toBeGreaterThanOrEqual(60_000);
    await restart();
    expect(alone()).toMatchObject({ since: null, times: 1 });
    send(target(1), target(1));
    await rig.seconds(5);
    expect(held()).toBe('0 0');
  });

  test('is completed as soon as a start is through, where its time was over while that went on', async () => {
    const { rig, send, held, restart } = await pairRig({ pair: policy(60, 'complete') });
    rig.second.creates = ['reject', 'accept'];
    send(target(1), target(1));
    await rig.seconds(20);
    rig.venue.failing.add('openOrders');
    await restart();
    await rig.seconds(60);
    expect(held()).toBe('1 0');
    rig.venue.failing.clear();
    await rig.seconds(30);
    expect(held()).toBe('1 1');
  });

  test('asks for more than one leg once a request was denied, again after the same time', async () => {
    const { rig, send, held } = await pairRig({ pair: policy(10, 'complete'), limits: { maxPosition: units('150') } });
    rig.assembled.portfolio.mark(eth.symbol, 200, rig.clock.now());
    rig.second.market = ticks('200', eth);
    send(target(1), target(1));
    await rig.seconds(35);
    expect(held()).toBe('1 0');
    await rig.written();
    expect(rig.db.prepare('SELECT sum(times) AS times FROM denials').get()).toEqual({ times: 4 });
    rig.assembled.portfolio.mark(eth.symbol, 100, rig.clock.now());
    await rig.seconds(12);
    expect(held()).toBe('1 1');
  });
});
