import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Answer,
  alice,
  bob,
  btc,
  call,
  exchange,
  limitOrder,
  objectOf,
  place,
  signed,
  startTime,
  type TestExchange,
} from '../../../test/kit/simulator.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { startSimulator } from '../simulator.ts';
import { openControl } from './control.ts';
import type { Steering } from './routes.ts';

const open = () => exchange({ control: { port: 0 } });
const url = ({ simulator }: TestExchange): string => simulator.controlUrl ?? '';
async function ask(one: TestExchange, method: string, path: string, body?: unknown): Promise<unknown> {
  const { text } = await call(`${url(one)}${path}`, method, body === undefined ? '' : JSON.stringify(body));
  return JSON.parse(text) as unknown;
}
const order = { symbol: 'BTCUSDT', ...limitOrder({ newClientOrderId: 'x' }) };

describe('the control address', () => {
  test('is not there unless it is asked for', async () => {
    expect((await exchange()).simulator.controlUrl).toBeUndefined();
  });

  test.for(['0.0.0.0', '::', '192.168.0.1', 'example.com'])('is refused on %s', async (host) => {
    const options = { users: [alice], instruments: [btc], clock: new SimClock(startTime) };
    await expect(startSimulator({ ...options, control: { port: 0, host } })).rejects.toThrow(
      'it has no password, so it is for this machine alone',
    );
  });

  test('a port that is taken is one clear error, and the exchange is closed again', async () => {
    const port = Number(new URL(url(await open())).port);
    await expect(exchange({ control: { port } })).rejects.toThrow(`cannot be opened on 127.0.0.1:${port}`);
  });

  test('answers neither pages of a browser nor another host name', async () => {
    const one = await open();
    const status = async (headers: Record<string, string>) =>
      (await call(`${url(one)}/state`, 'GET', '', headers)).status;
    expect(await status({})).toBe(200);
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'http://127.0.0.1' })).toBe(403);
  });

  test('says what there is, and refuses what there is not', async () => {
    const one = await open();
    expect(await ask(one, 'GET', '/')).toContainEqual({ on: 'DELETE /outage', about: 'ends it' });
    expect(await ask(one, 'GET', '/nothing')).toEqual({ error: 'there is no GET /nothing; GET / lists what there is' });
    expect((await call(`${url(one)}/events`, 'POST', '{')).status).toBe(400);
    expect(await ask(one, 'POST', '/events', { explode: 1 })).toMatchObject({
      error: expect.stringContaining('must be one of'),
    });
    expect(await raw(one, '//')).toMatchObject({ status: 400 });
  });

  test('is not harmed by a client that goes away in the middle, nor by a body without end', async () => {
    const one = await open();
    const { hostname, port } = new URL(url(one));
    const broken = connect(Number(port), hostname);
    broken.write(`POST /events HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 100\r\n\r\n{"ban"`, () =>
      broken.destroy(),
    );
    await new Promise((resolve) => broken.on('close', resolve));
    expect(
      (await call(`${url(one)}/events`, 'POST', ' '.repeat(1_100_000)).catch(() => ({ status: 413 }))).status,
    ).toBe(413);
    expect(await ask(one, 'GET', '/state')).toMatchObject({ now: startTime });
  });

  test('adds rules, lists them with what they did, and takes them away', async () => {
    const one = await open();
    const rule = { match: { method: 'POST', path: '/sapi/v1/order' }, do: { status: 503, when: 'before' } };
    expect(await ask(one, 'POST', '/faults', rule)).toEqual({ ids: [1] });
    expect((await signed(one.simulator, alice, 'POST', '/sapi/v1/order', order)).status).toBe(503);
    expect(await ask(one, 'GET', '/faults')).toMatchObject([{ id: 1, matched: 1, fired: 1 }]);
    expect(await ask(one, 'DELETE', '/faults/1')).toEqual({});
    expect(await ask(one, 'DELETE', '/faults/1')).toEqual({ error: 'there is no rule 1' });
    expect(await ask(one, 'POST', '/faults', [{ math: {}, do: { status: 500 } }])).toMatchObject({
      error: expect.stringContaining('"math"'),
    });
    expect(await ask(one, 'POST', '/faults', { plan: 'outage-5m' })).toEqual({ ids: [2] });
    await one.clock.advanceTo(startTime + 60_000);
    await expect(call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET')).rejects.toThrow();
  });

  test('releases what is held', async () => {
    const one = await open();
    await ask(one, 'POST', '/faults', { match: { method: 'POST' }, do: { hold: 'x' } });
    const answer = signed(one.simulator, alice, 'POST', '/sapi/v1/order', order);
    await one.simulator.held('x');
    expect(await ask(one, 'GET', '/state')).toMatchObject({ held: { x: 1 } });
    expect(await ask(one, 'POST', '/release/x')).toEqual({ released: 1 });
    expect(objectOf(await answer)).toMatchObject({ status: 'NEW' });
  });

  test('acts as the human, and shows what a user has', async () => {
    const one = await open();
    const human = await ask(one, 'POST', '/human/place', { user: '10002', side: 'SELL', price: '9000', volume: '1' });
    expect(human).toMatchObject({ uid: '10002', status: 'NEW' });
    await place(one.simulator, alice, { ...order, volume: '0.4' });
    expect(await ask(one, 'POST', '/human/cancel', { user: '10002' })).toMatchObject([
      { status: 'CANCELED', executed: '0.4' },
    ]);
    expect(await ask(one, 'POST', '/human/adjust', { asset: 'USDT', amount: '5' })).toEqual({});
    expect(await ask(one, 'GET', '/users/10001')).toMatchObject({
      balances: { spot: { USDT: { free: '96405', locked: '0' } } },
      openOrders: [],
      fills: [{ price: '9000', qty: '0.4' }],
    });
  });

  test('refuses an amount or a price that is finer than money, and the exchange lives', async () => {
    const one = await open();
    const tiny = '0.0000000000000000001';
    const asked = [
      ['/human/adjust', { asset: 'USDT', amount: tiny }],
      ['/human/place', { side: 'BUY', price: '1.123456' }],
      ['/human/place', { side: 'BUY', price: '0' }],
      ['/human/place', { side: 'BUY', price: '1', volume: tiny }],
      ['/events', { adjust: { asset: 'USDT', amount: tiny } }],
      ['/events', { place: { side: 'BUY', price: '1.123456' } }],
    ] as const;
    for (const [path, body] of asked) {
      const { status } = await call(`${url(one)}${path}`, 'POST', JSON.stringify(body));
      expect([path, body, status]).toEqual([path, body, 400]);
    }
    expect(one.simulator.allOrders(alice.uid)).toEqual([]);
    one.simulator.checkLedger();
  });

  test('says that the exchange failed at something, and stays open', async () => {
    const control = await openControl({ port: 0 }, {} as Steering);
    onTestFinished(() => control.close());
    const { status, text } = await call(`${control.url}/state`, 'GET');
    expect([status, text]).toEqual([500, expect.stringContaining('the exchange failed at this')]);
    expect((await call(`${control.url}/`, 'GET')).status).toBe(200);
  });

  test('acts as the operator of withdrawals', async () => {
    const users = [{ ...alice, permissions: ['read', 'trade', 'withdraw'] as const }, bob];
    const one = await exchange({ control: { port: 0 }, users });
    const body = { withdrawOrderId: 'w1', amount: '1', address: 'abc', symbol: 'BTC' };
    await signed(one.simulator, alice, 'POST', '/sapi/v1/withdraw/apply', body);
    expect(await ask(one, 'GET', '/withdrawals')).toMatchObject([{ id: 1, state: 'unapproved', amount: '1' }]);
    expect(await ask(one, 'POST', '/withdrawals/1', { to: 'complete' })).toMatchObject({
      error: expect.stringContaining('withdrawal 1 is unapproved'),
    });
    for (const to of ['approve', 'pay', 'complete']) await ask(one, 'POST', '/withdrawals/1', { to });
    expect(await ask(one, 'GET', '/withdrawals')).toMatchObject([{ state: 'completed' }]);
    expect(one.simulator.balances('10001')['BTC']?.free).toBe('9');
    one.simulator.checkLedger();
  });

  test('begins and ends an outage, and steps the clock that clients see', async () => {
    const one = await open();
    expect(await ask(one, 'POST', '/outage', { scope: 'rest', how: 'status' })).toMatchObject({ scope: 'rest' });
    expect((await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET')).status).toBe(503);
    await ask(one, 'DELETE', '/outage');
    expect((await call(`${one.simulator.restUrl}/sapi/v1/ping`, 'GET')).status).toBe(200);
    expect(await ask(one, 'POST', '/time', { stepMs: 1_500 })).toEqual({ now: startTime, skewMs: 1_500 });
    expect(await ask(one, 'POST', '/time', { advanceMs: 1 })).toMatchObject({
      error: expect.stringContaining('a clock that was given to it'),
    });
  });

  test('reads the truth log from any entry on, of any kind', async () => {
    const one = await open();
    await place(one.simulator, alice, order);
    await place(one.simulator, bob, order);
    const requests = (await ask(one, 'GET', '/log?kind=request')) as { number: number; entry: unknown }[];
    expect(requests).toHaveLength(2);
    expect(requests[0]?.entry).toMatchObject({ uid: '10001', weight: 5, ip: '127.0.0.1' });
    expect(await ask(one, 'GET', `/log?kind=request&after=${requests[0]?.number}`)).toEqual([requests[1]]);
    expect(await ask(one, 'GET', '/log?limit=1')).toMatchObject([{ number: 1, entry: { kind: 'start' } }]);
  });
});

test('at most a day passes at once, and a clock is moved and driven within bounds', async () => {
  const simulator = await startSimulator({ users: [alice], instruments: [btc], control: { port: 0 } });
  onTestFinished(() => simulator.close());
  const move = async (body: unknown) => {
    const { status, text } = await call(`${simulator.controlUrl}/time`, 'POST', JSON.stringify(body));
    return [status, text] as const;
  };
  const before = simulator.clock.now();
  expect(await move({ advanceMs: 86_400_001 })).toEqual([
    400,
    expect.stringContaining('advanceMs: at most 86400000 (a day) at once: ask again for more'),
  ]);
  expect(await move({ stepMs: 86_400_001 })).toEqual([400, expect.stringContaining('stepMs: ')]);
  expect(await move({ driftPpm: -100_001 })).toEqual([400, expect.stringContaining('driftPpm: ')]);
  expect(simulator.clock.now() - before).toBeLessThan(3_600_000);
  expect((await move({ advanceMs: 86_400_000 }))[0]).toBe(200);
});

test('an exchange with a clock of its own lets time pass at once', async () => {
  const simulator = await startSimulator({ users: [alice], instruments: [btc], control: { port: 0 } });
  onTestFinished(() => simulator.close());
  const before = simulator.clock.now();
  simulator.advance(3_600_000);
  expect(simulator.clock.now() - before).toBeGreaterThanOrEqual(3_600_000);
});

/** A request whose path is sent as it is. */
function raw(one: TestExchange, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url(one));
    const outgoing = request({ hostname, port, path, agent: false }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, text: '' }));
    });
    outgoing.on('error', reject).end();
  });
}
