import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  objectOf,
  openSocket,
  place,
  queryOrder,
  type Row,
  signed,
  startTime,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import { planNames, plans, rulesOf } from './plans.ts';

const order = { symbol: 'BTCUSDT', ...limitOrder({ newClientOrderId: 'x' }) };
const ping = ({ simulator }: TestExchange) => call(`${simulator.restUrl}/sapi/v1/ping`, 'GET');
const channel = 'market_btcusdt_depth_step0';

test('a person of a rule who types a price that is too fine does nothing, and the log says why', async () => {
  const faults = [{ at: { afterMs: 1_000 }, do: { place: { side: 'BUY', price: '1.123456' } } }];
  const one = await exchange({ faults });
  await one.clock.advanceTo(startTime + 2_000);
  expect(one.simulator.allOrders(alice.uid)).toEqual([]);
  expect(one.log).toContainEqual(expect.objectContaining({ kind: 'event', failed: expect.stringMatching(/decimals/) }));
});

describe('an outage', () => {
  test('of everything resets connections and cuts sockets until it ends', async () => {
    const one = await exchange({ faults: [{ at: { afterMs: 1_000 }, do: { outage: 'all', forMs: 5_000 } }] });
    const socket = await openSocket(one.simulator);
    await ping(one);
    await one.clock.advanceTo(startTime + 1_000);
    await socket.closed;
    await expect(ping(one)).rejects.toThrow();
    await one.clock.advanceTo(startTime + 6_000);
    expect((await ping(one)).status).toBe(200);
  });

  test('of REST answers 503 while the socket goes on', async () => {
    const one = await exchange();
    const socket = await openSocket(one.simulator);
    one.simulator.beginOutage('rest', { how: 'status' });
    expect((await ping(one)).status).toBe(503);
    socket.send({ event: 'sub', params: { channel } });
    await socket.frame((frame) => frame.channel === channel);
    one.simulator.endOutage();
    expect((await ping(one)).status).toBe(200);
  });

  test('of the socket cuts it and refuses others while REST goes on', async () => {
    const one = await exchange();
    const socket = await openSocket(one.simulator);
    one.simulator.beginOutage('socket', { forMs: 1_000 });
    await socket.closed;
    expect((await ping(one)).status).toBe(200);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const url = one.simulator.wsUrl.replace('ws:', 'http:');
    expect((await call(url, 'GET', '', { ...upgrade, ...key })).status).toBe(503);
    await one.clock.advanceTo(startTime + 1_000);
    (await openSocket(one.simulator)).close();
  });

  test('that hangs takes requests and never answers', async () => {
    const one = await exchange();
    one.simulator.beginOutage('rest', { how: 'hang' });
    let answered = false;
    const answer = ping(one).then(
      () => (answered = true),
      () => undefined,
    );
    while (!one.log.some(({ kind }) => kind === 'away')) await one.clock.turn();
    one.simulator.endOutage();
    await ping(one);
    expect(answered).toBe(false);
    await one.simulator.close();
    await answer;
  });
});

describe('people on the account', () => {
  test('place and cancel by hand, at a distance from the last price and with a copied client id', async () => {
    const one = await exchange();
    await place(one.simulator, bob, { ...order, side: 'SELL', price: '10000' });
    await place(one.simulator, alice, { ...order, price: '10000', volume: '0.5' });
    await place(one.simulator, alice, order);
    const { people } = one.simulator;
    const human = people.place({ side: 'BUY', type: 'LIMIT', offsetBps: -100, copy: true });
    expect(human).toMatchObject({ uid: '10001', clientOrderId: 'x', price: '9900', status: 'NEW' });
    expect(people.cancel({ which: 'oldest' })).toMatchObject([
      { clientOrderId: 'x', price: '9000', status: 'CANCELED' },
    ]);
    expect(one.simulator.openOrders('10001')).toHaveLength(1);
    one.simulator.checkLedger();
  });

  test('what cannot be done is said', async () => {
    const { people } = (await exchange()).simulator;
    expect(() => people.place({ type: 'LIMIT', offsetBps: 0 })).toThrow('BTCUSDT has no price yet');
    expect(() => people.cancel({ user: '7', which: 'all' })).toThrow('there is no user 7; there are 10001, 10002');
    expect(() => people.adjust({ asset: 'BTC', amount: '-11' })).toThrow('has less than that free');
  });

  test('money comes and goes, and the ledger holds', async () => {
    const { simulator, log } = await exchange();
    simulator.people.adjust({ asset: 'BTC', amount: '-1.5' });
    expect(simulator.balances('10001')['BTC']).toEqual({ free: '8.5', locked: '0' });
    expect(log.at(-1)).toMatchObject({ kind: 'balance', uid: '10001', asset: 'BTC', free: '8.5' });
    simulator.checkLedger();
  });
});

describe('a trade that is undone', () => {
  const traded = async () => {
    const one = await exchange();
    await place(one.simulator, bob, limitOrder({ side: 'SELL' }));
    const before = [alice, bob].map(({ uid }) => one.simulator.balances(uid));
    const orderId = await place(one.simulator, alice, limitOrder({ volume: '0.4' }));
    return { ...one, before, orderId };
  };
  const trades = async ({ simulator }: TestExchange) =>
    JSON.parse((await signed(simulator, alice, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT')).text) as unknown[];

  test('is in no list, its money and fees are back, and its orders stay as they are', async () => {
    const one = await traded();
    expect(await trades(one)).toHaveLength(1);
    one.simulator.happen({ bust: { user: alice.uid } });
    expect(await trades(one)).toEqual([]);
    expect(one.simulator.allTrades(bob.uid)).toEqual([]);
    expect(one.simulator.balances(alice.uid)).toEqual(one.before[0]);
    // What the rest of the order has locked is still locked; the part that traded is free again.
    expect(one.simulator.balances(bob.uid)['BTC']).toEqual({ free: '9.4', locked: '0.6' });
    expect(await queryOrder(one.simulator, alice, one.orderId)).toMatchObject({ status: 'FILLED', executedQty: '0.4' });
    one.simulator.checkLedger();
  });

  test('stays when what it brought has been spent, and when there is none', async () => {
    const one = await traded();
    one.simulator.people.adjust({ user: alice.uid, asset: 'BTC', amount: '-10.3' });
    expect(() => one.simulator.happen({ bust: { user: alice.uid } })).toThrow('what it brought is not free any more');
    expect(await trades(one)).toHaveLength(1);
    one.simulator.checkLedger();
    expect(() => one.simulator.happen({ bust: { user: alice.uid, symbol: 'NONE' } })).toThrow(
      'there is no symbol NONE',
    );
    const quiet = await exchange();
    expect(() => quiet.simulator.happen({ bust: {} })).toThrow('has no trade that could be undone');
  });

  test('goes from a replica that is behind once its lag has passed', async () => {
    const one = await exchange({ faults: [{ match: { method: 'GET' }, do: { lagMs: 2_000 } }] });
    await place(one.simulator, bob, limitOrder({ side: 'SELL' }));
    await place(one.simulator, alice, limitOrder());
    await one.clock.advanceTo(startTime + 3_000);
    one.simulator.happen({ bust: { user: alice.uid } });
    expect(await trades(one)).toHaveLength(1);
    await one.clock.advanceTo(startTime + 6_000);
    expect(await trades(one)).toEqual([]);
  });
});

test('a symbol that is delisted takes its orders along, and is served no more but for its history', async () => {
  const one = await exchange({ markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '9000' }] });
  const socket = await openSocket(one.simulator);
  socket.send({ event: 'sub', params: { channel } });
  await socket.frame((frame) => frame.channel === channel);
  const orderId = await place(one.simulator, alice, limitOrder({ price: '5000' }));
  one.simulator.happen({ delist: 'BTCUSDT' });
  expect(await queryOrder(one.simulator, alice, orderId)).toMatchObject({ status: 'CANCELED' });
  expect(one.simulator.balances(alice.uid)['USDT']?.locked).toBe('0');
  const get = async (path: string) => objectOf(await call(`${one.simulator.restUrl}/sapi/v1/${path}`, 'GET'));
  expect(await get('symbols')).toEqual({ symbols: [] });
  expect(await get('depth?symbol=BTCUSDT')).toMatchObject({ code: -1121 });
  const refused = await signed(one.simulator, alice, 'POST', '/sapi/v1/order', order);
  expect(objectOf(refused)).toMatchObject({ code: -1121 });
  const frames = socket.frames.filter((frame) => frame.channel === channel).length;
  await one.clock.advanceTo(startTime + 30_000);
  socket.send({ event: 'sub', params: { channel } });
  await socket.frame((frame) => frame.ping !== undefined);
  expect(socket.frames.filter((frame) => frame.channel === channel)).toHaveLength(frames);
  expect(() => one.simulator.people.place({ price: '9000' })).toThrow('Invalid symbol');
  expect(() => one.simulator.happen({ delist: 'NONE' })).toThrow('there is no symbol NONE');
  one.simulator.checkLedger();
});

test('a symbol whose terms change lists them, holds new orders to them, and leaves what rests, over a restart too', async () => {
  const persistDir = mkdtempSync(join(tmpdir(), 'sluice-terms-'));
  onTestFinished(() => rmSync(persistDir, { recursive: true }));
  const one = await exchange({ persistDir });
  const resting = await place(one.simulator, alice, limitOrder({ price: '8999.99', volume: '0.12345' }));
  one.simulator.happen({ terms: { pricePlacesFewer: 1, quantityPlacesFewer: 2, minQuantity: '0.01' } });
  const listed = async (there: TestExchange) => {
    const { symbols } = objectOf(await call(`${there.simulator.restUrl}/sapi/v1/symbols`, 'GET'));
    return (symbols as unknown[])[0];
  };
  const answer = async (there: TestExchange, body: Row) => {
    const { simulator } = there;
    return objectOf(
      await signed(simulator, alice, 'POST', '/sapi/v1/order', { symbol: 'BTCUSDT', ...limitOrder(body) }),
    );
  };
  const terms = { pricePrecision: 1, quantityPrecision: 3, limitVolumeMin: 0.01 };
  expect(await listed(one)).toMatchObject(terms);
  expect(await answer(one, { price: '8999.99' })).toMatchObject({ code: -1111 });
  expect(await answer(one, { volume: '0.0125' })).toMatchObject({ code: -1111 });
  expect(await answer(one, { volume: '0.009' })).toMatchObject({ code: -1136 });
  expect(await answer(one, { price: '8999.9', volume: '0.012' })).toMatchObject({ status: 'NEW' });
  expect(await queryOrder(one.simulator, alice, resting)).toMatchObject({ price: '8999.99', status: 'NEW' });
  await one.simulator.close();
  const again = await exchange({ persistDir });
  expect(await listed(again)).toMatchObject(terms);
  expect(await queryOrder(again.simulator, alice, resting)).toMatchObject({ price: '8999.99', status: 'NEW' });
  again.simulator.happen({ terms: { pricePlacesFewer: 0, quantityPlacesFewer: 0, minQuantity: '0.0001' } });
  expect(await answer(again, { price: '8999.99', volume: '0.12345' })).toMatchObject({ status: 'NEW' });
  expect(() => again.simulator.happen({ terms: { minQuantity: '0.000001' } })).toThrow();
  expect(() => again.simulator.happen({ terms: { symbol: 'NONE' } })).toThrow('there is no symbol NONE');
  again.simulator.checkLedger();
});

describe('what happens by itself', () => {
  test('happens again and again, at most so often, and what failed says why', async () => {
    const one = await exchange({
      faults: [{ at: { afterMs: 1_000, everyMs: 1_000, times: 3 }, do: { adjust: { asset: 'BTC', amount: '-4' } } }],
    });
    await one.clock.advanceTo(startTime + 10_000);
    const events = one.log.filter((entry) => entry.kind === 'event');
    expect(events.map(({ at, failed }) => [at - startTime, failed === undefined])).toEqual([
      [1_000, true],
      [2_000, true],
      [3_000, false],
    ]);
    expect(one.simulator.balances('10001')['BTC']?.free).toBe('2');
  });

  test('stops when its rule is taken away', async () => {
    const one = await exchange();
    const remove = one.simulator.addFault({ at: { everyMs: 1_000 }, do: { spend: 10 } });
    await one.clock.advanceTo(startTime + 2_500);
    remove();
    await one.clock.advanceTo(startTime + 9_000);
    expect(one.simulator.weightUsed('10001').ip).toBe(30);
  });

  test('a clock steps and drifts, but the exchange goes on in its own time', async () => {
    const one = await exchange({
      faults: [
        { at: {}, do: { driftPpm: 1_000 } },
        { at: { afterMs: 10_000 }, do: { stepMs: -3_000 } },
      ],
    });
    const told = async () => objectOf(await call(`${one.simulator.restUrl}/sapi/v1/time`, 'GET')).serverTime;
    await one.clock.advanceTo(startTime + 9_000);
    expect(await told()).toBe(startTime + 9_009);
    await one.clock.advanceTo(startTime + 20_000);
    expect(await told()).toBe(startTime + 17_020);
    const sent = { timestamp: startTime + 17_020 };
    expect(await signed(one.simulator, alice, 'POST', '/sapi/v1/order', order, sent)).toMatchObject({ status: 200 });
    expect(one.simulator.openOrders('10001')).toMatchObject([{ time: startTime + 20_000 }]);
    const socket = await openSocket(one.simulator);
    const channel = 'market_btcusdt_depth_step0';
    socket.send({ event: 'sub', params: { channel } });
    expect(await socket.frame((frame) => frame.channel === channel)).toMatchObject({ ts: startTime + 17_020 });
    socket.close();
  });

  test('an address is banned as if it had asked too often', async () => {
    const one = await exchange();
    one.simulator.happen({ ban: true });
    expect((await ping(one)).status).toBe(418);
    expect(one.log.some(({ kind }) => kind === 'ban')).toBe(true);
  });

  test('sockets are cut, and may come back at once', async () => {
    const one = await exchange();
    const socket = await openSocket(one.simulator);
    one.simulator.happen({ cut: 'sockets' });
    await socket.closed;
    (await openSocket(one.simulator)).close();
  });
});

describe('named plans', () => {
  test.for(planNames)('%s is valid, and its timed rules can happen to any exchange', async (name) => {
    const one = await exchange({ faults: name });
    const { people } = one.simulator;
    people.place({ user: '10002', side: 'SELL', price: '10000', volume: '1' });
    people.place({ side: 'BUY', price: '10000', volume: '0.5' });
    for (let minute = 1; minute <= 60; minute++) await one.clock.advanceTo(startTime + minute * 60_000);
    const failed = one.log.filter((entry) => entry.kind === 'event' && entry.failed !== undefined);
    expect(failed).toEqual([]);
    const timed = rulesOf(name).filter((rule) => 'at' in rule).length;
    expect(one.log.filter(({ kind }) => kind === 'event').length).toBeGreaterThanOrEqual(timed);
    one.simulator.checkLedger();
  });

  test('there are at least ten, and one that is not there is refused with their names', () => {
    expect(planNames.length).toBeGreaterThanOrEqual(10);
    expect(() => rulesOf('flaky')).toThrow('there is no fault plan flaky; there are flaky-504, ');
    for (const { about } of Object.values(plans)) expect(about).toMatch(/\.$/);
  });
});
