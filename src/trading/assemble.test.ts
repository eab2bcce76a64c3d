import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { decision, fill, kill, target } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import type { Decision, Signal } from '../domain/order.ts';

const stopExit = { side: 'SELL', purpose: 'stop' } as const;

/** A rig that holds 1, at an exchange where MARKET orders wait. */
function holding(): TestRig {
  const rig = new TestRig().listen();
  rig.venue.market = undefined;
  rig.assembled.portfolio.apply(fill());
  return rig;
}

describe('an order that has just been placed', () => {
  test('is not cancelled because the disk filled up while it was on its way', async () => {
    const rig = new TestRig().listen();
    rig.venue.latencyMs = 200;
    rig.venue.onCreate = () => {
      rig.diskFull = true;
      rig.journal.append({ kind: 'notice', at: rig.clock.now(), level: 'info', text: 'does not fit' });
    };
    const { order, carried } = rig.begin({ price: '100' });
    await rig.pass(100);
    expect(rig.journal.full).toBe(true);
    expect(await rig.finish(carried)).toBe('accepted');
    await rig.pass(1_000);
    expect(rig.asked('cancel')).toBe(0);
    expect(order.state).toBe('open');
  });

  test.each([
    [{ kind: 'pause' }, 'an entry', {}, 1],
    [{ kind: 'pause' }, 'a stop’s exit', stopExit, 0],
    [{}, 'an entry', {}, 1],
    [{}, 'a stop’s exit', stopExit, 0],
    [{ everything: true }, 'a stop’s exit', stopExit, 1],
  ] as const)('under a kill %j that came meanwhile: %s', async (how, _, text, cancels) => {
    const rig = holding();
    rig.venue.onCreate = () => rig.assembled.risk.switch.kill(kill(how));
    await rig.placed(text);
    expect(rig.asked('cancel')).toBe(cancels);
  });
});

describe('a kill', () => {
  test('cancels what rests but the exit of a stop, at once and when it is asked again', async () => {
    const rig = holding();
    const exit = await rig.placed(stopExit);
    const entry = await rig.placed({ price: '99' });
    await rig.finish(rig.assembled.kill(kill()));
    expect([exit.state, entry.state]).toEqual(['open', 'canceled']);
    rig.assembled.retryPending();
    await rig.pass(1_000);
    expect(exit.state).toBe('open');
  });

  test('leaves the exit alone after a restart as well', async () => {
    const rig = holding();
    const exit = await rig.placed(stopExit);
    await rig.finish(rig.assembled.kill(kill()));
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(rig.asked('cancel')).toBe(0);
    expect(await rig.stateOf(exit)).toBe('open');
  });
});

test('a kill of everything cancels the exit of a stop too', async () => {
  const rig = holding();
  const exit = await rig.placed(stopExit);
  await rig.finish(rig.assembled.kill(kill({ everything: true })));
  expect(exit.state).toBe('canceled');
});

/** A rig that trades the signals of the test, through recovery. */
async function trading() {
  const rig = new TestRig();
  let signals = new Subject<Decision>();
  rig.start(signals);
  // The first start reads the account twice.
  await rig.pass(timing.sweepGapMs + 1_000);
  return {
    rig,
    send: (signal: Signal, strategy = 's'): void => signals.next(decision(signal, strategy)),
    /** kill -9 and a new start, whose recovery is under way. */
    restart: async (): Promise<void> => {
      await rig.written();
      rig.crash();
      signals = new Subject();
      rig.start(signals);
    },
    /** A print. */
    print: (price: number): void => {
      rig.price(price);
      const { assembled } = rig;
      for (const stop of assembled.protection.hitBy('BTCUSDT', price)) assembled.hitStop(stop, `traded at ${price}`);
    },
    held: (): bigint => rig.assembled.portfolio.position('s', 'BTCUSDT').base,
    resting: (): number => [...rig.venue.orders.values()].filter(({ status }) => status === 'NEW').length,
  };
}
const bid = (price: number): Signal => ({
  kind: 'quotes',
  quotes: [{ side: 'BUY', price, quantity: 1 }],
  reason: 'test',
});

describe('the end of trading', () => {
  test('leaves no order behind that is just being moved', async () => {
    const { rig, send, resting } = await trading();
    rig.venue.latencyMs = 100;
    send(bid(90));
    await rig.pass(5_000);
    send(bid(91));
    await rig.pass(50);
    await rig.finish(rig.assembled.end('cancel'));
    await rig.pass(60_000);
    expect(resting()).toBe(0);
    expect(rig.asked('create')).toBe(1);
  });

  test('leaves no order behind of a strategy that waits for its turn', async () => {
    const { rig, send, resting } = await trading();
    rig.venue.latencyMs = 100;
    send(bid(91));
    send(bid(80), 't');
    await rig.pass(50);
    await rig.finish(rig.assembled.end('cancel'));
    await rig.pass(60_000);
    expect(resting()).toBe(0);
    expect(rig.asked('create')).toBe(1);
  });

  test('cancels an order, too, whose lost answer is found out about meanwhile', async () => {
    const { rig, send, resting } = await trading();
    rig.venue.creates = ['acceptLost'];
    rig.venue.lagMs = 3_000;
    send(bid(91));
    await rig.pass(50);
    await rig.finish(rig.assembled.end('cancel'));
    expect(resting()).toBe(0);
  });

  test('waits for a cancel that somebody else has asked for', async () => {
    const { rig, send, resting } = await trading();
    send(bid(91));
    await rig.pass(5_000);
    rig.venue.latencyMs = 500;
    void rig.assembled.kill(kill({ everything: true }));
    await rig.pass(10);
    await rig.finish(rig.assembled.end('cancel'));
    expect(resting()).toBe(0);
  });

  test('lets everything else go on while a cancel is under way that nobody waits for', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed({ price: '99' });
    let asked = 0;
    // As of an order that was adopted late. Where nothing else gets its turn the test would never end.
    Object.defineProperty(order, 'cancelRequested', {
      get: () => {
        if (++asked > 1_000) throw new Error('it is asked without end');
        return true;
      },
    });
    const ended = rig.assembled.end('cancel');
    await rig.pass(2_000);
    expect(order.state).toBe('open');
    rig.venue.order(order.orderId ?? '').status = 'CANCELED';
    await rig.sweep();
    await rig.finish(ended);
    expect(order.state).toBe('canceled');
  });

  test('can keep what rests, and still creates nothing', async () => {
    const { rig, send, resting } = await trading();
    send(bid(91));
    send(bid(80), 't');
    await rig.pass(5_000);
    await rig.finish(rig.assembled.end('keep'));
    send(bid(92));
    send(bid(93), 't');
    await rig.pass(60_000);
    expect(resting()).toBe(2);
    expect(rig.asked('create')).toBe(2);
    expect(rig.asked('cancel')).toBe(0);
  });
});

describe('a stop', () => {
  test('is acted on when the last signal of its strategy is not known', async () => {
    const { rig, send, restart, print, held } = await trading();
    send(target(1, { stop: 95 }));
    await rig.pass(5_000);
    await rig.written();
    rig.db.exec('DELETE FROM signals');
    await restart();
    await rig.pass(5_000);
    expect(held()).toBeGreaterThan(0n);
    print(90);
    await rig.pass(5_000);
    expect(held()).toBe(0n);
    const rows = rig.db.prepare("SELECT side FROM orders WHERE purpose = 'stop'").all();
    expect(rows).toEqual([{ side: 'SELL' }]);
  });

  test('that is hit before anybody listens is acted on when trading begins, whatever else rests', async () => {
    const { rig, send, restart, print, held } = await trading();
    send(target(1, { stop: 95, takeProfit: 130 }));
    await rig.pass(5_000);
    send(target(1, { stop: 95, takeProfit: 130 }));
    await rig.pass(5_000);
    expect([...rig.assembled.portfolio.orders()].map(({ intent }) => intent.purpose)).toEqual(['takeProfit']);
    await restart();
    print(94);
    for (let second = 0; second < 20; second++) {
      await rig.pass(1_000);
      rig.assembled.retryPending();
    }
    expect(held()).toBe(0n);
    expect([...rig.assembled.portfolio.orders()]).toEqual([]);
  });

  test('is not asked for a second time while its exit is at the exchange', async () => {
    const { rig, send, print } = await trading();
    send(target(1, { stop: 95 }));
    await rig.pass(5_000);
    rig.venue.market = undefined;
    print(94);
    rig.venue.market = undefined;
    for (let second = 0; second < 20; second++) {
      await rig.pass(1_000);
      rig.assembled.retryPending();
    }
    expect(rig.asked('create')).toBe(2);
  });
});

test('a full disk is reported once, and so is its end', async () => {
  const rig = new TestRig().listen();
  const say = async (isFull: boolean, seconds = 5): Promise<void> => {
    rig.diskFull = isFull;
    rig.journal.append({ kind: 'day', day: 0, equity: '0' });
    for (let second = 0; second < seconds; second++) {
      await rig.pass(1_000);
      rig.assembled.retryPending();
    }
  };
  await say(false);
  expect(rig.notices).toEqual([]);
  await say(true);
  expect(rig.notices.map(({ level, topic, text }) => `${level}, ${topic}: ${text}`)).toEqual([
    'error, diskFull: the disk is full: no order is created until there is space, so stops do not work; cancels go on',
  ]);
  // One commit that found room is no space yet.
  await say(false, 3);
  await say(true);
  await say(false, 3);
  expect(rig.notices).toHaveLength(1);
  await say(false, 5);
  expect(rig.notices.map(({ level }) => level)).toEqual(['error', 'info']);
});

describe('while the exchange’s time is in doubt', () => {
  test('nothing is created, what rests can be cancelled, and it lifts by itself', async () => {
    const { rig, send, resting } = await trading();
    send(bid(90));
    await rig.pass(1_000);
    rig.blocked = 'its clock stepped';
    send(bid(91));
    await rig.pass(5_000);
    expect([rig.asked('create'), resting()]).toEqual([1, 0]);
    await rig.written();
    const denial = rig.db.prepare('SELECT code, facts FROM denials').get();
    expect(denial).toMatchObject({ code: 'blocked', facts: expect.stringContaining('its clock stepped') });
    rig.blocked = undefined;
    send(bid(91));
    await rig.pass(1_000);
    expect([rig.asked('create'), resting()]).toEqual([2, 1]);
  });

  test('an order that was being journalled when the doubt arose does not leave, and says why', async () => {
    const rig = new TestRig().listen();
    rig.onCommit = (event) => {
      if (event === 'sending') rig.blocked = 'its clock stepped';
    };
    const { carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    await rig.written();
    const row = rig.db.prepare("SELECT detail FROM events WHERE event = 'notSent'").get();
    expect(row).toMatchObject({ detail: expect.stringContaining('its clock stepped') });
  });
});

test('an order that the exchange rejects hides neither those after it nor the next kline’s', async () => {
  const { rig, send, resting } = await trading();
  const three: Signal = {
    kind: 'quotes',
    quotes: [90, 91, 92].map((price) => ({ side: 'BUY', price, quantity: 1 })),
    reason: 'test',
  };
  rig.venue.creates = ['reject', 'accept'];
  send(three);
  await rig.pass(1_000);
  expect([rig.asked('create'), resting()]).toEqual([3, 2]);
  rig.venue.creates = ['accept'];
  send(three);
  await rig.pass(1_000);
  expect([rig.asked('create'), resting()]).toEqual([4, 3]);
});
