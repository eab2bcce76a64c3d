import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  exchange,
  limitOrder,
  objectOf,
  place,
  signed,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import type { Quirks } from '../simulator.ts';

const record = (more = {}) => ({ price: '9000', volume: '0.1', side: 'BUY', batchType: 'LIMIT', ...more });
const wrong = record({ price: '9000.001' });
const batch = ({ simulator }: TestExchange, orders: unknown) =>
  signed(simulator, alice, 'POST', '/sapi/v1/batchOrders', { symbol: 'BTCUSDT', orders });
const cancelAll = ({ simulator }: TestExchange, orderIds: unknown) =>
  signed(simulator, alice, 'POST', '/sapi/v1/batchCancel', { symbol: 'BTCUSDT', orderIds });
const under = (quirks: Partial<Quirks>) => exchange({ quirks });

describe('a batch of orders', () => {
  test('places each and gives their ids as longs and as text; it costs 10', async () => {
    const one = await exchange();
    const answer = await batch(one, [record(), record({ price: 8999.5, volume: 0.2 })]);
    const ids = objectOf(answer)['idsString'] as string[];
    expect(one.simulator.openOrders(alice.uid).map(({ orderId }) => orderId)).toEqual(ids);
    expect(answer.text).toBe(`{"ids":[${ids.join(',')}],"idsString":[${ids.map((id) => `"${id}"`).join(',')}]}`);
    expect(one.simulator.weightUsed(alice.uid)).toEqual({ ip: 10, uid: 10 });
  });

  test('takes MARKET orders too, which match in order', async () => {
    const one = await exchange();
    await place(one.simulator, bob, limitOrder({ side: 'SELL' }));
    await batch(one, [{ volume: '900', side: 'BUY', batchType: 'MARKET' }, record()]);
    expect(one.simulator.allOrders(alice.uid).map(({ status }) => status)).toEqual(['FILLED', 'FILLED']);
    one.simulator.checkLedger();
  });

  test.each([
    ['eleven', Array.from({ length: 11 }, () => record()), -1015],
    ['none', [], -1015],
    ['no list', 'BTC', -1100],
    ['nothing', undefined, -1102],
  ])('of %s is refused', async (_, orders, code) => {
    const one = await exchange();
    expect(objectOf(await batch(one, orders))['code']).toBe(code);
    expect(one.simulator.allOrders(alice.uid)).toEqual([]);
  });

  test('leaves out the id of an order that cannot be placed (quirk skip)', async () => {
    const one = await under({ batchFailure: 'skip' });
    const reply = objectOf(await batch(one, [record(), wrong, 7, record({ price: '8000' })]));
    expect(reply['idsString']).toHaveLength(2);
    expect(one.simulator.openOrders(alice.uid).map(({ price }) => price)).toEqual(['9000', '8000']);
  });

  test('is refused as a whole, funds counted together (quirk refuse)', async () => {
    const one = await under({ batchFailure: 'refuse' });
    expect(objectOf(await batch(one, [record(), wrong]))['code']).toBe(-1111);
    const large = record({ volume: '6' });
    expect(objectOf(await batch(one, [large, large]))['code']).toBe(-2017);
    expect(one.simulator.allOrders(alice.uid)).toEqual([]);
    expect(objectOf(await batch(one, [large, record()]))['idsString']).toHaveLength(2);
  });

  test('is refused although the first orders are placed (quirk stop)', async () => {
    const one = await under({ batchFailure: 'stop' });
    expect(objectOf(await batch(one, [record(), wrong, record()]))['code']).toBe(-1111);
    expect(one.simulator.openOrders(alice.uid)).toHaveLength(1);
  });
});

describe('a batch of cancels', () => {
  test('tells what it ended from what it could not: unknown, ended, of somebody else, of no form, named twice', async () => {
    const one = await exchange();
    const open = await place(one.simulator, alice, limitOrder({ volume: '0.1' }));
    const ended = await place(one.simulator, alice, limitOrder({ volume: '0.1' }));
    const theirs = await place(one.simulator, bob, limitOrder({ volume: '0.1' }));
    await cancelAll(one, [ended]);
    const answer = await cancelAll(one, [open, ended, theirs, '17', 'x', open]);
    expect(answer.text).toBe(`{"success":[${open}],"failed":[${ended},${theirs},17,"x",${open}]}`);
    expect(one.simulator.openOrders(bob.uid)).toHaveLength(1);
    one.simulator.checkLedger();
  });

  test('takes ids as bare numbers beyond 2^53', async () => {
    const one = await exchange();
    const id = await place(one.simulator, alice, limitOrder({ volume: '0.1' }));
    const answer = await signed(
      one.simulator,
      alice,
      'POST',
      '/sapi/v1/batchCancel',
      `{"symbol":"BTCUSDT","orderIds":[${id}]}`,
    );
    expect(answer.text).toBe(`{"success":[${id}],"failed":[]}`);
  });

  test('shows ids as text where that is the quirk', async () => {
    const one = await under({ batchCancelIds: 'text' });
    const id = await place(one.simulator, alice, limitOrder({ volume: '0.1' }));
    expect(objectOf(await cancelAll(one, [id]))).toEqual({ success: [id], failed: [] });
  });

  test('of eleven is refused', async () => {
    const one = await exchange();
    expect(objectOf(await cancelAll(one, Array(11).fill('1')))['code']).toBe(-1015);
  });
});
