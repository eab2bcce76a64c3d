import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, test } from 'vitest';
import {
  alice,
  bob,
  btc,
  call,
  limitOrder,
  listOf,
  minutes,
  objectOf,
  place,
  queryOrder,
  type Row,
  signed,
  startTime,
} from '../../../test/kit/simulator.ts';
import { ScaledClock } from '../../clock/clock.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { type Simulator, type SimulatorOptions, type SimulatorUser, startSimulator } from '../simulator.ts';

const dirs: string[] = [];
const open: Simulator[] = [];
afterEach(async () => {
  for (const simulator of open.splice(0)) await simulator.close();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});
function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-simulator-'));
  dirs.push(dir);
  return dir;
}
async function start(persistDir: string, options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ users: [alice, bob], instruments: [btc], persistDir, ...options });
  open.push(simulator);
  return simulator;
}
async function stop(simulator: Simulator): Promise<void> {
  open.splice(open.indexOf(simulator), 1);
  await simulator.close();
}

/** How many rows each table of a closed store has. */
function rowsIn(dir: string): Record<'orders' | 'trades' | 'prints' | 'minutes', number> {
  const db = new Database(join(dir, 'exchange.db'), { readonly: true });
  const count = (table: string): number =>
    db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? Number.NaN;
  const found = {
    orders: count('orders'),
    trades: count('trades'),
    prints: count('prints'),
    minutes: count('minutes'),
  };
  db.close();
  return found;
}

/** The newest 1,000, without their numbers: a restart numbers them anew. */
async function printsOf({ restUrl }: Simulator): Promise<Row[]> {
  const { list } = JSON.parse((await call(`${restUrl}/sapi/v1/trades?symbol=BTCUSDT&limit=1000`, 'GET')).text) as {
    list: Row[];
  };
  return list.map((print) => ({ ...print, id: 0 }));
}

const truth = (simulator: Simulator) =>
  ['10001', '10002'].map((uid) => ({
    orders: simulator.allOrders(uid),
    fills: simulator.allTrades(uid),
    balances: simulator.balances(uid),
  }));
const sell = limitOrder({ side: 'SELL', newClientOrderId: 'ask' });
const buy = limitOrder({ volume: '0.4', newClientOrderId: 'bid' });

describe('a kept exchange', () => {
  test('goes on after a restart with the same orders, trades, balances and queue', async () => {
    const dir = newDir();
    const clock = new SimClock(startTime);
    const before = await start(dir, { clock });
    const ask = await place(before, bob, sell);
    await place(before, alice, buy);
    const known = truth(before);
    await stop(before);

    const after = await start(dir, { clock });
    expect(truth(after)).toEqual(known);
    after.checkLedger();
    expect(await queryOrder(after, bob, ask)).toMatchObject({ status: 'PARTIALLY_FILLED', executedQty: '0.4' });
    await place(after, alice, { ...buy, volume: '0.6' });
    expect(await queryOrder(after, bob, ask)).toMatchObject({ status: 'FILLED' });
    const ids = after.allTrades('10001').map(({ tradeId }) => tradeId);
    expect(new Set(ids).size).toBe(2);
    expect(listOf(await signed(after, alice, 'GET', '/sapi/v1/myTrades?symbol=BTCUSDT'))).toHaveLength(2);
    after.checkLedger();
  });

  test('its market time stood still in between, and its minutes go on where they were', async () => {
    const dir = newDir();
    const klines = minutes(
      Array.from(
        { length: 100 },
        (_, index) => [9_000 + index, 9_010 + index, 8_990 + index, 9_001 + index, 20] as const,
      ),
    );
    const markets = [{ kind: 'klines', symbol: 'BTCUSDT', klines, startIndex: 0 }] as const;
    const before = await start(dir, { markets, speed: 600 });
    const { serverTime } = objectOf(await signed(before, alice, 'GET', '/sapi/v1/time'));
    await stop(before);
    const stopped = before.clock.now();
    const after = await start(dir, { markets, speed: 0.001 });
    expect(after.clock.now()).toBeGreaterThanOrEqual(Number(serverTime));
    expect(after.clock.now()).toBeLessThanOrEqual(stopped);
  });

  test.for([
    ['synthetic', [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '9000' }]],
    ['empty', []],
  ] as const)('without a recording (%s) it is today again, with what it knew long ago', async ([, markets]) => {
    const dir = newDir();
    const before = await start(dir, { markets, clock: new SimClock(startTime) });
    const bid = await place(before, alice, { ...buy, price: '5000' });
    await stop(before);
    const today = new ScaledClock().now();
    const after = await start(dir, { markets });
    const { serverTime } = objectOf(await signed(after, alice, 'GET', '/sapi/v1/time'));
    expect(Number(serverTime)).toBeGreaterThanOrEqual(today);
    expect(Number(serverTime)).toBeLessThan(today + 60_000);
    const timestamp = new ScaledClock().now();
    const target = `/sapi/v1/order?orderId=${bid}&symbol=BTCUSDT`;
    expect(objectOf(await signed(after, alice, 'GET', target, '', { timestamp }))).toMatchObject({ status: 'NEW' });
    after.advance(3_600_000);
    await stop(after);
    expect((await start(dir, { markets })).clock.now()).toBeGreaterThanOrEqual(today + 3_600_000);
  });

  test('a trade that was undone and a symbol that was delisted stay so', async () => {
    const dir = newDir();
    const clock = new SimClock(startTime);
    const before = await start(dir, { clock });
    await place(before, bob, sell);
    await place(before, alice, buy);
    before.happen({ bust: { user: alice.uid } });
    before.happen({ delist: 'BTCUSDT' });
    const known = truth(before);
    await stop(before);
    const after = await start(dir, { clock });
    expect(after.allTrades(alice.uid)).toEqual([]);
    expect(truth(after)).toEqual(known);
    expect(() => after.happen({ place: { price: '9000' } })).toThrow('Invalid symbol');
    after.checkLedger();
  });

  test('a resting order keeps its place in the displayed queue', async () => {
    const dir = newDir();
    const clock = new SimClock(startTime);
    const print = (time: number, quantity: number) => ({ time, price: 9_000, quantity, side: 'SELL' }) as const;
    const tape = {
      depth: [{ time: 0, bids: [[9_000, 5]], asks: [[9_001, 5]] }],
      trades: [print(1_000, 4), print(2_000, 2)],
    } as const;
    const markets = [{ kind: 'tape', symbol: 'BTCUSDT', tape }] as const;
    const before = await start(dir, { clock, markets });
    await place(before, alice, { ...buy, volume: '3' });
    await clock.advanceTo(startTime + 1_500);
    await stop(before);
    const after = await start(dir, { clock, markets });
    await clock.advanceTo(startTime + 2_500);
    expect(after.allTrades('10001').map(({ qty }) => qty)).toEqual(['1']);
  });

  test('loses nothing that an answer showed when it is killed', async () => {
    const dir = newDir();
    const child = spawn(process.execPath, ['--input-type=module', '-e', program(dir)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const gone = new Promise((resolve) => child.on('close', resolve));
    const port = await new Promise<string>((resolve) =>
      child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString().trim())),
    );
    const remote = { restUrl: `http://127.0.0.1:${port}`, clock: new SimClock(startTime) } as const;
    const ids: string[] = [];
    for (let index = 0; index < 20; index++) {
      ids.push(await place(remote, bob, { ...sell, volume: '0.1' }));
      ids.push(await place(remote, alice, { ...buy, volume: '0.1' }));
    }
    child.kill('SIGKILL');
    await gone;
    const after = await start(dir, { clock: new SimClock(startTime + 60_000) });
    const kept = [...after.allOrders('10001'), ...after.allOrders('10002')];
    expect(kept.map(({ orderId }) => orderId).sort()).toEqual(ids.sort());
    expect(kept.every(({ status }) => status === 'FILLED')).toBe(true);
    expect(after.allTrades('10001')).toHaveLength(20);
    after.checkLedger();
  });

  test('of a made-up market keeps the price, the newest prints and the minutes, not what others trade', async () => {
    const dir = newDir();
    const clock = new SimClock(startTime);
    const options = { clock, markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', takersPerSecond: 2 }] } as const;
    const before = await start(dir, options);
    await clock.advanceTo(startTime + 3_600_000);
    await place(before, alice, { side: 'BUY', type: 'MARKET', volume: '100' });
    const bought = before.allTrades(alice.uid).length;
    const market = async (on: Simulator) => ({
      prints: await printsOf(on),
      klines: listOf(await call(`${on.restUrl}/sapi/v1/klines?symbol=BTCUSDT&interval=1min&limit=300`, 'GET')),
    });
    const seen = await market(before);
    await stop(before);
    expect(seen.prints).toHaveLength(1_000);
    expect(seen.klines).toHaveLength(300);
    expect(rowsIn(dir)).toMatchObject({ trades: bought, orders: 1, minutes: 600 + 61 });
    // More may come until the next minute.
    expect(rowsIn(dir).prints).toBeLessThan(1_400);
    const after = await start(dir, options);
    expect(await market(after)).toEqual(seen);
    await clock.advanceTo(startTime + 7_200_000);
    await stop(after);
    expect(rowsIn(dir)).toMatchObject({ trades: bought, minutes: 600 + 120 });
    expect(rowsIn(dir).prints).toBeLessThan(1_400);
  });

  test('keeps no more than can be asked for', async () => {
    const dir = newDir();
    const options = { clock: new SimClock(startTime), keptOrders: 10 };
    const before = await start(dir, options);
    const resting = await place(before, alice, { ...buy, price: '1000' });
    for (let turn = 0; turn < 30; turn++) {
      await place(before, bob, { ...sell, volume: '0.1' });
      await place(before, alice, { ...buy, volume: '0.1' });
    }
    const known = truth(before);
    const counted = { orders: before.retained()['orders'], trades: before.allTrades(alice.uid).length };
    await stop(before);
    expect(rowsIn(dir)).toMatchObject(counted);
    expect(counted.orders).toBeLessThanOrEqual(21);
    expect(counted.trades).toBeLessThanOrEqual(20);
    const after = await start(dir, options);
    expect(truth(after)).toEqual(known);
    expect(await queryOrder(after, alice, resting)).toMatchObject({ status: 'NEW' });
  });

  test('a store of another schema is refused', async () => {
    const dir = newDir();
    await stop(await start(dir));
    const db = new Database(join(dir, 'exchange.db'));
    db.exec(`UPDATE meta SET value = '99' WHERE key = 'version'`);
    db.close();
    await expect(start(dir)).rejects.toThrow(/was written by another version \(schema 99\); use another directory/);
  });

  test('a second exchange on the same directory is refused with one clear error', async () => {
    const dir = newDir();
    await start(dir);
    await expect(start(dir)).rejects.toThrow(
      /^another simulator is running on .*: end it, or give this one a directory of its own/,
    );
  });

  test('another precision than the saved one is refused', async () => {
    const dir = newDir();
    await stop(await start(dir));
    const other = instrument({ ...btc, quantityPrecision: 4 });
    await expect(start(dir, { instruments: [other] })).rejects.toThrow(/keeps BTCUSDT at precisions 2,5, not 2,4/);
  });

  test('a directory of another symbol is refused', async () => {
    const dir = newDir();
    await stop(await start(dir));
    const other = instrument({ ...btc, symbol: 'ETHUSDT', base: 'ETH' });
    await expect(start(dir, { instruments: [other] })).rejects.toThrow(/keeps BTCUSDT, which is not traded now/);
    await stop(await start(dir));
  });

  test('a clock behind the saved time is refused', async () => {
    const dir = newDir();
    await stop(await start(dir, { clock: new SimClock(startTime) }));
    await expect(start(dir, { clock: new SimClock(startTime - 1) })).rejects.toThrow(/start the clock there/);
  });

  test('keeps margin, withdrawals, fees and keys', async () => {
    const dir = newDir();
    const clock = new SimClock(startTime);
    const users = [{ ...alice, permissions: ['read', 'trade', 'withdraw'], margin: { USDT: '5000' } } as const, bob];
    const before = await start(dir, { clock, users });
    const post = (on: Simulator, path: string, body: object) =>
      signed(on, alice, 'POST', `/sapi/v1/${path}`, { ...body });
    const withdrawal = { amount: '100', address: 'T-address', symbol: 'USDT' };
    await post(before, 'margin/order', { symbol: 'BTCUSDT', ...buy, newClientOrderId: 'm' });
    await place(before, bob, { ...sell, volume: '0.1' });
    for (const withdrawOrderId of ['w1', 'w2', 'w3'])
      await post(before, 'withdraw/apply', { ...withdrawal, withdrawOrderId });
    before.operator.approve(2);
    before.operator.reject(3, 'why not');
    before.addKey(bob.uid, { key: 'bob-second', secret: 'second' });
    before.revokeKey(bob.key);
    const known = {
      truth: truth(before),
      withdrawals: before.operator.withdrawals(),
      margin: before.balances(alice.uid, 'margin'),
    };
    await stop(before);

    const after = await start(dir, { clock, users });
    after.checkLedger();
    expect({
      truth: truth(after),
      withdrawals: after.operator.withdrawals(),
      margin: after.balances(alice.uid, 'margin'),
    }).toEqual(known);
    expect(objectOf(await post(after, 'withdraw/apply', { ...withdrawal, withdrawOrderId: 'w1' }))).toMatchObject({
      code: '-2018',
    });
    after.operator.pay(2);
    after.operator.complete(2);
    expect(after.balances(alice.uid)['USDT']).toEqual({ free: '99800', locked: '100' });
    const account = async (user: SimulatorUser) => (await signed(after, user, 'GET', '/sapi/v1/account')).status;
    expect([await account({ ...bob, key: 'bob-second', secret: 'second' }), await account(bob)]).toEqual([200, 401]);
    const found = await signed(after, alice, 'GET', '/sapi/v1/margin/order?newClientOrderId=m');
    expect(objectOf(found)).toMatchObject({ status: 'PARTIALLY_FILLED', executedQty: '0.1' });
    expect(objectOf(await post(after, 'margin/cancel', { newClientOrderId: 'm' }))).toMatchObject({
      status: 'CANCELED',
    });
    after.checkLedger();
  });

  test('may be one file, which has an ending of its own', async () => {
    const file = join(newDir(), 'state', 'mine.db');
    const before = await start(file);
    const ask = await place(before, bob, sell);
    await stop(before);
    expect(statSync(file).isFile()).toBe(true);
    expect(await queryOrder(await start(file), bob, ask)).toMatchObject({ status: 'NEW' });
  });

  test('its directory is for its owner alone', async () => {
    const dir = join(newDir(), 'state');
    await start(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });
});

const folder = new URL('../', import.meta.url).href;

/** An exchange in a process of its own that prints its port. Its clock is the test's: time stands still. */
const program = (dir: string): string => `
  import { startSimulator } from '${folder}simulator.ts';
  import { alice, bob, btc, startTime } from '${new URL('../../../test/kit/simulator.ts', import.meta.url).href}';
  import { SimClock } from '${new URL('../../clock/sim-clock.ts', import.meta.url).href}';
  const simulator = await startSimulator({
    users: [alice, bob], instruments: [btc], clock: new SimClock(startTime), persistDir: ${JSON.stringify(dir)},
  });
  console.log(simulator.port);
`;
