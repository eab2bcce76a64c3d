import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  objectOf,
  place,
  type Row,
  startTime,
} from '../../../test/kit/simulator.ts';

/** A little trading: 0.5 at 9000, and levels on both sides. */
async function traded() {
  const one = await exchange({ assets: { USDT: { name: 'Tether', unifiedId: '825', maxWithdraw: '1000' } } });
  const sell = (price: string, volume: string) =>
    place(one.simulator, bob, limitOrder({ side: 'SELL', price, volume }));
  await sell('9000', '0.5');
  await place(one.simulator, alice, limitOrder({ volume: '0.5' }));
  await sell('9000.13', '1');
  await sell('9000.18', '1');
  await place(one.simulator, alice, limitOrder({ price: '8999.99', volume: '1' }));
  await place(one.simulator, alice, limitOrder({ price: '8999.91', volume: '2' }));
  const get = (path: string) => call(`${one.simulator.restUrl}/open/${path}`, 'GET');
  const data = async (path: string) => objectOf(await get(path)).data as Row;
  return { ...one, get, data };
}

describe('aggregated data', () => {
  test('comes in its envelope', async () => {
    const { data, get } = await traded();
    for (const path of ['pub/ticker', 'pub/asset', 'api/get_allticker', 'pub/trades?base=btc&quote=USDT'])
      expect(objectOf(await get(path))).toMatchObject({ code: '0', message: null, data: { date: startTime } });
    expect(await data('pub/ticker')).toEqual({
      date: startTime,
      ticker: {
        BTC_USDT: {
          base_id: '0',
          quote_id: '825',
          last_price: '9000',
          base_volume: '0.50000',
          quote_volume: '4500.00000000',
        },
      },
    });
  });

  test('trades, the newest first, with growing ids', async () => {
    const { data, simulator } = await traded();
    await place(simulator, bob, limitOrder({ side: 'SELL', price: '8999.99', volume: '0.1' }));
    expect((await data('pub/trades?base=BTC&quote=USDT'))['trades']).toEqual([
      {
        tradeID: 2,
        price: '8999.99',
        base_volume: '0.1',
        quote_volume: '899.999',
        trade_timestamp: String(startTime),
        type: 'sell',
      },
      {
        tradeID: 1,
        price: '9000',
        base_volume: '0.5',
        quote_volume: '4500',
        trade_timestamp: String(startTime),
        type: 'buy',
      },
    ]);
    expect((await data('pub/trades?base=BTC&quote=USDT&trades=1'))['trades']).toHaveLength(1);
  });

  test('assets say whether and how much can be withdrawn', async () => {
    const { data } = await traded();
    expect((await data('pub/asset'))['asset']).toMatchObject({
      USDT: {
        name: 'Tether',
        unified_cryptoasset_id: '825',
        can_withdraw: 'true',
        can_deposit: 'true',
        min_withdraw: '0',
        max_withdraw: '1000',
      },
      BTC: { name: 'BTC' },
    });
  });

  test('depth, exact and in coarser steps', async () => {
    const { data } = await traded();
    const book = async (query: string) => Object.values(await data(`pub/orderbook?base=BTC&quote=USDT${query}`))[1];
    expect(await book('')).toEqual({
      bids: [
        ['8999.99', '1'],
        ['8999.91', '2'],
      ],
      asks: [
        ['9000.13', '1'],
        ['9000.18', '1'],
      ],
    });
    expect(await book('&bids=1&asks=1')).toEqual({ bids: [['8999.99', '1']], asks: [['9000.13', '1']] });
    expect(await book('&depth=1')).toEqual({ bids: [['8999.9', '3']], asks: [['9000.2', '2']] });
    expect(await book('&depth=2')).toEqual({ bids: [['8999', '3']], asks: [['9001', '2']] });
  });

  test('all tickers with the best prices', async () => {
    const { data } = await traded();
    expect((await data('api/get_allticker'))['ticker']).toEqual([
      {
        symbol: 'btcusdt',
        high: '9000',
        low: '9000',
        buy: 8999.99,
        sell: 9000.13,
        vol: '0.50000',
        last: 9000,
        rose: '0.00000000',
      },
    ]);
  });

  test.each([
    ['pub/trades?base=BTC', '-1102'],
    ['pub/trades?base=NO&quote=USDT', '-1121'],
    ['pub/orderbook?base=BTC&quote=USDT&depth=3', '-1100'],
    ['pub/orderbook?base=BTC&quote=USDT&bids=x', '-1000'],
  ])('%s is refused in the envelope', async (path, code) => {
    const { get } = await traded();
    const answer = await get(path);
    expect(answer.status).toBe(400);
    expect(objectOf(answer)).toMatchObject({ code, message: null, data: null });
  });
});
