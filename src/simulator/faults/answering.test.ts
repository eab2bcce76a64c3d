import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  listOf,
  objectOf,
  place,
  type Row,
  signed,
  startTime,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import type { FaultRuleInput } from './rules.ts';

const path = '/sapi/v1/order';
const match = { method: 'POST', path } as const;
const order = { symbol: 'BTCUSDT', ...limitOrder({ newClientOrderId: 'x' }) };
const create = ({ simulator }: TestExchange, given: Row = order) =>
  signed(simulator, alice, 'POST', path, { ...given });
const placed = ({ simulator }: TestExchange) => simulator.ordersByClientId('10001', 'x').length;
const faulty = (...faults: FaultRuleInput[]): Promise<TestExchange> => exchange({ faults });
const open = async ({ simulator }: TestExchange): Promise<Row[]> =>
  listOf(await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT'));

describe('an answer that is wrong', () => {
  test('504 at once, and the order is there two seconds later', async () => {
    const one = await faulty({ match, do: { status: 504, when: 'later', afterMs: 2_000 } });
    expect((await create(one)).status).toBe(504);
    expect(placed(one)).toBe(0);
    await one.clock.advanceTo(startTime + 2_000);
    expect(placed(one)).toBe(1);
  });

  test('a text of its own under 200, with or without effect', async () => {
    const wall = '<html>blocked</html>';
    const one = await faulty(
      { match: { ...match, nth: 1 }, do: { body: wall, when: 'before' } },
      { match, do: { body: '' } },
    );
    expect(await create(one)).toEqual({ status: 200, text: wall });
    expect(placed(one)).toBe(0);
    expect(await create(one)).toEqual({ status: 200, text: '' });
    expect(placed(one)).toBe(1);
  });

  test('a code that says nothing about what happened', async () => {
    const one = await faulty(
      { match: { ...match, nth: 1 }, do: { code: -1_007, when: 'after' } },
      { match, do: { code: -1_003, status: 429 } },
    );
    expect(objectOf(await create(one))).toMatchObject({ code: -1_007 });
    expect(placed(one)).toBe(1);
    expect((await create(one)).status).toBe(429);
    expect(placed(one)).toBe(1);
    expect(one.simulator.weightUsed('10001').uid).toBe(5);
  });

  test('lies change only fields that are there, and no digit of an id', async () => {
    const lie = { set: { status: 'ODD', nothing: 1 }, remove: ['orderIdString'] };
    const answer = await create(await faulty({ match, do: { lie } }));
    expect(objectOf(answer)).toMatchObject({ status: 'ODD' });
    expect(objectOf(answer)).not.toHaveProperty('nothing');
    expect(objectOf(answer)).not.toHaveProperty('orderIdString');
    expect(answer.text).toContain('"orderId":1800000000000000001');
  });

  test('lists are cut, repeated, turned round or lose rows', async () => {
    const about = { method: 'GET', path: '/sapi/v1/openOrders' } as const;
    const one = await faulty(
      { match: { ...about, nth: 1 }, do: { lie: { keep: 1 } } },
      { match: { ...about, nth: 1 }, do: { lie: { twice: true } } },
      { match: { ...about, nth: 1 }, do: { lie: { order: 'reversed' } } },
      { match: { ...about, nth: 1 }, do: { lie: { omit: 1 } } },
    );
    const [first, second] = [await place(one.simulator, alice, order), await place(one.simulator, alice, order)];
    const ids = async () => (await open(one)).map((row) => row.orderIdString);
    expect(await ids()).toEqual([second]);
    expect(await ids()).toEqual([second, second, first, first]);
    expect(await ids()).toEqual([first, second]);
    expect(await ids()).toEqual([]);
    expect(await ids()).toEqual([second, first]);
  });

  test('a request delivered twice takes effect twice and is answered once', async () => {
    const one = await faulty({ match, do: { deliver: 2, gapMs: 100 } });
    expect(objectOf(await create(one))).toMatchObject({ status: 'NEW' });
    expect(placed(one)).toBe(1);
    await one.clock.advanceTo(startTime + 100);
    expect(placed(one)).toBe(2);
  });

  test('an order that was taken ends by itself', async () => {
    const one = await faulty({ match, do: { endAfterMs: 1_000 } });
    expect(objectOf(await create(one))).toMatchObject({ status: 'NEW' });
    await one.clock.advanceTo(startTime + 999);
    expect(one.simulator.openOrders('10001')).toHaveLength(1);
    await one.clock.advanceTo(startTime + 1_000);
    expect(one.simulator.allOrders('10001')).toMatchObject([{ status: 'CANCELED', executed: '0' }]);
    one.simulator.checkLedger();
  });

  test('a delay drawn between two is within them', async () => {
    const one = await faulty({ match, do: { delayMs: [1_000, 2_000], when: 'before' } });
    const answer = create(one);
    while (!one.log.some(({ kind }) => kind === 'fault')) await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET');
    await one.clock.advanceTo(startTime + 999);
    expect(placed(one)).toBe(0);
    await one.clock.advanceTo(startTime + 2_000);
    expect(objectOf(await answer)).toMatchObject({ status: 'NEW' });
  });

  test('a gateway with a clock of its own judges the window and tells the time by it', async () => {
    const one = await faulty({ match: { nth: 3 }, do: { skewMs: 0 } }, { do: { skewMs: 6_000 } });
    const time = await call(`${one.simulator.restUrl}/sapi/v1/time`, 'GET');
    expect(objectOf(time).serverTime).toBe(startTime + 6_000);
    expect(objectOf(await create(one))).toMatchObject({ code: -1_021 });
    expect(objectOf(await create(one))).toMatchObject({ status: 'NEW' });
  });
});

describe('a replica that is behind', () => {
  const lagging = () => faulty({ match: { method: 'GET', path: '/sapi/v1/*' }, do: { lagMs: 3_000 } });
  const query = async ({ simulator }: TestExchange, id: string): Promise<Row> =>
    objectOf(await signed(simulator, alice, 'GET', `${path}?orderId=${id}&symbol=BTCUSDT`));
  const free = async ({ simulator }: TestExchange, asset: string): Promise<unknown> => {
    const { balances } = objectOf(await signed(simulator, alice, 'GET', '/sapi/v1/account')) as { balances: Row[] };
    return balances.find((row) => row['asset'] === asset)?.['free'];
  };

  test('does not know an order until its lag has passed, then knows it as it was', async () => {
    const one = await lagging();
    const id = await place(one.simulator, alice, order);
    expect(await query(one, id)).toMatchObject({ code: -2_013 });
    expect(await open(one)).toEqual([]);
    expect(await free(one, 'USDT')).toBe('100000');
    await one.clock.advanceTo(startTime + 3_000);
    await place(one.simulator, bob, { ...order, side: 'SELL', volume: '0.4' });
    expect(await query(one, id)).toMatchObject({ status: 'NEW' });
    expect(await open(one)).toHaveLength(1);
    await one.clock.advanceTo(startTime + 6_000);
    expect(await query(one, id)).toMatchObject({ status: 'PARTIALLY_FILLED', executedQty: '0.4' });
    const trades = listOf(await signed(one.simulator, alice, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT'));
    expect(trades).toHaveLength(1);
  });

  test('starts from what is there when its rule comes, and needs no key to show the market of now', async () => {
    const one = await exchange();
    const id = await place(one.simulator, alice, order);
    one.simulator.addFault({ match: { method: 'GET' }, do: { lagMs: 60_000 } });
    await place(one.simulator, alice, order);
    expect(await query(one, id)).toMatchObject({ status: 'NEW' });
    expect(await open(one)).toHaveLength(1);
    const depth = objectOf(await call(`${one.simulator.restUrl}/sapi/v1/depth?symbol=BTCUSDT`, 'GET')) as {
      bids: unknown[][];
    };
    expect(depth.bids[0]?.[1]).toBe('2');
  });
});

describe('whom and when a rule hits', () => {
  test('one user only', async () => {
    const one = await faulty({ match: { user: '10002' }, do: { status: 500 } });
    expect((await create(one)).status).toBe(200);
    expect((await signed(one.simulator, bob, 'POST', path, order)).status).toBe(500);
  });

  test('a path that begins so, in a time from the start of the rule', async () => {
    const one = await faulty({ match: { path: '/sapi/v1/o*', fromMs: 1_000, untilMs: 2_000 }, do: { status: 500 } });
    const status = async (time: number) => {
      await one.clock.advanceTo(startTime + time);
      return (await create(one)).status;
    };
    expect([await status(999), await status(1_000), await status(1_999), await status(2_000)]).toEqual([
      200, 500, 500, 200,
    ]);
    await one.clock.advanceTo(startTime + 1_500);
    expect((await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET')).status).toBe(200);
  });
});
