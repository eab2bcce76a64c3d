import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { alice, bob, call, exchange, limitOrder, objectOf, signed } from '../../../test/kit/simulator.ts';
import type { SimulatorUser } from '../simulator.ts';

const carol: SimulatorUser = {
  ...alice,
  key: 'carol-first',
  keys: [
    { key: 'carol-reads', secret: 'reads', permissions: ['read'] },
    { key: 'carol-trades', secret: 'trades', permissions: ['trade'] },
    { key: 'carol-withdraws', secret: 'withdraws', permissions: ['withdraw'] },
    { key: 'carol-elsewhere', secret: 'elsewhere', addresses: ['10.0.0.1'] },
    { key: 'carol-here', secret: 'here', addresses: ['127.0.0.2', '127.0.0.1'] },
  ],
};
const as = (key: string): SimulatorUser => ({ ...carol, ...carol.keys?.find((one) => one.key === key) });
const order = { symbol: 'BTCUSDT', ...limitOrder({ volume: '0.1' }) };
const open = () => exchange({ users: [carol, bob] });
const wrongKey = { code: -2015, msg: 'Invalid API-key, IP, or permissions for action.' };

describe('keys of a user', () => {
  test('all of them act on the same account', async () => {
    const { simulator } = await open();
    const placed = objectOf(await signed(simulator, as('carol-trades'), 'POST', '/sapi/v1/order', order));
    const read = await signed(
      simulator,
      as('carol-reads'),
      'GET',
      `/sapi/v1/order?symbol=BTCUSDT&orderId=${String(placed.orderIdString)}`,
    );
    expect(objectOf(read)).toMatchObject({ orderId: placed.orderIdString, status: 'NEW' });
    expect(simulator.openOrders(carol.uid)).toHaveLength(1);
  });

  test.each([
    ['carol-reads', 'POST', '/sapi/v1/order', order],
    ['carol-reads', 'POST', '/sapi/v1/order/test', order],
    ['carol-trades', 'GET', '/sapi/v1/account', undefined],
    ['carol-withdraws', 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT', undefined],
    ['carol-first', 'POST', '/sapi/v1/withdraw/query', {}],
    ['carol-elsewhere', 'GET', '/sapi/v1/account', undefined],
  ] as const)('%s may not %s %s', async (key, method, target, body) => {
    const { simulator } = await open();
    const answer = await signed(simulator, as(key), method, target, body);
    expect(answer.status).toBe(401);
    expect(objectOf(answer)).toMatchObject({ msg: wrongKey.msg });
    expect(String(objectOf(answer)['code'])).toBe('-2015');
    expect(simulator.allOrders(carol.uid)).toEqual([]);
  });

  test('a key with an allow-list works from the addresses on it and from no other', async () => {
    const { simulator } = await open();
    const from = (localAddress: string, key: string) =>
      new Promise<number>((resolve, reject) => {
        const { secret } = as(key);
        const timestamp = String(simulator.clock.now());
        const sign = createHmac('sha256', secret).update(`${timestamp}GET/sapi/v1/account`).digest('hex');
        const headers = { 'X-CH-APIKEY': key, 'X-CH-TS': timestamp, 'X-CH-SIGN': sign };
        request(`${simulator.restUrl}/sapi/v1/account`, { localAddress, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await from('127.0.0.1', 'carol-here')).toBe(200);
    expect(await from('127.0.0.2', 'carol-here')).toBe(200);
    expect(await from('127.0.0.3', 'carol-here')).toBe(401);
    expect(await from('127.0.0.3', 'carol-first')).toBe(200);
  });

  test('what has no key’s format draws -2014, an unknown key -2015', async () => {
    const { simulator } = await open();
    const ask = async (key: string) =>
      objectOf(
        await call(`${simulator.restUrl}/sapi/v1/account`, 'GET', '', {
          'X-CH-APIKEY': key,
          'X-CH-TS': String(simulator.clock.now()),
          'X-CH-SIGN': 'ab',
        }),
      )['code'];
    expect(await ask('not a key!')).toBe(-2014);
    expect(await ask('x'.repeat(129))).toBe(-2014);
    expect(await ask('nobody')).toBe(-2015);
  });

  test('a signature counts in either case of its digits', async () => {
    const { simulator } = await open();
    const timestamp = String(simulator.clock.now());
    const sign = createHmac('sha256', alice.secret).update(`${timestamp}GET/sapi/v1/account`).digest('hex');
    for (const spelt of [sign, sign.toUpperCase()]) {
      const headers = { 'X-CH-APIKEY': 'carol-first', 'X-CH-TS': timestamp, 'X-CH-SIGN': spelt };
      expect((await call(`${simulator.restUrl}/sapi/v1/account`, 'GET', '', headers)).status).toBe(200);
    }
  });

  test('can be added and revoked while the exchange runs', async () => {
    const { simulator } = await open();
    const fresh = { key: 'carol-fresh', secret: 'fresh', permissions: ['read'] } as const;
    simulator.addKey(carol.uid, fresh);
    const ask = async () => (await signed(simulator, { ...carol, ...fresh }, 'GET', '/sapi/v1/account')).status;
    expect(await ask()).toBe(200);
    expect(simulator.revokeKey('carol-fresh')).toBe(true);
    expect(simulator.revokeKey('carol-fresh')).toBe(false);
    expect(await ask()).toBe(401);
    expect(() => simulator.addKey('5', fresh)).toThrow('there is no user 5');
  });

  test('two users with one key are refused', async () => {
    await expect(exchange({ users: [alice, { ...bob, key: alice.key }] })).rejects.toThrow('two users have the key');
  });
});
