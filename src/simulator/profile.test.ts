import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  objectOf,
  place,
  queryOrder,
  signed,
  startTime,
  type TestExchange,
} from '../../test/kit/simulator.ts';

const sell = limitOrder({ side: 'SELL' });
const buy = limitOrder();
const cancel = ({ simulator }: TestExchange, orderId: string) =>
  signed(simulator, alice, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId });

describe('documented', () => {
  test('errors come under HTTP 4XX with an integer code', async () => {
    const { simulator } = await exchange();
    const answer = await call(`${simulator.restUrl}/sapi/v1/depth?symbol=NOPE`, 'GET');
    expect(answer).toEqual({ status: 400, text: '{"code":-1121,"msg":"Invalid symbol."}' });
  });

  test('lists are bare, states are the five, and the account shows balances only', async () => {
    const { simulator } = await exchange();
    await place(simulator, alice, buy);
    expect(
      JSON.parse((await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT')).text),
    ).toMatchObject([{ status: 'NEW', symbol: 'BTCUSDT', time: String(startTime) }]);
    expect(objectOf(await signed(simulator, alice, 'GET', '/sapi/v1/account'))).toEqual({
      balances: [
        { asset: 'USDT', free: '91000', locked: '9000' },
        { asset: 'BTC', free: '10', locked: '0' },
      ],
    });
  });
});

describe('observed', () => {
  const profile = 'observed';

  test('errors come under HTTP 200 with a text code', async () => {
    const { simulator } = await exchange({ profile });
    const answer = await call(`${simulator.restUrl}/sapi/v1/depth?symbol=NOPE`, 'GET');
    expect(answer).toEqual({ status: 200, text: '{"code":"-1121","msg":"Invalid symbol.","data":null}' });
  });

  test('a cancel is accepted first and carried out later; fills may come in between', async () => {
    const one = await exchange({ profile });
    const { simulator, clock } = one;
    const orderId = await place(simulator, alice, buy);
    expect(objectOf(await cancel(one, orderId))).toMatchObject({ status: 'PENDING_CANCEL' });
    expect(await queryOrder(simulator, alice, orderId)).toMatchObject({ status: 'PENDING_CANCEL' });
    await place(simulator, bob, { ...sell, volume: '0.4' });
    await clock.advanceTo(startTime + 500);
    expect(await queryOrder(simulator, alice, orderId)).toMatchObject({
      status: 'PARTIALLY_FILLED_CANCEL',
      executedQty: '0.4',
    });
    expect(objectOf(await cancel(one, orderId))).toMatchObject({ status: 'PENDING_CANCEL' });
    simulator.checkLedger();
  });

  test('an order that fills while its cancel is under way ends filled', async () => {
    const one = await exchange({ profile });
    const orderId = await place(one.simulator, alice, buy);
    await cancel(one, orderId);
    await place(one.simulator, bob, sell);
    await one.clock.advanceTo(startTime + 500);
    expect(await queryOrder(one.simulator, alice, orderId)).toMatchObject({ status: 'Filled' });
    one.simulator.checkLedger();
  });

  test('a MARKET BUY with change left is Partially Filled/Cancelled', async () => {
    const { simulator } = await exchange({ profile });
    await place(simulator, bob, sell);
    const orderId = await place(simulator, alice, { side: 'BUY', type: 'MARKET', volume: '1000.01' });
    expect(await queryOrder(simulator, alice, orderId)).toMatchObject({
      status: 'Partially Filled/Cancelled',
      executedQty: '0.11111',
    });
  });

  test('lists are wrapped', async () => {
    const { simulator } = await exchange({ profile });
    await place(simulator, alice, buy);
    for (const path of ['openOrders', 'myTrades'])
      expect(objectOf(await signed(simulator, alice, 'GET', `/sapi/v1/${path}?symbol=BTCUSDT`))).toHaveProperty('list');
  });
});

describe('limits over the wire', () => {
  test.each(['documented', 'observed'] as const)(
    '%s: 429 beyond the weight of a minute, then 418; the log knows',
    async (profile) => {
      const { simulator, clock, log } = await exchange({ profile, limits: { ipWeightPerMinute: 10 } });
      const depth = () => call(`${simulator.restUrl}/sapi/v1/depth?symbol=BTCUSDT`, 'GET');
      const statuses: number[] = [];
      for (let index = 0; index < 15; index++) statuses.push((await depth()).status);
      expect(statuses).toEqual([200, 200, ...Array(10).fill(429), 410, 418, 418]);
      expect(log.find(({ kind }) => kind === 'ban')).toMatchObject({ ip: '127.0.0.1', until: startTime + 120_000 });
      expect((await call(`${simulator.restUrl}/sapi/v1/ping`, 'GET')).status).toBe(418);
      await clock.advanceTo(startTime + 120_000);
      expect((await depth()).status).toBe(200);
    },
  );

  test('a hundred creates in 2 s are allowed, one more is not', async () => {
    const { simulator } = await exchange();
    for (let index = 0; index < 100; index++) await place(simulator, alice, { ...buy, volume: '0.01' });
    const body = { symbol: 'BTCUSDT', ...buy, volume: '0.01' };
    expect((await signed(simulator, alice, 'POST', '/sapi/v1/order', body)).status).toBe(429);
    expect((await signed(simulator, bob, 'POST', '/sapi/v1/order', body)).status).toBe(200);
    expect(simulator.weightUsed('10001')).toEqual({ ip: 510, uid: 500 });
  });
});

test('the truth log tells each request with its weight, each change of an order, each fill and balance', async () => {
  const { simulator, log } = await exchange();
  await place(simulator, bob, sell);
  await place(simulator, alice, buy);
  const deposits = Array.from({ length: 4 }, () => 'balance');
  expect(log.map(({ kind }) => kind)).toEqual([
    ...['start', ...deposits, 'order', 'balance', 'request'],
    ...['order', 'order', 'fill', 'fill', 'balance', 'balance', 'balance', 'balance', 'request'],
  ]);
  expect(log.filter(({ kind }) => kind === 'balance')[4]).toMatchObject({
    uid: '10002',
    asset: 'BTC',
    free: '9',
    locked: '1',
  });
  expect(log[7]).toMatchObject({ method: 'POST', target: '/sapi/v1/order', status: 200, uid: '10002', weight: 5 });
  expect(log[10]).toMatchObject({
    uid: '10001',
    side: 'BUY',
    price: '9000',
    qty: '1',
    fee: '0.002',
    feeAsset: 'BTC',
    maker: false,
  });
});
