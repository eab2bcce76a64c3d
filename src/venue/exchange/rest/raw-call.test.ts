import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SeenRequest } from '../../../../test/kit/exchange-stub.ts';
import { stubbed } from '../../../../test/kit/exchange-stub.ts';
import { whyNot } from './raw-call.ts';

const at = stubbed();

describe('a raw call', () => {
  it('is signed and sent as it stands, and gives the answer as it came', async () => {
    at.stub.answer = () => ({ code: '0', data: { anything: ['7'] } });
    const { exchange, spent } = at.open();
    const call = { method: 'GET', path: '/sapi/v2/historyOrders?symbol=BTC%2FUSDT&limit=5', signed: true } as const;
    expect(await exchange.raw(call)).toEqual({ kind: 'ok', value: { anything: ['7'] } });
    expect(at.stub.requests[0]).toMatchObject({ method: 'GET', target: call.path });
    expect(at.stub.requests[0]?.headers).toHaveProperty('x-ch-sign');
    expect(spent[0]?.cost).toEqual({ weight: 100 });
  });

  it('keeps its query as typed: names given twice, plain signs, empty values', async () => {
    const path = '/sapi/v1/x?a=1&a=2&b=x,y:z+w&c&d=%7E';
    await at.open().exchange.raw({ method: 'GET', path, signed: true });
    const [{ headers, target } = { headers: {} as SeenRequest['headers'], target: '' }] = at.stub.requests;
    expect(target).toBe(path);
    const signature = createHmac('sha256', 'the-secret')
      .update(`${String(headers['x-ch-ts'])}GET${path}`)
      .digest('hex');
    expect(headers['x-ch-sign']).toBe(signature);
  });

  it('is sent without a signature where that is wanted, also on a path that needs one', async () => {
    await at.open().exchange.raw({ method: 'GET', path: '/sapi/v1/account', signed: false });
    expect(at.stub.requests[0]?.headers).not.toHaveProperty('x-ch-sign');
    expect(at.stub.requests[0]?.headers).not.toHaveProperty('x-ch-apikey');
  });

  it('of a path in the table costs what the table says', async () => {
    const { exchange, spent } = at.open();
    await exchange.raw({ method: 'POST', path: '/sapi/v1/order/test', body: '{"a": 1}', signed: true });
    expect(spent[0]?.cost).toEqual({ weight: 1 });
    expect(at.stub.requests[0]?.body).toBe('{"a": 1}');
  });

  it('that is refused gives the code', async () => {
    at.stub.answer = () => ({ code: -1121, msg: 'Invalid symbol.' });
    const answer = await at.open().exchange.raw({ method: 'GET', path: '/sapi/v1/depth?symbol=X', signed: false });
    expect(answer).toEqual({ kind: 'failed', cause: '-1121 Invalid symbol.', code: '-1121' });
    expect(at.stub.requests[0]?.headers).not.toHaveProperty('x-ch-sign');
  });

  it.each([
    '/sapi/v1/withdraw/apply',
    '/sapi/v1/withdraw/query',
    '/SAPI/V1/WithDraw/apply',
    '/sapi/v1/%77ithdraw/apply',
    '/sapi/v1/%2577ithdraw/apply',
    '/sapi/v1/with%64raw%2fapply?x=1',
    '/sapi/v1/order/../withdraw/apply',
    '/sapi/v1/order/..%2fwithdraw/apply',
    '/sapi/v1/ｗithdraw/apply',
    '/sapi/v1/%EF%BD%97ithdraw/apply',
    '//example.org/sapi/v1/withdraw/apply',
    '/sapi/v1/order?next=/sapi/v1/withdraw/apply',
    '/sapi\\v1\\withdraw',
    '/sapi/v1/%',
    '/sapi/v1/order/./test',
    'sapi/v1/time',
    'https://example.org/',
    '@example.org/',
    '/a b',
  ])('to %s is never sent', async (path) => {
    const { exchange } = at.open();
    expect(await exchange.raw({ method: 'POST', path, body: '{}', signed: true })).toMatchObject({ kind: 'failed' });
    expect(at.stub.requests).toHaveLength(0);
    expect(whyNot(path)).toMatch(/.{20}/);
  });
});
