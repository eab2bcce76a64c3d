import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  exchange,
  limitOrder,
  listOf,
  objectOf,
  place,
  type Row,
  signed,
  startTime,
} from '../../../test/kit/simulator.ts';
import type { SimulatorOptions } from '../simulator.ts';

const dora = { ...alice, balances: { USDT: '100' }, margin: { USDT: '50000', BTC: '2' } };
const open = (options: Partial<SimulatorOptions> = {}) => exchange({ users: [dora, bob], ...options });
type Started = Awaited<ReturnType<typeof open>>;

const post = ({ simulator }: Started, what: string, body: Row) =>
  signed(simulator, dora, 'POST', `/sapi/v1/margin/${what}`, body);
const get = ({ simulator }: Started, what: string) => signed(simulator, dora, 'GET', `/sapi/v1/margin/${what}`);
const order = (more: Row = {}) => ({ symbol: 'BTCUSDT', ...limitOrder({ volume: '0.5' }), ...more });
const placed = async (one: Started, more: Row = {}) => objectOf(await post(one, 'order', order(more)));

describe('margin', () => {
  test('has balances of its own: spot neither pays for its orders nor sees them', async () => {
    const one = await open();
    const reply = await placed(one, { newClientOrderId: 'm1' });
    expect(reply).toEqual({
      symbol: 'btcusdt',
      orderId: expect.stringMatching(/^\d{19}$/) as string,
      clientOrderId: 'm1',
      transactTime: startTime,
      price: '9000',
      origQty: '0.5',
      executedQty: '0',
      status: 'NEW',
      type: 'LIMIT',
      side: 'BUY',
    });
    expect(one.simulator.balances(dora.uid)).toEqual({ USDT: { free: '100', locked: '0' } });
    expect(one.simulator.balances(dora.uid, 'margin')).toMatchObject({ USDT: { free: '45500', locked: '4500' } });
    const spot = `/sapi/v1/order?symbol=BTCUSDT&orderId=${String(reply['orderId'])}`;
    expect(objectOf(await signed(one.simulator, dora, 'GET', spot))['code']).toBe(-2013);
    expect(listOf(await signed(one.simulator, dora, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT'))).toEqual([]);
    expect(objectOf(await signed(one.simulator, dora, 'POST', '/sapi/v1/order', order()))['code']).toBe(-2017);
    one.simulator.checkLedger();
  });

  test('trades in the same books as spot; its own trades show no users', async () => {
    const one = await open();
    const { orderId } = await placed(one);
    await place(one.simulator, bob, limitOrder({ side: 'SELL', volume: '0.2' }));
    expect(objectOf(await get(one, `order?orderId=${String(orderId)}&symbol=BTCUSDT`))).toMatchObject({
      status: 'PARTIALLY_FILLED',
      executedQty: '0.2',
      avgPrice: '9000',
    });
    const [trade] = listOf(await get(one, 'myTrades'));
    expect(Object.keys(trade ?? {})).not.toEqual(expect.arrayContaining(['bidUserId']));
    expect(trade).toMatchObject({ isBuyer: true, isMaker: true, feeCoin: 'BTC', price: '9000' });
    expect(one.simulator.balances(dora.uid, 'margin')).toMatchObject({ BTC: { free: '2.1996' } });
    // Whoever inspects the exchange sees both accounts.
    expect(one.simulator.openOrders(dora.uid)).toMatchObject([{ orderId, account: 'margin', executed: '0.2' }]);
    expect(one.simulator.allTrades(dora.uid)).toMatchObject([{ qty: '0.2' }]);
    one.simulator.checkLedger();
  });

  test('a trade between a user’s two accounts is one between two holders', async () => {
    const one = await open({ users: [{ ...dora, balances: { BTC: '1' } }, bob] });
    await placed(one);
    await place(one.simulator, dora, limitOrder({ side: 'SELL', volume: '0.5' }));
    expect(listOf(await get(one, 'myTrades'))).toHaveLength(1);
    expect(
      one.simulator
        .allTrades(dora.uid)
        .map(({ side }) => side)
        .toSorted(),
    ).toEqual(['BUY', 'SELL']);
    const spot = listOf(await signed(one.simulator, dora, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT'));
    expect(spot).toMatchObject([{ isBuyer: false, isSelf: true }]);
    one.simulator.checkLedger();
  });

  test('an order is found and ended by its client id too', async () => {
    const one = await open();
    const { orderId } = await placed(one, { newClientOrderId: 'm1' });
    expect(objectOf(await get(one, 'order?newClientOrderId=m1'))).toMatchObject({ orderId, status: 'NEW' });
    expect(objectOf(await post(one, 'cancel', { newClientOrderId: 'm1', symbol: 'BTCUSDT' }))).toEqual({
      symbol: 'BTCUSDT',
      clientOrderId: 'm1',
      orderId,
      status: 'CANCELED',
    });
    expect(objectOf(await get(one, 'order'))['code']).toBe(-1102);
  });

  test('open orders list those of all symbols; ids are text', async () => {
    const one = await open();
    const { orderId } = await placed(one);
    expect(listOf(await get(one, 'openOrders'))).toMatchObject([{ orderId, status: 'NEW' }]);
    expect(listOf(await get(one, 'openOrders?symbol=BTCUSDT'))[0]).not.toHaveProperty('orderIdString');
  });

  test('a cancel may answer with the whole order', async () => {
    const one = await open({ quirks: { marginCancel: 'order' } });
    const { orderId } = await placed(one);
    expect(objectOf(await post(one, 'cancel', { orderId: String(orderId) }))).toMatchObject({
      orderId,
      status: 'CANCELED',
      origQty: '0.5',
      avgPrice: '0',
    });
  });

  test('a client id has at most 32 characters', async () => {
    const one = await open();
    const long = 'm'.repeat(33);
    expect(objectOf(await post(one, 'order', order({ newClientOrderId: long })))['code']).toBe(-1100);
    expect(await placed(one, { newClientOrderId: long.slice(1) })).toMatchObject({ status: 'NEW' });
  });

  test('weights are 5, 5, 5, 1 and 1; open orders count 5 by the other statement', async () => {
    const spent = async (one: Started) => {
      const { orderId } = await placed(one);
      await get(one, `order?orderId=${String(orderId)}`);
      await get(one, 'openOrders');
      await get(one, 'myTrades');
      await post(one, 'cancel', { orderId: String(orderId) });
      return one.simulator.weightUsed(dora.uid);
    };
    expect(await spent(await open())).toEqual({ ip: 17, uid: 17 });
    expect(await spent(await open({ quirks: { marginOpenOrdersWeight: 5 } }))).toEqual({ ip: 21, uid: 21 });
  });

  test('twenty queries in 2 s are allowed beside a hundred creates on the same path', async () => {
    const one = await open();
    const { orderId } = await placed(one);
    const query = async () => (await get(one, `order?orderId=${String(orderId)}`)).status;
    for (let index = 0; index < 20; index++) expect(await query()).toBe(200);
    expect(await query()).toBe(429);
    expect((await post(one, 'order', order({ volume: '0.01' }))).status).toBe(200);
    await one.clock.advanceTo(startTime + 2_000);
    expect(await query()).toBe(200);
  });
});
