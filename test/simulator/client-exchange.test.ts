/** The operations that the daemon does not use, carried out by the client on the built-in exchange; both profiles. */
import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScaledClock } from '../../src/clock/clock.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { lots, noLots, ticks, units } from '../../src/domain/money.ts';
import type { Account, Intent } from '../../src/domain/order.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import type { Exchange } from '../../src/venue/exchange/exchange.ts';
import { client, intent, letGo } from '../kit/exchange-stub.ts';

const at = instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
const value = <T>(answer: { kind: 'ok'; value: T } | { kind: 'failed'; cause: string }): T => {
  if (answer.kind === 'failed') throw new Error(answer.cause);
  return answer.value;
};
/** Those that are not being cancelled: on the observed profile that takes a while. */
const working = async (orders: Exchange['orders']): Promise<unknown> =>
  value(await orders.openOrders('BTCUSDT')).rows.filter(({ status }) => status !== 'CANCELING');
let number = 0;
const wanted = (side: 'BUY' | 'SELL', volume: string, price: string, account: Account = 'spot'): Intent =>
  intent({
    account,
    side,
    volume: { lots: lots(volume, at) },
    price: ticks(price, at),
    clientOrderId: `mtest${++number}`,
  });

describe.each(['documented', 'observed'] as const)('on the %s profile', (profile) => {
  let simulator: Simulator;
  const opened: Exchange[] = [];
  const open = async (account: Account = 'spot'): Promise<Exchange> => {
    const { exchange } = client(simulator.restUrl, {
      wsUrl: simulator.wsUrl,
      apiKey: 'the-first-key',
      apiSecret: 'the-first-secret',
      clock: new ScaledClock(),
      account,
    });
    opened.push(exchange);
    value(await exchange.syncTime());
    return exchange;
  };

  beforeAll(async () => {
    const balances = { USDT: '100000', BTC: '10' };
    simulator = await startSimulator({
      profile,
      users: [{ uid: '1', key: 'the-first-key', secret: 'the-first-secret', balances, margin: balances }],
      instruments: [at],
      markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '50000' }],
    });
  });
  afterAll(async () => {
    for (const one of opened) one.close();
    await simulator.close();
  });

  test('batches are created and cancelled', async () => {
    const { bulk, orders } = await open();
    const created = await bulk.createMany([wanted('BUY', '0.01', '20000'), wanted('BUY', '0.02', '20001')], at);
    expect(created).toMatchObject({ kind: 'answered', value: { complete: true } });
    if (created.kind !== 'answered') return;
    const { orderIds } = created.value;
    const canceled = await bulk.cancelMany('BTCUSDT', orderIds);
    expect(canceled).toMatchObject({ kind: 'answered', value: { failed: [] } });
    for (const orderId of orderIds)
      expect(value(await orders.query({ symbol: 'BTCUSDT', orderId })).status).toMatch(/^CANCEL/);
  });

  test('an order is tested without an effect, and refused with its code', async () => {
    const { bulk, orders } = await open();
    value(await bulk.test(wanted('BUY', '0.01', '20000'), at));
    const rich = { ...wanted('BUY', '0.01', '20000'), volume: { amount: units('1') }, symbol: 'NOPEUSDT' };
    expect(await bulk.test(rich, at)).toMatchObject({ kind: 'failed', code: '-1121' });
    expect(await working(orders)).toEqual([]);
  });

  test('margin has its own orders, all five operations', async () => {
    const margin = await open('margin');
    const outcome = await margin.orders.prepare(wanted('BUY', '0.01', '20000', 'margin'), at).send(letGo);
    expect(outcome).toMatchObject({ kind: 'accepted', report: { executed: noLots } });
    if (outcome.kind !== 'accepted') return;
    const { orderId } = outcome.report;
    expect(value(await margin.orders.query({ symbol: 'BTCUSDT', orderId }))).toMatchObject({ orderId });
    expect(value(await margin.orders.openOrders('BTCUSDT')).rows).toMatchObject([{ orderId }]);
    const spot = await open();
    expect(await working(spot.orders)).toEqual([]);
    expect(await margin.orders.cancel({ symbol: 'BTCUSDT', orderId })).toEqual({ kind: 'requested' });
    expect(value(await margin.orders.tradesSince('BTCUSDT', undefined)).rows).toEqual([]);
  });

  test('the aggregated data is read', async () => {
    const { openData } = await open();
    const [ticker] = value(await openData.ticker());
    expect(ticker?.symbol).toBe('BTC_USDT');
    expect(value(await openData.allTickers())[0]).toMatchObject({ last: expect.any(Number) });
    expect(value(await openData.asset()).map(({ asset }) => asset)).toEqual(expect.arrayContaining(['BTC', 'USDT']));
    const { bids, asks } = value(await openData.depth('BTC', 'USDT'));
    expect(bids[0]?.[0]).toBeLessThan(asks[0]?.[0] ?? 0);
    expect(Array.isArray(value(await openData.trades('BTC', 'USDT', 5)))).toBe(true);
  });

  test('the past is asked for over the socket, beside what is listened to', async () => {
    const { past, feed, market } = await open();
    const book = await firstValueFrom(feed.depth('BTCUSDT'));
    expect(book.bids.length).toBeGreaterThan(0);
    const rows = value(await past.klines('BTCUSDT', '1min', { count: 5 }));
    expect(rows).toHaveLength(5);
    const before = rows[0]?.openTime ?? 0;
    const older = value(await past.klines('BTCUSDT', '1min', { count: 3, before }));
    expect(older.every(({ openTime }) => openTime < before)).toBe(true);
    const listed = value(await market.klines('BTCUSDT', '1min', 5));
    expect(listed.some(({ openTime }) => openTime === rows[1]?.openTime)).toBe(true);
    value(await past.trades('BTCUSDT'));
  });
});
