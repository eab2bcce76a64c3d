import { describe, expect, test } from 'vitest';
import {
  alice,
  call,
  exchange,
  limitOrder,
  objectOf,
  openSocket,
  place,
  signed,
  startTime,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import { Faults } from './engine.ts';
import type { FaultRuleInput } from './rules.ts';
import { faultRules } from './rules.ts';

const faulty = (...faults: FaultRuleInput[]): Promise<TestExchange> => exchange({ faults });

const match = { method: 'POST', path: '/sapi/v1/order' } as const;
const order = { symbol: 'BTCUSDT', ...limitOrder({ newClientOrderId: 'x' }) };
const create = ({ simulator }: TestExchange, signal?: AbortSignal) =>
  signed(simulator, alice, 'POST', '/sapi/v1/order', order, signal === undefined ? {} : { signal });
/** Waits until a fault has hit something: the truth log says so. */
async function faulted({ simulator, log }: TestExchange): Promise<void> {
  while (!log.some(({ kind }) => kind === 'fault')) await call(`${simulator.restUrl}/sapi/v1/ping`, 'GET');
}
const placed = ({ simulator }: TestExchange) => simulator.ordersByClientId('10001', 'x').length;

describe('a fault on a request', () => {
  test('504 after the exchange accepted the order: the order is there', async () => {
    const one = await faulty({ match, do: { status: 504 } });
    expect(await create(one)).toMatchObject({ status: 504, text: expect.stringContaining('<html>') });
    expect(placed(one)).toBe(1);
  });

  test('503 before: the order is not there', async () => {
    const one = await faulty({ match, do: { status: 503, when: 'before' } });
    expect((await create(one)).status).toBe(503);
    expect(placed(one)).toBe(0);
  });

  test('a connection dropped before or after processing breaks both times; only after has an effect', async () => {
    const before = await faulty({ match, do: { drop: 'before' } });
    await expect(create(before)).rejects.toThrow();
    expect(placed(before)).toBe(0);
    const after = await faulty({ match, do: { drop: 'after' } });
    await expect(create(after)).rejects.toThrow();
    expect(placed(after)).toBe(1);
  });

  test('a truncated body breaks off in the middle of the answer to an accepted order', async () => {
    const one = await faulty({ match, do: { truncate: true } });
    await expect(create(one)).rejects.toThrow('aborted');
    expect(placed(one)).toBe(1);
  });

  test('an answer is held until it is released by name', async () => {
    const one = await faulty({ match, do: { hold: 'accepted' } });
    const answer = create(one);
    await one.simulator.held('accepted');
    expect(placed(one)).toBe(1);
    expect(one.simulator.release('accepted')).toBe(1);
    expect(objectOf(await answer)).toMatchObject({ status: 'NEW' });
  });

  test('a request held before processing is judged by the time window when it is let in', async () => {
    const one = await faulty({ match: { ...match, times: 2 }, do: { hold: 'queue', when: 'before' } });
    const inTime = create(one);
    await one.simulator.held('queue');
    expect(placed(one)).toBe(0);
    one.simulator.release('queue');
    expect(objectOf(await inTime)).toMatchObject({ status: 'NEW' });
    const late = create(one);
    await one.simulator.held('queue');
    await one.clock.advanceTo(startTime + 5_001);
    one.simulator.release('queue');
    expect(objectOf(await late)).toMatchObject({ code: -1021 });
    expect(placed(one)).toBe(1);
  });

  test('a request whose sender has gone is carried out all the same when it is let in', async () => {
    const one = await faulty({ match, do: { hold: 'queue', when: 'before' } });
    const sender = new AbortController();
    const answer = create(one, sender.signal);
    await one.simulator.held('queue');
    sender.abort();
    await expect(answer).rejects.toThrow();
    one.simulator.release('queue');
    await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET');
    expect(placed(one)).toBe(1);
  });

  test('a delay is of the clock', async () => {
    const one = await faulty({ match, do: { delayMs: 2_000, when: 'before' } });
    let answered = false;
    const answer = create(one).then((reply) => {
      answered = true;
      return reply;
    });
    await faulted(one);
    await one.clock.advanceTo(startTime + 1_999);
    await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET');
    expect([answered, placed(one)]).toEqual([false, 0]);
    await one.clock.advanceTo(startTime + 2_000);
    expect(objectOf(await answer)).toMatchObject({ status: 'NEW', transactTime: startTime + 2_000 });
  });

  test('every firing is in the truth log', async () => {
    const one = await faulty({ match, do: { status: 504 } });
    await create(one);
    expect(one.log.filter(({ kind }) => kind === 'fault')).toEqual([
      { at: startTime, kind: 'fault', rule: 1, ...match, action: { status: 504, when: 'after', afterMs: 2_000 } },
    ]);
  });

  test('rules come and go while the exchange runs', async () => {
    const one = await faulty();
    const remove = one.simulator.addFault({ match, do: { status: 500 } });
    expect((await create(one)).status).toBe(500);
    remove();
    expect((await create(one)).status).toBe(200);
    one.simulator.addFault({ match, do: { status: 500 } });
    one.simulator.removeFaults();
    expect((await create(one)).status).toBe(200);
  });

  test('an exchange that stops while it holds and delays leaves nothing behind', async () => {
    const one = await exchange({
      faults: [
        { match: { ...match, nth: 1 }, do: { hold: 'x', when: 'before' } },
        { match, do: { delayMs: 500_000 } },
      ],
    });
    const answers = [create(one), create(one)];
    await one.simulator.held('x');
    await one.simulator.close();
    for (const answer of answers) await expect(answer).rejects.toThrow();
    expect(one.simulator.release('x')).toBe(1);
  });
});

describe('a fault on the socket', () => {
  const channel = 'market_btcusdt_trade_ticker';
  const trade = async (one: TestExchange) => {
    await place(one.simulator, alice, { ...order, side: 'SELL' });
    await place(one.simulator, alice, order);
  };

  test('disconnect cuts it at the frame that matches', async () => {
    const one = await faulty({ match: { method: 'WS', path: channel, nth: 2 }, do: { socket: 'disconnect' } });
    const socket = await openSocket(one.simulator);
    socket.send({ event: 'sub', params: { channel } });
    socket.send({ event: 'req', params: { channel } });
    await socket.frame((frame) => frame.event_rep === 'rep');
    await trade(one);
    await socket.closed;
  });

  test('silence leaves it open without a frame, for as long as the rule says', async () => {
    const fault = { match: { method: 'WS', nth: 1 }, do: { socket: 'silence', forMs: 15_000 } } as const;
    const one = await faulty(fault);
    const socket = await openSocket(one.simulator);
    socket.send({ event: 'sub', params: { channel: 'market_btcusdt_depth_step0' } });
    await faulted(one);
    await one.clock.advanceTo(startTime + 14_999);
    expect(socket.frames).toEqual([]);
    await one.clock.advanceTo(startTime + 20_000);
    await socket.frame(({ ping }) => ping === (startTime + 20_000) / 1_000);
  });
});

describe('which request a rule hits', () => {
  const get = { method: 'GET', path: '/a' };
  const engine = (rules: readonly FaultRuleInput[], now = 0) =>
    new Faults(faultRules(rules), { seed: 3, now: () => now, onTimed: () => undefined, onLag: () => undefined });
  const fired = (rule: FaultRuleInput['match'], count: number, now = 0) => {
    const faults = engine([{ match: rule, do: { status: 500 } }], now);
    return Array.from({ length: count }, () => faults.pick(get) !== undefined);
  };

  test('nth, every and times count what matches', () => {
    expect(fired({ nth: 2 }, 4)).toEqual([false, true, false, false]);
    expect(fired({ every: 2 }, 4)).toEqual([false, true, false, true]);
    expect(fired({ times: 2 }, 4)).toEqual([true, true, false, false]);
    expect(fired({ path: '/b' }, 1)).toEqual([false]);
  });

  test('a probability is drawn from the seed: about its share, the same each time', () => {
    const hits = fired({ probability: 0.02 }, 10_000);
    expect(hits.filter(Boolean).length).toBeGreaterThan(150);
    expect(hits.filter(Boolean).length).toBeLessThan(250);
    expect(fired({ probability: 0.02 }, 10_000)).toEqual(hits);
  });

  test('from and until bound the exchange time', () => {
    expect([
      fired({ from: 10, until: 20 }, 1, 9),
      fired({ from: 10, until: 20 }, 1, 10),
      fired({ from: 10, until: 20 }, 1, 20),
    ]).toEqual([[false], [true], [false]]);
  });

  test('the first rule that fires decides', () => {
    const faults = engine([{ match: { nth: 2 }, do: { status: 500 } }, { do: { status: 503 } }]);
    const picks = [1, 2, 3].map(() => faults.pick(get));
    expect(picks).toMatchObject([
      { rule: 2, action: { status: 503 } },
      { rule: 1, action: { status: 500 } },
      { rule: 2, action: { status: 503 } },
    ]);
  });
});

describe('a list of rules that is none', () => {
  test.each([
    ['an unknown key', [{ match: { pth: '/a' }, do: { status: 500 } }], /rule 1 match: .*pth/],
    ['an unknown action', [{ do: { status: 500 } }, { do: { explode: true } }], /rule 2 do: must be one of hold, drop/],
    ['two actions in one', [{ do: { status: 500, hold: 'x' } }], /rule 1 do: must be one of/],
    ['no list', { match: {} }, /the whole: /],
    [
      'a socket fault on a request',
      [{ match, do: { socket: 'disconnect' } }],
      /rule 1: a socket fault needs match.method: WS/,
    ],
  ])('%s is refused with its place', (_, rules, message) => {
    expect(() => faultRules(rules)).toThrow(message);
  });
});
