import { describe, expect, test } from 'vitest';
import { alice, call, exchange, limitOrder, objectOf, signed, startTime } from '../../../test/kit/simulator.ts';
import { type Clock, ScaledClock } from '../../clock/clock.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { isSignature, signatureOf, timingFault } from './signature.ts';

describe('signatures', () => {
  test('the published vector comes out', () => {
    const body = '{"symbol":"BTCUSDT","price":"9300","volume":"1","side":"BUY","type":"LIMIT"}';
    const sign = signatureOf('902ae3cb34ecee2779aa4d3e1d226686', '1588591856950', 'POST', '/sapi/v1/order/test', body);
    expect(sign).toBe('c50d0a74bb9427a9a03933d0eded03af9bf50115dc5b706882a4fcf07a26b761');
    expect(isSignature(sign.toUpperCase(), sign)).toBe(true);
    expect(isSignature(sign.replace('c', 'd'), sign)).toBe(false);
    expect(isSignature('', sign)).toBe(false);
  });

  const account = '/sapi/v1/account';
  const headers = (timestamp: number, sign: string, key = alice.key) => ({
    'X-CH-APIKEY': key,
    'X-CH-TS': String(timestamp),
    'X-CH-SIGN': sign,
  });
  const right = signatureOf(alice.secret, String(startTime), 'GET', account, '');

  test.each([
    ['no key', { 'X-CH-APIKEY': '' }, -1002],
    ['no timestamp', { 'X-CH-TS': '' }, -1023],
    ['no signature', { 'X-CH-SIGN': '' }, -1024],
    ['an unknown key', { 'X-CH-APIKEY': 'ALICE-KEY' }, -2015],
    ['a wrong signature', { 'X-CH-SIGN': right.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }, -1022],
    ['another timestamp than the signed one', { 'X-CH-TS': String(startTime + 1) }, -1022],
    ['a timestamp that is no number', { 'X-CH-TS': 'now' }, -1022],
  ])('%s is refused with its code', async (_, change, code) => {
    const { simulator } = await exchange();
    const answer = await call(`${simulator.restUrl}${account}`, 'GET', '', { ...headers(startTime, right), ...change });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(objectOf(answer)).toMatchObject({ code });
  });

  test('the raw target is what is signed: parameters in any order and percent-encoding as sent', async () => {
    const { simulator } = await exchange();
    for (const target of [
      '/sapi/v1/openOrders?symbol=BTCUSDT&limit=5',
      '/sapi/v1/openOrders?limit=5&symbol=BTCUSDT',
      '/sapi/v1/openOrders?symbol=btc%2Fusdt',
    ])
      expect(await signed(simulator, alice, 'GET', target)).toEqual({ status: 200, text: '[]' });
  });

  test('a body that differs by one space from the signed one is refused', async () => {
    const { simulator } = await exchange();
    const sign = signatureOf(alice.secret, String(startTime), 'POST', '/sapi/v1/order/test', '{"symbol":"BTCUSDT"}');
    const answer = await call(
      `${simulator.restUrl}/sapi/v1/order/test`,
      'POST',
      '{"symbol": "BTCUSDT"}',
      headers(startTime, sign),
    );
    expect(objectOf(answer)).toMatchObject({ code: -1022 });
  });
});

describe('the time window (§5.3)', () => {
  const clock = new SimClock(startTime);
  const faultAt = (timestamp: number, recvWindow: number | undefined, on: Clock) =>
    timingFault({ timestamp, recvWindow, serverTime: startTime, aheadMs: 1_000 }, on);

  test('a timestamp is in time less than a second ahead and at most recvWindow behind', () => {
    const fault = (offset: number, window?: number) => faultAt(startTime + offset, window, clock)?.code;
    expect([fault(999), fault(0), fault(-5_000), fault(-2_000, 2_000)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([fault(1_000), fault(-5_001), fault(-2_001, 2_000)]).toEqual([-1021, -1021, -1021]);
    expect(faultAt(Number.NaN, undefined, clock)?.code).toBe(-1021);
  });

  test('at 60 times real time its standard lengths are 60 times as long; a given recvWindow is taken as it is', () => {
    const fast = new ScaledClock(60, startTime);
    expect(faultAt(startTime + 59_999, undefined, fast)).toBeUndefined();
    expect(faultAt(startTime - 300_000, undefined, fast)).toBeUndefined();
    expect(faultAt(startTime - 300_001, undefined, fast)?.code).toBe(-1021);
    expect(faultAt(startTime - 5_001, 5_000, fast)?.code).toBe(-1021);
  });

  test('recvWindow in a POST body counts, in any of its spellings; the order is not placed', async () => {
    const { simulator } = await exchange();
    const order = { symbol: 'BTCUSDT', ...limitOrder() };
    for (const name of ['recvWindow', 'recvwindow', 'recwwindow']) {
      const late = { timestamp: startTime - 2_001 };
      const answer = await signed(simulator, alice, 'POST', '/sapi/v1/order', { ...order, [name]: 2_000 }, late);
      expect(objectOf(answer)).toMatchObject({ code: -1021 });
    }
    expect(simulator.allOrders('10001')).toEqual([]);
  });
});
