import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { decision, fill, target } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import type { Decision, Signal } from '../domain/order.ts';
import type { Kill } from '../risk/kill.ts';

const kill = (by: 'dailyLoss' | 'operator'): Kill => ({ at: 0, strategy: undefined, by, reason: 'enough' });
const stopExit = { side: 'SELL', purpose: 'stop' } as const;

/** A desk that holds 1, at an exchange where MARKET orders wait. */
function holding(): TestRig {
  const desk = new TestRig().listen();
  desk.venue.market = undefined;
  desk.assembled.portfolio.apply(fill());
  return desk;
}

describe('an order that has just been placed', () => {
  test('is not cancelled because the disk filled up while it was on its way', async () => {
    const desk = new TestRig().listen();
    desk.venue.latencyMs = 200;
    desk.venue.onCreate = () => {
      desk.diskFull = true;
      desk.journal.append({ kind: 'notice', at: desk.clock.now(), level: 'info', text: 'does not fit' });
    };
    const { order, carried } = desk.begin({ price: '100' });
    await desk.pass(100);
    expect(desk.journal.full).toBe(true);
    expect(await desk.finish(carried)).toBe('placed');
    await desk.pass(1_000);
    expect(desk.asked('cancel')).toBe(0);
    expect(order.state).toBe('open');
  });

  test.each([
    ['operator', 'an entry', {}, 1],
    ['operator', 'a stop’s exit', stopExit, 1],
    ['dailyLoss', 'an entry', {}, 1],
    ['dailyLoss', 'a stop’s exit', stopExit, 0],
  ] as const)('under a kill by %s that came meanwhile: %s', async (by, _, text, cancels) => {
    const desk = holding();
    desk.venue.onCreate = () => desk.assembled.risk.switch.kill(kill(by));
    await desk.placed(text);
    expect(desk.asked('cancel')).toBe(cancels);
  });
});

describe('a kill by the daily loss limit', () => {
  test('cancels what rests but the exit of a stop, at once and when it is asked again', async () => {
    const desk = holding();
    const exit = await desk.placed(stopExit);
    const entry = await desk.placed({ price: '99' });
    await desk.finish(desk.assembled.kill(kill('dailyLoss')));
    expect([exit.state, entry.state]).toEqual(['open', 'canceled']);
    desk.assembled.retryPending();
    await desk.pass(1_000);
    expect(exit.state).toBe('open');
  });

  test('leaves the exit alone after a restart as well', async () => {
    const desk = holding();
    const exit = await desk.placed(stopExit);
    await desk.finish(desk.assembled.kill(kill('dailyLoss')));
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(desk.asked('cancel')).toBe(0);
    expect(await desk.stateOf(exit)).toBe('open');
  });
});

test('a kill by a person cancels the exit of a stop too', async () => {
  const desk = holding();
  const exit = await desk.placed(stopExit);
  await desk.finish(desk.assembled.kill(kill('operator')));
  expect(exit.state).toBe('canceled');
});

/** A desk that trades what the test signals, through recovery. */
async function trading() {
  const desk = new TestRig();
  let signals = new Subject<Decision>();
  desk.start(signals);
  // The first start looks at the account twice.
  await desk.pass(timing.sweepGapMs + 1_000);
  return {
    desk,
    signal: (signal: Signal, strategy = 's'): void => signals.next(decision(signal, strategy)),
    /** kill -9 and a new start, whose recovery is under way. */
    restart: async (): Promise<void> => {
      await desk.written();
      desk.crash();
      signals = new Subject();
      desk.start(signals);
    },
    /** A print. */
    print: (price: number): void => {
      desk.price(price);
      const { assembled } = desk;
      for (const stop of assembled.protection.hitBy('BTCUSDT', price)) assembled.hitStop(stop, `traded at ${price}`);
    },
    held: (): bigint => desk.assembled.portfolio.position('s', 'BTCUSDT').base,
    resting: (): number => [...desk.venue.orders.values()].filter(({ status }) => status === 'NEW').length,
  };
}
const bid = (price: number): Signal => ({
  kind: 'quotes',
  quotes: [{ side: 'BUY', price, quantity: 1 }],
  reason: 'test',
});

describe('the end of trading', () => {
  test('leaves no order behind that is just being moved', async () => {
    const { desk, signal, resting } = await trading();
    desk.venue.latencyMs = 100;
    signal(bid(90));
    await desk.pass(5_000);
    signal(bid(91));
    await desk.pass(50);
    await desk.finish(desk.assembled.end('cancel'));
    await desk.pass(60_000);
    expect(resting()).toBe(0);
    expect(desk.asked('create')).toBe(1);
  });

  test('leaves no order behind of a strategy that waits for its turn', async () => {
    const { desk, signal, resting } = await trading();
    desk.venue.latencyMs = 100;
    signal(bid(91));
    signal(bid(80), 't');
    await desk.pass(50);
    await desk.finish(desk.assembled.end('cancel'));
    await desk.pass(60_000);
    expect(resting()).toBe(0);
    expect(desk.asked('create')).toBe(1);
  });

  test('cancels an order, too, whose lost answer is found out about meanwhile', async () => {
    const { desk, signal, resting } = await trading();
    desk.venue.creates = ['acceptLost'];
    desk.venue.lagMs = 3_000;
    signal(bid(91));
    await desk.pass(50);
    await desk.finish(desk.assembled.end('cancel'));
    expect(resting()).toBe(0);
  });

  test('waits for a cancel that somebody else has asked for', async () => {
    const { desk, signal, resting } = await trading();
    signal(bid(91));
    await desk.pass(5_000);
    desk.venue.latencyMs = 500;
    void desk.assembled.kill(kill('operator'));
    await desk.pass(10);
    await desk.finish(desk.assembled.end('cancel'));
    expect(resting()).toBe(0);
  });

  test('lets everything else go on while a cancel is under way that nobody waits for', async () => {
    const desk = new TestRig().listen();
    const order = await desk.placed({ price: '99' });
    let asked = 0;
    // As of an order that was adopted late. Where nothing else gets its turn the test would never end.
    Object.defineProperty(order, 'cancelRequested', {
      get: () => {
        if (++asked > 1_000) throw new Error('it is asked without end');
        return true;
      },
    });
    const ended = desk.assembled.end('cancel');
    await desk.pass(2_000);
    expect(order.state).toBe('open');
    desk.venue.order(order.orderId ?? '').status = 'CANCELED';
    await desk.sweep();
    await desk.finish(ended);
    expect(order.state).toBe('canceled');
  });

  test('can keep what rests, and still creates nothing', async () => {
    const { desk, signal, resting } = await trading();
    signal(bid(91));
    signal(bid(80), 't');
    await desk.pass(5_000);
    await desk.finish(desk.assembled.end('keep'));
    signal(bid(92));
    signal(bid(93), 't');
    await desk.pass(60_000);
    expect(resting()).toBe(2);
    expect(desk.asked('create')).toBe(2);
    expect(desk.asked('cancel')).toBe(0);
  });
});

describe('a stop', () => {
  test('is acted on when nothing is known of what its strategy wants', async () => {
    const { desk, signal, restart, print, held } = await trading();
    signal(target(1, { stop: 95 }));
    await desk.pass(5_000);
    await desk.written();
    desk.db.exec('DELETE FROM signals');
    await restart();
    await desk.pass(5_000);
    expect(held()).toBeGreaterThan(0n);
    print(90);
    await desk.pass(5_000);
    expect(held()).toBe(0n);
    const rows = desk.db.prepare("SELECT side FROM orders WHERE purpose = 'stop'").all();
    expect(rows).toEqual([{ side: 'SELL' }]);
  });

  test('that is hit before anybody listens is acted on when trading begins, whatever else rests', async () => {
    const { desk, signal, restart, print, held } = await trading();
    signal(target(1, { stop: 95, takeProfit: 130 }));
    await desk.pass(5_000);
    signal(target(1, { stop: 95, takeProfit: 130 }));
    await desk.pass(5_000);
    expect([...desk.assembled.portfolio.orders()].map(({ intent }) => intent.purpose)).toEqual(['takeProfit']);
    await restart();
    print(94);
    for (let second = 0; second < 20; second++) {
      await desk.pass(1_000);
      desk.assembled.retryPending();
    }
    expect(held()).toBe(0n);
    expect([...desk.assembled.portfolio.orders()]).toEqual([]);
  });

  test('is not asked for a second time while its exit is at the exchange', async () => {
    const { desk, signal, print } = await trading();
    signal(target(1, { stop: 95 }));
    await desk.pass(5_000);
    desk.venue.market = undefined;
    print(94);
    desk.venue.market = undefined;
    for (let second = 0; second < 20; second++) {
      await desk.pass(1_000);
      desk.assembled.retryPending();
    }
    expect(desk.asked('create')).toBe(2);
  });
});

test('a full disk is told of once, and so is its end', async () => {
  const desk = new TestRig().listen();
  const say = async (isFull: boolean): Promise<void> => {
    desk.diskFull = isFull;
    desk.journal.append({ kind: 'day', day: 0, equity: '0' });
    for (let second = 0; second < 5; second++) {
      await desk.pass(1_000);
      desk.assembled.retryPending();
    }
  };
  await say(false);
  expect(desk.notices).toEqual([]);
  await say(true);
  expect(desk.notices.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    'error: the disk is full: no order is created until there is space; cancels go on',
  ]);
  await say(false);
  expect(desk.notices.map(({ level }) => level)).toEqual(['error', 'info']);
});

describe('while the exchange’s time is in doubt', () => {
  test('nothing is created, what rests can be cancelled, and it lifts by itself', async () => {
    const { desk, signal, resting } = await trading();
    signal(bid(90));
    await desk.pass(1_000);
    desk.blocked = 'its clock stepped';
    signal(bid(91));
    await desk.pass(5_000);
    expect([desk.asked('create'), resting()]).toEqual([1, 0]);
    await desk.written();
    const denial = desk.db.prepare('SELECT code, facts FROM denials').get();
    expect(denial).toMatchObject({ code: 'blocked', facts: expect.stringContaining('its clock stepped') });
    desk.blocked = undefined;
    signal(bid(91));
    await desk.pass(1_000);
    expect([desk.asked('create'), resting()]).toEqual([2, 1]);
  });

  test('an order that was being journalled when the doubt arose does not leave, and says why', async () => {
    const desk = new TestRig().listen();
    desk.onCommit = (event) => {
      if (event === 'sending') desk.blocked = 'its clock stepped';
    };
    const { carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.asked('create')).toBe(0);
    await desk.written();
    const row = desk.db.prepare("SELECT detail FROM events WHERE event = 'notSent'").get();
    expect(row).toMatchObject({ detail: expect.stringContaining('its clock stepped') });
  });
});

test('an order that the exchange rejects hides neither those after it nor the next kline’s', async () => {
  const { desk, signal, resting } = await trading();
  const three: Signal = {
    kind: 'quotes',
    quotes: [90, 91, 92].map((price) => ({ side: 'BUY', price, quantity: 1 })),
    reason: 'test',
  };
  desk.venue.creates = ['reject', 'accept'];
  signal(three);
  await desk.pass(1_000);
  expect([desk.asked('create'), resting()]).toEqual([3, 2]);
  desk.venue.creates = ['accept'];
  signal(three);
  await desk.pass(1_000);
  expect([desk.asked('create'), resting()]).toEqual([4, 3]);
});
