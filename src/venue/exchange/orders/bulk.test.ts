import { describe, expect, it } from 'vitest';
import { btcusdt, intent, orderId, stubbed } from '../../../../test/kit/exchange-stub.ts';
import { lots, units } from '../../../domain/money.ts';
import { maxInBatch } from '../../venue.ts';

const at = stubbed();
const bulk = () => at.open().exchange.bulk;
const other = '1938321163093077687';

describe('the test of an order', () => {
  it('says what a create would say, and takes the weight of a test', async () => {
    const { exchange, spent } = at.open();
    expect(await exchange.bulk.test(intent(), btcusdt)).toEqual({ kind: 'ok', value: undefined });
    expect(at.stub.requests[0]).toMatchObject({ method: 'POST', target: '/sapi/v1/order/test' });
    expect(at.stub.requests[0]?.body).toContain('"volume":0.00125,"side":"BUY","type":"LIMIT","price":86650.65,');
    expect(spent[0]?.cost).toEqual({ weight: 1 });
    at.stub.answer = () => ({ code: '-1136', msg: '数量太小' });
    expect(await exchange.bulk.test(intent(), btcusdt)).toMatchObject({ kind: 'failed', code: '-1136' });
  });
});

describe('a batch of creates', () => {
  it('is sent once, with exact numbers, and answers with ids beyond 2^53', async () => {
    at.stub.answer = () => `{"ids":[${orderId},${other}],"idsString":["${orderId}","${other}"]}`;
    const market = intent({ type: 'MARKET', volume: { amount: units('25.5') } });
    const { price: _, ...noPrice } = market;
    expect(await bulk().createMany([intent(), noPrice], btcusdt)).toEqual({
      kind: 'answered',
      value: { orderIds: [orderId, other], complete: true },
    });
    expect(at.stub.requests[0]?.body).toBe(
      '{"symbol":"BTCUSDT","orders":[{"volume":0.00125,"side":"BUY","batchType":"LIMIT","price":86650.65},' +
        '{"volume":25.5,"side":"BUY","batchType":"MARKET"}]}',
    );
  });

  it('with fewer ids than orders says so: nothing tells which is which', async () => {
    at.stub.answer = () => `{"ids":[${orderId}]}`;
    const two = [intent(), intent({ volume: { lots: lots('1', btcusdt) } })];
    expect(await bulk().createMany(two, btcusdt)).toMatchObject({ value: { orderIds: [orderId], complete: false } });
  });

  it.each([
    ['a broken list', { ids: [1, 'x'] }],
    ['nothing', {}],
    ['html', '<html>'],
    ['a code that comes after an order may have', { code: -2017, msg: 'Insufficient balance' }],
    ['a code of its own', { code: 31, msg: 'some' }],
  ])('is unknown after %s', async (_, body) => {
    at.stub.answer = () => body;
    expect(await bulk().createMany([intent(), intent()], btcusdt)).toMatchObject({ kind: 'unknown' });
  });

  it('is rejected as a whole at the door, and not sent when it is empty or too large', async () => {
    at.stub.answer = () => ({ code: '-1022', msg: 'sign' });
    expect(await bulk().createMany([intent()], btcusdt)).toMatchObject({ kind: 'rejected', code: '-1022' });
    at.stub.requests.length = 0;
    for (const count of [0, maxInBatch + 1])
      expect(
        await bulk().createMany(
          Array.from({ length: count }, () => intent()),
          btcusdt,
        ),
      ).toMatchObject({
        kind: 'notSent',
      });
    expect(at.stub.requests).toHaveLength(0);
  });
});

describe('a batch of cancels', () => {
  it('writes ids as the digits that they are, and reads both lists in every form', async () => {
    at.stub.answer = () => `{"success":[${orderId}],"failed":["${other}"]}`;
    expect(await bulk().cancelMany('BTCUSDT', [orderId, other])).toEqual({
      kind: 'answered',
      value: { success: [orderId], failed: [other] },
    });
    expect(at.stub.requests[0]?.body).toBe(`{"symbol":"BTCUSDT","orderIds":[${orderId},${other}]}`);
    at.stub.answer = () => `{"success":[1],"successString":["${orderId}"],"failed":[]}`;
    expect(await bulk().cancelMany('BTCUSDT', [orderId])).toMatchObject({ value: { success: [orderId], failed: [] } });
  });

  it('is unknown when the answer holds neither list, and not sent with an id that is none', async () => {
    expect(await bulk().cancelMany('BTCUSDT', [orderId])).toMatchObject({ kind: 'unknown' });
    at.stub.requests.length = 0;
    expect(await bulk().cancelMany('BTCUSDT', ['1],"x":[2'])).toMatchObject({ kind: 'notSent' });
    expect(at.stub.requests).toHaveLength(0);
  });
});
