import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  btc,
  call,
  exchange,
  limitOrder,
  listOf,
  objectOf,
  place,
  queryOrder,
  signed,
  startTime,
} from '../../test/kit/simulator.ts';
import { startSimulator } from './simulator.ts';

const limit = (side: string, price: string, volume: string, more = {}) => limitOrder({ side, price, volume, ...more });

describe('spot orders', () => {
  test('a resting order answers NEW with a 19-digit id as a number and as text', async () => {
    const { simulator } = await exchange();
    const body = { symbol: 'btcusdt', ...limit('BUY', '9000', '0.5', { newClientOrderId: 'mine' }) };
    const answer = await signed(simulator, alice, 'POST', '/sapi/v1/order', body);
    expect(answer.status).toBe(200);
    const order = objectOf(answer);
    expect(order).toMatchObject({
      clientOrderId: 'mine',
      status: 'NEW',
      origQty: '0.5',
      executedQty: '0',
      price: '9000',
    });
    expect(order.orderIdString).toMatch(/^\d{19}$/);
    expect(answer.text).toContain(`"orderId":${String(order.orderIdString)}`);
    expect(simulator.balances('10001')).toMatchObject({ USDT: { free: '95500', locked: '4500' } });
  });

  test('two users trade at the resting price; each pays its fee in what it receives', async () => {
    const { simulator } = await exchange({ fees: { maker: '0.001', taker: '0.002' } });
    const ask = await place(simulator, bob, limit('SELL', '9000', '1'));
    const bid = await place(simulator, alice, limit('BUY', '9100', '0.4'));
    expect(await queryOrder(simulator, alice, bid)).toMatchObject({
      status: 'FILLED',
      executedQty: '0.4',
      avgPrice: '9000',
    });
    expect(await queryOrder(simulator, bob, ask)).toMatchObject({ status: 'PARTIALLY_FILLED', executedQty: '0.4' });
    expect(simulator.balances('10001')).toEqual({
      USDT: { free: '96400', locked: '0' },
      BTC: { free: '10.3992', locked: '0' },
    });
    expect(simulator.balances('10002')).toEqual({
      USDT: { free: '103596.4', locked: '0' },
      BTC: { free: '9', locked: '0.6' },
    });
    simulator.checkLedger();
  });

  test('own trades show both order ids as longs, the fee and who was maker', async () => {
    const { simulator } = await exchange();
    const ask = await place(simulator, bob, limit('SELL', '9000', '1'));
    const bid = await place(simulator, alice, limit('BUY', '9000', '1'));
    const answer = await signed(simulator, alice, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT');
    expect(answer.text).toContain(`"bidId":${bid},"askId":${ask}`);
    expect(listOf(answer)).toMatchObject([
      {
        price: '9000',
        qty: 1,
        time: startTime,
        isBuyer: true,
        isMaker: false,
        feeCoin: 'BTC',
        fee: 0.002,
        isSelf: false,
      },
    ]);
  });

  test('a trade with oneself gives one row for each side, under one id', async () => {
    const { simulator } = await exchange();
    await place(simulator, alice, limit('SELL', '9000', '1'));
    await place(simulator, alice, limit('BUY', '9000', '1'));
    const rows = listOf(await signed(simulator, alice, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT'));
    expect(rows.map((row) => [row.isBuyer, row.isMaker, row.feeCoin, row.isSelf])).toEqual([
      [false, true, 'USDT', true],
      [true, false, 'BTC', true],
    ]);
    expect(new Set(rows.map((row) => row.id)).size).toBe(1);
    simulator.checkLedger();
  });

  test('a MARKET BUY spends a quote amount, in whole lots, and gives the rest back', async () => {
    const { simulator } = await exchange();
    await place(simulator, bob, limit('SELL', '9000', '0.1'));
    await place(simulator, bob, limit('SELL', '9100', '1'));
    const id = await place(simulator, alice, { side: 'BUY', type: 'MARKET', volume: '1000' });
    const order = await queryOrder(simulator, alice, id);
    expect(order).toMatchObject({ status: 'FILLED', origQty: '1000', executedQty: '0.11098' });
    expect(simulator.balances('10001')).toMatchObject({ USDT: { free: '99000.082', locked: '0' } });
  });

  test('a MARKET order that empties the book is CANCELED with what it got; one that finds nobody is REJECTED', async () => {
    const { simulator } = await exchange();
    const nobody = await place(simulator, alice, { side: 'SELL', type: 'MARKET', volume: '1' });
    expect(await queryOrder(simulator, alice, nobody)).toMatchObject({ status: 'REJECTED', executedQty: '0' });
    await place(simulator, bob, limit('BUY', '9000', '0.3'));
    const some = await place(simulator, alice, { side: 'SELL', type: 'MARKET', volume: '1' });
    expect(await queryOrder(simulator, alice, some)).toMatchObject({ status: 'CANCELED', executedQty: '0.3' });
    expect(simulator.balances('10001')).toMatchObject({ BTC: { free: '9.7', locked: '0' } });
  });

  test('equal prices fill in order of time, better prices first', async () => {
    const { simulator } = await exchange();
    const late = await place(simulator, bob, limit('SELL', '9000', '1'));
    const later = await place(simulator, bob, limit('SELL', '9000', '1'));
    const best = await place(simulator, bob, limit('SELL', '8999', '1'));
    await place(simulator, alice, limit('BUY', '9000', '1.5'));
    const executed = async (id: string) => (await queryOrder(simulator, bob, id)).executedQty;
    expect([await executed(best), await executed(late), await executed(later)]).toEqual(['1', '0.5', '0']);
  });

  test('a cancel ends the order, frees its funds and is refused the second time', async () => {
    const { simulator } = await exchange();
    const orderId = await place(simulator, alice, limit('BUY', '9000', '0.5'));
    const cancel = () => signed(simulator, alice, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId });
    expect(objectOf(await cancel())).toMatchObject({ clientOrderId: '0', status: 'CANCELED' });
    expect(simulator.balances('10001')).toMatchObject({ USDT: { free: '100000', locked: '0' } });
    expect(await cancel()).toMatchObject({ status: 400 });
    expect(simulator.openOrders('10001')).toEqual([]);
  });

  test('open orders list what can still fill, the newest first, and nothing that has filled or ended', async () => {
    const { simulator } = await exchange();
    const [filled, partly, untouched, ended] = [
      await place(simulator, bob, limit('SELL', '9000', '0.1')),
      await place(simulator, bob, limit('SELL', '9000', '0.2')),
      await place(simulator, bob, limit('SELL', '9001', '0.1')),
      await place(simulator, bob, limit('SELL', '9002', '0.1')),
    ];
    await place(simulator, alice, limit('BUY', '9000', '0.15'));
    await signed(simulator, bob, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId: ended });
    const rows = listOf(await signed(simulator, bob, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT'));
    expect(rows.map(({ orderIdString, status }) => [orderIdString, status])).toEqual([
      [untouched, 'NEW'],
      [partly, 'PARTIALLY_FILLED'],
    ]);
    expect(simulator.openOrders('10002').map(({ orderId }) => orderId)).not.toContain(filled);
  });

  test('depth adds up what is left at a price: fills and cancels come off it', async () => {
    const { simulator } = await exchange();
    const first = await place(simulator, bob, limit('SELL', '9000', '0.5'));
    await place(simulator, bob, limit('SELL', '9000', '1'));
    const asks = async () => objectOf(await call(`${simulator.restUrl}/sapi/v1/depth?symbol=BTCUSDT`, 'GET')).asks;
    expect(await asks()).toEqual([['9000', '1.5']]);
    await place(simulator, alice, limit('BUY', '9000', '0.2'));
    expect(await asks()).toEqual([['9000', '1.3']]);
    await signed(simulator, bob, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId: first });
    expect(await asks()).toEqual([['9000', '1']]);
  });

  test('an order id is taken as text or as a bare number beyond 2^53, without losing digits', async () => {
    const { simulator } = await exchange();
    const ids = [
      await place(simulator, alice, limit('BUY', '9000', '0.5')),
      await place(simulator, alice, limit('BUY', '9000', '0.5')),
    ];
    expect(Number(ids[0])).toBe(Number(ids[1]));
    const answer = await signed(
      simulator,
      alice,
      'POST',
      '/sapi/v1/cancel',
      `{"orderId":${ids[0]},"symbol":"BTCUSDT"}`,
    );
    expect(answer.text).toContain(`"orderId":${ids[0]}`);
    expect(simulator.openOrders('10001').map(({ orderId }) => orderId)).toEqual([ids[1]]);
  });

  test('nobody sees or cancels the order of another user', async () => {
    const { simulator } = await exchange();
    const orderId = await place(simulator, alice, limit('BUY', '9000', '0.5'));
    expect(await queryOrder(simulator, bob, orderId)).toMatchObject({ code: -2013 });
    const cancel = await signed(simulator, bob, 'POST', '/sapi/v1/cancel', { symbol: 'BTCUSDT', orderId });
    expect(objectOf(cancel)).toMatchObject({ code: -2013 });
  });

  test('repeated client ids are accepted: two orders', async () => {
    const { simulator } = await exchange();
    const twin = limit('BUY', '9000', '0.5', { newClientOrderId: 'twin' });
    const ids = [await place(simulator, alice, twin), await place(simulator, alice, twin)];
    expect(simulator.ordersByClientId('10001', 'twin').map(({ orderId }) => orderId)).toEqual(ids);
  });

  test('an order query needs orderId, unless the exchange is told to find the newest order of a client id', async () => {
    const twin = limit('BUY', '9000', '0.5', { newClientOrderId: 'twin' });
    const target = '/sapi/v1/order?symbol=BTCUSDT&newClientorderId=twin';
    const strict = await exchange();
    await place(strict.simulator, alice, twin);
    expect(objectOf(await signed(strict.simulator, alice, 'GET', target))).toMatchObject({ code: -1102 });
    const lax = await exchange({ quirks: { queryNeedsOrderId: false } });
    await place(lax.simulator, alice, twin);
    const newest = await place(lax.simulator, alice, twin);
    expect(objectOf(await signed(lax.simulator, alice, 'GET', target))).toMatchObject({ orderId: newest });
  });

  test.each([
    ['an unknown symbol', { symbol: 'NOPE' }, -1121],
    ['a wrong side', { side: 'HOLD' }, -1117],
    ['a wrong type', { type: 'STOP' }, -1116],
    ['no volume', { volume: undefined }, -1102],
    ['an empty volume', { volume: '' }, -1105],
    ['a volume that is no number', { volume: 'lots' }, -1100],
    ['a price with too many decimals', { price: '9000.001' }, -1111],
    ['a volume with too many decimals', { volume: '0.000001' }, -1111],
    ['too little volume', { volume: '0.00009' }, -1136],
    ['too little value', { price: '10', volume: '0.1' }, -1136],
    ['no price on a LIMIT order', { price: undefined }, -1102],
    ['a price of zero', { price: '0' }, -1138],
    ['a price beyond all reason', { side: 'SELL', price: '1e14' }, -1138],
    ['more than the balance', { volume: '12' }, -2017],
    ['an exponent that would fill the memory', { volume: '1e999999999' }, -1100],
  ])('%s is refused with its code', async (_, change, code) => {
    const { simulator } = await exchange();
    const order = { symbol: 'BTCUSDT', ...limit('BUY', '9000', '0.5'), ...change };
    const answer = await signed(simulator, alice, 'POST', '/sapi/v1/order', order);
    expect(objectOf(answer)).toMatchObject({ code });
    expect(simulator.allOrders('10001')).toEqual([]);
  });

  test('order/test checks the order and places nothing', async () => {
    const { simulator } = await exchange();
    const good = { symbol: 'BTCUSDT', ...limit('BUY', '9000', '0.5') };
    expect((await signed(simulator, alice, 'POST', '/sapi/v1/order/test', good)).text).toBe('{}');
    const bad = await signed(simulator, alice, 'POST', '/sapi/v1/order/test', { ...good, price: '1.234' });
    expect(objectOf(bad)).toMatchObject({ code: -1111 });
    expect(simulator.allOrders('10001')).toEqual([]);
  });

  test('fromId names the first trade of the page; the other quirk starts after it', async () => {
    for (const [fromIdInclusive, expected] of [
      [true, [1, 2]],
      [false, [2, 3]],
    ] as const) {
      const { simulator } = await exchange({ quirks: { fromIdInclusive } });
      for (let index = 0; index < 4; index++) {
        await place(simulator, bob, limit('SELL', '9000', '0.1'));
        await place(simulator, alice, limit('BUY', '9000', '0.1'));
      }
      const ids = simulator.allTrades('10001').map(({ tradeId }) => tradeId);
      const target = `/sapi/v1/myTrades?symbol=BTCUSDT&limit=2&fromId=${ids[1]}`;
      const rows = listOf(await signed(simulator, alice, 'GET', target));
      expect(rows.map(({ id }) => String(id)).reverse()).toEqual(expected.map((index) => ids[index]));
    }
  });
});

describe('the server', () => {
  test('a taken port gives one clear error and leaves nothing open', async () => {
    const { simulator } = await exchange();
    const second = startSimulator({ users: [], instruments: [btc], port: simulator.port });
    await expect(second).rejects.toThrow(/127\.0\.0\.1:\d+: the port is taken/);
  });

  test('a profile that there is not is refused with the names of those there are', async () => {
    const wrong = startSimulator({ users: [], instruments: [btc], profile: 'relaxed' as 'observed' });
    await expect(wrong).rejects.toThrow('there is no profile relaxed; there are documented, observed');
  });

  test('once closed it leaves nothing that keeps a process alive', () => {
    const program = `
      import { alice, openSocket, signed } from '${new URL('../../test/kit/simulator.ts', import.meta.url).href}';
      import { startSimulator } from '${new URL('simulator.ts', import.meta.url).href}';
      import { instrument } from '${new URL('../domain/instrument.ts', import.meta.url).href}';
      const btc = instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
      const simulator = await startSimulator({ users: [alice], instruments: [btc] });
      const socket = await openSocket(simulator);
      socket.send({ event: 'sub', params: { channel: 'market_btcusdt_depth_step0' } });
      await socket.frame(({ tick }) => tick !== undefined);
      await signed(simulator, alice, 'GET', '/sapi/v1/account');
      await simulator.close();
      console.log('closed');
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 120_000 });
    expect([child.stdout.toString(), child.status, child.signal]).toEqual(['closed\n', 0, null]);
  });

  test('two exchanges in one process know nothing of each other', async () => {
    const [a, b] = [await exchange(), await exchange()];
    await place(a.simulator, alice, limit('BUY', '9000', '0.5'));
    expect(a.simulator.openOrders('10001')).toHaveLength(1);
    expect(b.simulator.openOrders('10001')).toHaveLength(0);
  });

  test('garbage is refused, not crashed on', async () => {
    const { simulator } = await exchange();
    const url = simulator.restUrl;
    expect((await call(`${url}/nope`, 'GET')).status).toBe(404);
    expect((await call(`${url}/sapi/v1/depth?symbol=%ff%00&limit=abc`, 'GET')).status).toBe(400);
    expect((await call(`${url}/sapi/v1/depth?symbol=BTCUSDT&limit=abc`, 'GET')).text).toContain('-1000');
    for (const body of [{ __proto__: null, constructor: {} }, { symbol: ['BTCUSDT'] }, { symbol: { a: 1 } }]) {
      expect((await signed(simulator, alice, 'POST', '/sapi/v1/order', body)).status).toBe(400);
    }
    expect(
      (await call(`${url}/sapi/v1/order`, 'POST', 'x'.repeat(2_000_000)).catch(() => ({ status: 413 }))).status,
    ).toBe(413);
    expect((await call(`${url}/sapi/v1/ping`, 'GET')).text).toBe('{}');
  });
});
