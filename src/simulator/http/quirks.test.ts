import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  listOf,
  minutes,
  objectOf,
  place,
  queryOrder,
  signed,
  startTime,
} from '../../../test/kit/simulator.ts';
import { quirkPositions, quirksOf } from '../core/quirks.ts';
import type { Quirks, SimulatorUser } from '../simulator.ts';

const under = async (quirks: Partial<Quirks>) => {
  const { simulator, clock } = await exchange({ quirks });
  const create = (more = {}) =>
    signed(simulator, alice, 'POST', '/sapi/v1/order', { symbol: 'BTCUSDT', ...limitOrder(more) });
  const get = (path: string) => call(`${simulator.restUrl}/sapi/v1/${path}`, 'GET');
  return { simulator, clock, create, get };
};

describe('switches', () => {
  test('every one has its position in both profiles, and one of the listed', () => {
    for (const profile of ['documented', 'observed'])
      for (const [name, position] of Object.entries(quirksOf(profile)))
        expect([name, new Map(Object.entries<readonly unknown[]>(quirkPositions)).get(name)]).toEqual([
          name,
          expect.arrayContaining([position]),
        ]);
  });

  test('that there are not, and positions that there are not, are refused by name', () => {
    const turn = (quirks: object) => () => quirksOf('documented', quirks);
    expect(turn({ color: 'red' })).toThrow('there is no quirk color; there are errorStatus, ');
    expect(turn({ cancel: 'never' })).toThrow('the quirk cancel must be "at once" or "later", not "never"');
    expect(turn({ socketLevels: -1 })).toThrow('the quirk socketLevels must be a whole number, not -1');
    expect(turn({ marginOpenOrdersWeight: 2 })).toThrow('must be 1 or 5');
    expect(turn({ socketLevels: 184, stallAfterMs: 5_000 })).not.toThrow();
  });

  test.each(
    Object.entries<readonly unknown[]>(quirkPositions).flatMap(([name, positions]) =>
      positions.map((position) => [name, position] as const),
    ),
  )('%s = %j: orders are placed, traded, ended, and the ledger holds', async (name, position) => {
    const { simulator, clock } = await under({ [name]: position });
    const post = (user: SimulatorUser, path: string, body: object) =>
      signed(
        simulator,
        user,
        'POST',
        path,
        { symbol: 'BTCUSDT', ...body },
        position === 'stripped' ? { strip: '/sapi' } : {},
      );
    await post(bob, '/sapi/v1/order', limitOrder({ side: 'SELL', volume: '0.5' }));
    await post(alice, '/sapi/v1/order', limitOrder());
    const [order] = simulator.allOrders(alice.uid);
    expect(order).toMatchObject({ status: 'PARTIALLY_FILLED', executed: '0.5' });
    expect((await post(alice, '/sapi/v1/cancel', { orderId: order?.orderId })).status).toBe(200);
    await clock.advanceTo(startTime + 1_000);
    expect(simulator.openOrders(alice.uid)).toEqual([]);
    simulator.checkLedger();
  });
});

describe('errors', () => {
  test('engine codes leak in place of the documented ones', async () => {
    const { simulator, create } = await under({ errorCodes: 'engine' });
    const codes = [{ price: '9000.001' }, { volume: '0.00001' }, { volume: '0.0002' }, { volume: '100' }].map(
      async (order) => objectOf(await create(order))['code'],
    );
    expect(await Promise.all(codes)).toEqual([10_062, 110_046, 110_047, 110_049]);
    const malformed = await signed(simulator, alice, 'GET', '/sapi/v1/order?symbol=BTCUSDT&orderId=x1');
    expect(malformed.text).toBe('{"code":1,"msg":"fail"}');
  });

  test('refusals may say that they are none', async () => {
    const { get } = await under({ refusalExtras: 'succ', errorStatus: 'http200' });
    expect(objectOf(await get('depth?symbol=NOPE'))).toMatchObject({ code: -1121, data: null, succ: false });
  });

  test('a gateway may take /sapi away before it verifies, and then the whole path is signed wrongly', async () => {
    const { simulator } = await under({ signedPath: 'stripped' });
    const status = async (strip: string) =>
      (await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT', '', { strip })).status;
    expect([await status('/sapi'), await status('')]).toEqual([200, 401]);
  });

  test('symbols may have to be upper case', async () => {
    const { get } = await under({ symbolCase: 'upper' });
    expect((await get('depth?symbol=BTCUSDT')).status).toBe(200);
    expect(objectOf(await get('depth?symbol=btcusdt'))).toMatchObject({ code: -1121 });
  });

  test('messages may be in another language', async () => {
    const { get } = await under({ messages: 'chinese' });
    expect(objectOf(await get('depth?symbol=NOPE'))).toEqual({ code: -1121, msg: '请求失败' });
  });

  test('replies may come in an envelope', async () => {
    const { get, create } = await under({ replies: 'enveloped' });
    expect((await get('ping')).text).toBe('{"code":"0","msg":"Success","data":{}}');
    expect(objectOf(await create())).toMatchObject({ code: '0', data: { status: 'NEW' } });
  });

  test('every third create answers 504 although the order is there', async () => {
    const { simulator, create } = await under({ lostCreateEvery: 3 });
    const statuses: number[] = [];
    for (let index = 0; index < 6; index++) statuses.push((await create({ volume: '0.1' })).status);
    expect(statuses).toEqual([200, 200, 504, 200, 200, 504]);
    expect(simulator.openOrders(alice.uid)).toHaveLength(6);
  });

  test('the time window may be read under one name alone, the others passed over or refused', async () => {
    const code = async (windowName: Quirks['windowName'], name: string) => {
      const { simulator } = await under({ windowName });
      const body = { symbol: 'BTCUSDT', ...limitOrder(), [name]: 1_000 };
      const timestamp = startTime - 3_000;
      const answer = await signed(simulator, alice, 'POST', '/sapi/v1/order/test', body, { timestamp });
      return objectOf(answer)['code'];
    };
    expect([await code('any', 'recvWindow'), await code('any', 'recwwindow')]).toEqual([-1021, -1021]);
    expect([await code('recvwindow', 'recvWindow'), await code('recvwindow', 'recvwindow')]).toEqual([
      undefined,
      -1021,
    ]);
    const strict = 'recvwindow or refused';
    expect([await code(strict, 'recvWindow'), await code(strict, 'recvwindow')]).toEqual([-1103, -1021]);
  });

  test('a timestamp may be three seconds ahead', async () => {
    const { simulator } = await under({ aheadMs: 3_000 });
    const status = async (offset: number) =>
      (await signed(simulator, alice, 'GET', '/sapi/v1/account', '', { timestamp: startTime + offset })).status;
    expect([await status(2_999), await status(3_000)]).toEqual([200, 400]);
  });
});

describe('orders', () => {
  test('ids come as numbers, text or a list; the text beside them may be missing', async () => {
    const shape = async (quirks: Partial<Quirks>) => (await (await under(quirks)).create()).text;
    expect(await shape({})).toMatch(/"orderId":18\d{17},"orderIdString":"18\d{17}"/);
    expect(await shape({ orderId: 'text' })).toMatch(/"orderId":"18\d{17}","orderIdString"/);
    expect(await shape({ orderId: 'list', orderIdString: false })).toMatch(/"orderId":\[18\d{17}\],"transactTime"/);
  });

  test('client ids may not be echoed', async () => {
    const { simulator, create } = await under({ clientId: 'null' });
    expect(objectOf(await create({ newClientOrderId: 'mine' }))['clientOrderId']).toBeNull();
    const [order] = simulator.openOrders(alice.uid);
    expect(await queryOrder(simulator, alice, order?.orderId ?? '')).toMatchObject({ clientOrderId: null });
  });

  test('lists of open orders may show client ids, which the specification does not name there', async () => {
    const listed = async (quirks: Partial<Quirks>) => {
      const { simulator, create } = await under(quirks);
      await create({ newClientOrderId: 'mine' });
      return listOf(await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT'))[0];
    };
    expect(await listed({})).not.toHaveProperty('clientOrderId');
    expect(await listed({ openOrdersClientId: true })).toHaveProperty('clientOrderId', 'mine');
  });

  test('an order may be found by its client id alone; the newest counts', async () => {
    const { simulator, create } = await under({ queryNeedsOrderId: false });
    await create({ newClientOrderId: 'mine', price: '8000' });
    await create({ newClientOrderId: 'mine', price: '8001' });
    const found = await signed(simulator, alice, 'GET', '/sapi/v1/order?symbol=BTCUSDT&newClientorderId=mine');
    expect(objectOf(found)).toMatchObject({ price: '8001' });
  });

  test('an order that is being cancelled is as far as it was filled, where there are five states', async () => {
    const { simulator, create } = await under({ cancel: 'later' });
    await create();
    const [order] = simulator.allOrders(alice.uid);
    const shown = async () => (await queryOrder(simulator, alice, order?.orderId ?? '')).status;
    await signed(simulator, alice, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId: order?.orderId });
    expect(await shown()).toBe('NEW');
    await place(simulator, bob, limitOrder({ side: 'SELL', volume: '0.5' }));
    expect(await shown()).toBe('PARTIALLY_FILLED');
  });

  test('states may be the integers of older venues', async () => {
    const { simulator, create } = await under({ states: 'numbers', cancel: 'later' });
    await create();
    const orderId = simulator.openOrders(alice.uid)[0]?.orderId ?? '';
    const status = async () => (await queryOrder(simulator, alice, orderId)).status;
    expect(await status()).toBe(1);
    await place(simulator, bob, limitOrder({ side: 'SELL', volume: '0.5' })).catch(() => undefined);
    expect(await status()).toBe(3);
    await signed(simulator, alice, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId });
    expect(await status()).toBe(5);
  });

  test('a create may answer with the number 0 for NEW', async () => {
    const { create } = await under({ createStatus: 0 });
    expect(objectOf(await create()).status).toBe(0);
  });
});

describe('market data and balances', () => {
  const klines = minutes(
    Array.from({ length: 10 }, (_, index) => [9000 + index, 9001, 8999, 9000, 1] as const),
    startTime - 5 * 60_000,
  );
  const replay = { markets: [{ kind: 'klines', symbol: 'BTCUSDT', klines, startIndex: 5 }] } as const;

  test('klines may come the oldest first, their idx in seconds', async () => {
    const quirks = { klineOrder: 'oldest first', klineIndex: 'seconds' } as const;
    const { simulator } = await exchange({ ...replay, quirks });
    const rows = listOf(await call(`${simulator.restUrl}/sapi/v1/klines?symbol=BTCUSDT&interval=1min`, 'GET'));
    expect(rows.slice(0, 2).map((row) => row['idx'])).toEqual([startTime / 1_000 - 300, startTime / 1_000 - 240]);
  });

  test('small amounts may be written with exponents, and zero too', async () => {
    const { simulator, create } = await under({ amounts: 'scientific' });
    await create({ volume: '0.0006' });
    const account = await signed(simulator, alice, 'GET', '/sapi/v1/account');
    expect(account.text).toContain('{"asset":"USDT","free":99994.6,"locked":5.4}');
    expect(account.text).toContain('"locked":0E-16');
    const open = await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT');
    expect(open.text).toContain('"origQty":6E-4,');
    expect(listOf(open)).toMatchObject([{ origQty: 0.0006, executedQty: 0 }]);
  });

  test('one object may have numbers and text', async () => {
    const { simulator, create } = await under({ amounts: 'mixed' });
    await create({ volume: '0.0006' });
    const account = await signed(simulator, alice, 'GET', '/sapi/v1/account');
    expect(account.text).toContain('{"asset":"USDT","free":"99994.6","locked":"5.4"}');
    expect(account.text).toContain('{"asset":"BTC","free":10,"locked":0}');
    const replayed = await exchange({ ...replay, quirks: { amounts: 'mixed' } });
    const ticker = objectOf(await call(`${replayed.simulator.restUrl}/sapi/v1/ticker?symbol=BTCUSDT`, 'GET'));
    expect(ticker).toMatchObject({ last: 9000, vol: expect.any(String) });
  });

  test.each([
    ['null', { code: '0', msg: 'Success', data: null }],
    ['bare null', null],
  ] as const)('a list without rows may be %s', async (emptyLists, body) => {
    const { simulator, create } = await under({ emptyLists });
    const open = async (): Promise<unknown> =>
      JSON.parse((await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT')).text);
    expect(await open()).toEqual(body);
    await create();
    expect(await open()).toHaveLength(1);
  });

  test('levels may have a third element, the quantity up to there', async () => {
    const { get, create } = await under({ depthLevels: 'triples' });
    await create({ price: '9000', volume: '1' });
    await create({ price: '8999', volume: '0.5' });
    expect(objectOf(await get('depth?symbol=BTCUSDT'))['bids']).toEqual([
      ['9000', '1', '1'],
      ['8999', '0.5', '1.5'],
    ]);
  });

  test('the time may have another name, and the change be in percent', async () => {
    const rising = { ...replay.markets[0], klines: minutes([[9000, 9100, 9000, 9090, 1]]), startIndex: 0 };
    const { simulator, clock } = await exchange({
      markets: [rising],
      quirks: { timeField: 'server_time', rose: 'percent' },
    });
    await clock.advanceTo(startTime + 59_999);
    const get = async (path: string) => objectOf(await call(`${simulator.restUrl}/sapi/v1/${path}`, 'GET'));
    expect(await get('time')).toEqual({ timezone: 'GMT+08:00', server_time: startTime + 59_999 });
    expect(await get('ticker?symbol=BTCUSDT')).toMatchObject({ open: '9000', last: '9090', rose: '1.00000000' });
  });

  test('depth may have no time, public trades no list around them', async () => {
    const { get } = await under({ depthTime: 'null', publicTrades: 'bare' });
    expect(objectOf(await get('depth?symbol=BTCUSDT'))).toEqual({ time: null, bids: [], asks: [] });
    expect((await get('trades?symbol=BTCUSDT')).text).toBe('[]');
  });

  test('minima may be zeros or absent', async () => {
    const minima = async (quirks: Partial<Quirks>) => {
      const { symbols } = objectOf(await (await under(quirks)).get('symbols')) as { symbols: object[] };
      return Object.entries(symbols[0] ?? {}).filter(([name]) => name.endsWith('Min'));
    };
    expect(await minima({})).toEqual([
      ['limitVolumeMin', 0.0001],
      ['marketSellMin', 0.0001],
      ['limitAmountMin', 5],
      ['marketBuyMin', 5],
    ]);
    expect((await minima({ minima: 'zero' })).map(([, value]) => value as number)).toEqual([0, 0, 0, 0]);
    expect(await minima({ minima: 'absent' })).toEqual([]);
  });
});
