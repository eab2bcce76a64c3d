import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusalLater } from '../../../test/kit/refusal.ts';
import { addressOf } from '../../client/connection.ts';
import type { TypedOrder } from '../../client/manual-orders.ts';
import { instrument } from '../../domain/instrument.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { isConfirmed } from '../../terminal/questions.ts';
import { account, call } from './account.ts';
import * as market from './market.ts';
import * as order from './order.ts';

const btc = instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
const user = (uid: string): { uid: string; key: string; secret: string; balances: Record<string, string> } => ({
  uid,
  key: `key-${uid}`,
  secret: `secret-${uid}`,
  balances: { USDT: '100000', BTC: '10' },
});
let simulator: Simulator;
let dir = '';
const printed: string[] = [];
const said: string[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-by-hand-'));
  simulator = await startSimulator({
    users: [user('1'), user('2')],
    instruments: [btc],
    markets: [{ kind: 'empty', symbol: 'BTCUSDT' }],
  });
});
afterAll(async () => {
  await simulator.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  printed.length = 0;
  said.length = 0;
});

const command = (uid = '1') => ({
  url: simulator.restUrl,
  json: true,
  yes: true,
  out: (line: string) => void printed.push(line),
  say: (line: string) => void said.push(line),
  signal: new AbortController().signal,
  environment: { SLUICE_API_KEY: `key-${uid}`, SLUICE_API_SECRET: `secret-${uid}`, XDG_STATE_HOME: dir },
});
const rows = (): readonly Readonly<Record<string, unknown>>[] =>
  printed.flatMap((line) => line.split('\n')).map((line) => JSON.parse(line) as Record<string, unknown>);
type OrderCommand = Parameters<typeof order.open>[1];
const create = (symbol: string, { side, volume, ...form }: TypedOrder, given: OrderCommand): Promise<void> =>
  order.create(symbol, side, volume, { ...given, ...form });
const buy = { side: 'buy', volume: '0.01', price: '50000' };

describe('orders by hand', () => {
  it('are created, asked about, listed and cancelled, exactly', async () => {
    await create('btcusdt', { ...buy, clientId: 'mine-1' }, command());
    const [created = {}] = rows();
    expect(created).toMatchObject({ clientOrderId: 'mine-1', symbol: 'BTCUSDT', side: 'BUY', status: 'NEW' });
    const id = String(created['orderId']);
    await order.query('BTCUSDT', id, command());
    await order.open('BTC/USDT', command());
    expect(rows().map((row) => row['orderId'])).toEqual([id, id, id]);
    expect(rows().slice(1)).toMatchObject([
      { price: '50000', quantity: '0.01', executed: '0' },
      { price: '50000', quantity: '0.01', executed: '0' },
    ]);
    // The same id twice is one order.
    await order.cancel('BTCUSDT', [id, id], command());
    expect(rows().at(-1)).toMatchObject({ orderId: id, status: 'CANCELED' });
  });

  it('trade, and the trades are listed with their fee', async () => {
    await create('BTCUSDT', { side: 'SELL', volume: '0.02', price: '50000' }, command('2'));
    await create('BTCUSDT', { side: 'BUY', volume: '500' }, command());
    // The answer to the create is older than the fill.
    expect(rows().at(-1)).toMatchObject({ type: 'MARKET', status: 'FILLED', executed: '0.01' });
    printed.length = 0;
    await order.trades('BTCUSDT', command());
    expect(rows()).toMatchObject([{ side: 'BUY', price: '50000', quantity: '0.01', feeAsset: 'BTC', maker: false }]);
    printed.length = 0;
    await account(command());
    expect(rows().find(({ asset }) => asset === 'USDT')).toMatchObject({ free: '99500' });
  });

  it('have no balances of margin, rather than those of spot', async () => {
    const refused = await refusalLater(() => account({ ...command(), account: 'margin' }));
    expect(refused.message).toContain('no query for margin balances');
  });

  it('are sent and cancelled in batches', async () => {
    await order.batch('BTCUSDT', ['BUY:0.01@40000', 'BUY:0.02@40001'], command());
    const ids = rows().map((row) => String(row['orderId']));
    expect(ids).toHaveLength(2);
    printed.length = 0;
    await order.cancel('BTCUSDT', ids, command());
    expect(rows().map(({ status }) => status)).toEqual(['CANCELED', 'CANCELED']);
    expect(said.join()).toContain('accepted 2 and refused 0');
  });

  it('that are missing from the answer to a batch fail the command, once the others are shown', async () => {
    const { message, exitCode } = await refusalLater(() =>
      order.batch('BTCUSDT', ['BUY:0.01@39000', 'SELL:100@90000'], command()),
    );
    expect(rows()).toEqual([{ orderId: expect.stringMatching(/^\d+$/) }]);
    expect([exitCode, message]).toEqual([
      1,
      expect.stringMatching(/lists 1 order of 2 and does not explain[\s\S]*sluice order open BTCUSDT/),
    ]);
    await order.cancel('BTCUSDT', [String(rows()[0]?.['orderId'])], command());
  });

  it.each(['spot', 'margin'] as const)('are all told of when one of those to cancel is unknown (%s)', async (which) => {
    if (which === 'spot') await create('BTCUSDT', { ...buy, price: '20000' }, command());
    const real = which === 'spot' ? String(rows()[0]?.['orderId']) : '7';
    printed.length = 0;
    const account = { ...command(), account: which };
    const { message, exitCode } = await refusalLater(() => order.cancel('BTCUSDT', ['999999', real], account));
    expect(rows()).toMatchObject([
      { orderId: '999999', status: null, failure: expect.stringMatching(/.{10}/) },
      which === 'spot'
        ? { orderId: real, status: 'CANCELED', failure: null }
        : { orderId: real, failure: expect.stringMatching(/.{10}/) },
    ]);
    expect([exitCode, message]).toEqual([1, expect.stringContaining(which === 'spot' ? '1 of 2' : '2 of 2')]);
  });

  it('that the answer to a batch of cancels does not name are told as not known, and fail the command', async () => {
    await order.batch('BTCUSDT', ['BUY:0.01@41000', 'BUY:0.01@41001'], command());
    const [named = '', other = ''] = rows().map((row) => String(row['orderId']));
    printed.length = 0;
    const body = JSON.stringify({ success: [named], failed: [] });
    const lift = simulator.addFault({
      match: { method: 'POST', path: '/sapi/v1/batchCancel' },
      do: { body, type: 'application/json', when: 'before' },
    });
    const { message, exitCode } = await refusalLater(() => order.cancel('BTCUSDT', [named, other], command()));
    lift();
    expect(rows()).toMatchObject([
      { orderId: named, failure: null },
      { orderId: other, status: 'NEW', failure: 'not known: the answer to the batch does not name it' },
    ]);
    expect([exitCode, message]).toEqual([1, expect.stringContaining('1 of 2')]);
    expect(said.join()).toContain('accepted 1, refused 0 and omits 1');
    await order.cancel('BTCUSDT', [named, other], command());
  });

  it('show their client id before they are sent, whether it is asked or not', async () => {
    const typed = { ...buy, price: '20000' };
    const asked = { ...command(), yes: false, input: Readable.from(['no\n']) };
    expect((await refusalLater(() => create('BTCUSDT', typed, asked))).message).toContain('nothing was sent');
    expect(said.join()).toMatch(/client id m[a-z2-7]{24}[\s\S]*Type yes/);
    said.length = 0;
    const lift = simulator.addFault({
      match: { method: 'POST', path: '/sapi/v1/order' },
      do: { hold: 'on its way', when: 'before' },
    });
    const sent = create('BTCUSDT', typed, command());
    await simulator.held('on its way');
    const [, id] = /client id (m[a-z2-7]{24})/.exec(said.join()) ?? [];
    lift();
    simulator.release('on its way');
    await sent;
    expect(rows().at(-1)).toMatchObject({ clientOrderId: id });
    await order.cancel('BTCUSDT', [String(rows().at(-1)?.['orderId'])], command());
  });

  it('are tested without being placed', async () => {
    await order.test('BTCUSDT', buy.side, buy.volume, { ...command(), price: buy.price });
    expect(rows()).toEqual([{ accepted: true }]);
    printed.length = 0;
    await order.open('BTCUSDT', { ...command(), json: false });
    expect(printed).toEqual(['no open orders of BTCUSDT']);
  });

  it.each<[string, TypedOrder, string]>([
    ['too many decimals', { ...buy, volume: '0.000001' }, 'has more than 5 decimals'],
    ['a volume that is none', { ...buy, volume: '1e3' }, 'must be a decimal number'],
    ['nothing', { ...buy, volume: '0' }, 'above 0'],
    ['a price of nothing', { ...buy, price: '0' }, 'above 0'],
    ['a side that is none', { ...buy, side: 'long' }, 'BUY or SELL'],
    ['an id too long', { ...buy, clientId: 'x'.repeat(33) }, '1 to 32'],
  ])('with %s are refused before they are sent', async (_, typed, why) => {
    expect((await refusalLater(() => create('BTCUSDT', typed, command()))).message).toContain(why);
  });

  it('that the exchange refuses say the code, what it means, and what to do', async () => {
    const { message, exitCode } = await refusalLater(() => create('BTCUSDT', { ...buy, volume: '1000000' }, command()));
    expect(message).toMatch(/-2017[\s\S]*it means: the balance is too small\n {2}what to do: sluice account/);
    expect(exitCode).toBe(1);
  });

  it('of which the answer is lost are looked for, and never sent again', async () => {
    const before = simulator.addFault({
      match: { method: 'POST', path: '/sapi/v1/order', nth: 1 },
      do: { status: 504, when: 'after' },
    });
    await create('BTCUSDT', { ...buy, price: '30000', clientId: 'lost-1' }, command());
    before();
    expect(rows()).toMatchObject([{ clientOrderId: 'lost-1', status: 'NEW' }]);
    await order.cancel('BTCUSDT', [String(rows()[0]?.['orderId'])], command());
    const never = simulator.addFault({
      match: { method: 'POST', path: '/sapi/v1/order' },
      do: { status: 504, when: 'before' },
    });
    const { message } = await refusalLater(() => create('BTCUSDT', { ...buy, clientId: 'lost-2' }, command()));
    never();
    expect(message).toContain('it was sent once, with client id lost-2');
    expect(message).toContain('before you send another');
  });
});

describe('what changes something', () => {
  const asking = (answer: string) => ({ say: command().say, signal: command().signal, input: Readable.from([answer]) });
  it('is done for yes and nothing else', async () => {
    expect(await isConfirmed('sure?', asking('yes\n'))).toBe(true);
    expect(said[0]).toBe('sure?\nType yes to send it:');
    for (const answer of ['y\n', 'no\n', '\n', '', 'yes please\n'])
      expect(await isConfirmed('?', asking(answer))).toBe(false);
  });
});

describe('the market by hand', () => {
  it('is printed for people and for programs', async () => {
    await create('BTCUSDT', { side: 'BUY', volume: '1', price: '40000' }, command());
    await create('BTCUSDT', { side: 'SELL', volume: '1', price: '60000' }, command('2'));
    printed.length = 0;
    await market.ping(command());
    await market.time(command());
    await market.symbols(command());
    await market.depth('btcusdt', { ...command(), limit: 1 });
    expect(rows()).toMatchObject([
      { roundTripMs: expect.any(Number) },
      { serverTime: expect.any(Number) },
      { symbol: 'BTCUSDT' },
      { bids: [[40_000, 1]] },
    ]);
    printed.length = 0;
    await market.trades('BTCUSDT', { ...command(), json: false });
    expect(printed[0]).toContain('50000');
    await market.trades('BTCUSDT', { ...command(), socket: true });
    expect(JSON.parse(printed.at(-1) ?? '')).toMatchObject({ price: 50_000 });
  });

  it('refuses intervals and kinds that there are none of, with the nearest', async () => {
    expect((await refusalLater(async () => market.klines('BTCUSDT', '1mn', command()))).message).toContain(
      'did you mean "1min"',
    );
    expect((await refusalLater(async () => market.open('tiker', undefined, undefined, command()))).message).toContain(
      'ticker',
    );
    expect((await refusalLater(async () => market.open('trades', undefined, undefined, command()))).message).toBe(
      'the symbol is missing: sluice market open trades BTC USDT',
    );
    expect((await refusalLater(async () => market.open('depth', 'BTCUSDT', undefined, command()))).message).toMatch(
      /^BTCUSDT alone is not a symbol: give base and quote separately: sluice market open depth BTC USDT$/,
    );
  });

  it('says which symbols there are when one is unknown', async () => {
    const { message } = await refusalLater(() => market.ticker('NOPEUSDT', command()));
    expect(message).toMatch(/-1121[\s\S]*sluice market symbols/);
    expect((await refusalLater(() => order.open('NOPEUSDT', command()))).message).toContain('lists no symbol NOPEUSDT');
  });
});

describe('a raw call', () => {
  it('prints the answer, and refuses withdrawals whatever way they are written', async () => {
    await call('get', '/sapi/v1/symbols', { ...command(), unsigned: true });
    expect(rows()).toMatchObject([{ symbols: [{}] }]);
    for (const path of ['/sapi/v1/withdraw/apply', '/sapi/v1/%77ithdraw/apply']) {
      const { message, exitCode } = await refusalLater(() => call('POST', path, command()));
      expect([exitCode, message]).toEqual([3, expect.stringContaining('sluice-withdraw')]);
    }
    for (const [method, path, body] of [
      ['PUT', '/a', undefined],
      ['GET', '/a', '{}'],
      ['POST', '/a', '{'],
      ['GET', 'a', undefined],
    ] as const)
      expect(
        await refusalLater(() => call(method, path, { ...command(), ...(body !== undefined && { body }) })),
      ).toBeDefined();
  });
});

describe('the exchange that is meant', () => {
  it('is said once, encrypted unless it is here', async () => {
    const refused = (which: Parameters<typeof addressOf>[0]) => refusalLater(async () => addressOf(which));
    expect((await refused({})).message).toContain('--config FILE');
    expect((await refused({ config: 'a.yaml', url: 'http://127.0.0.1' })).message).toContain('not both');
    expect((await refused({ url: 'http://exchange.example' })).message).toContain('encrypted');
    expect((await refused({ url: 'exchange' })).message).toContain('http://');
    const url = 'https://exchange.example';
    expect((await refused({ url, wsUrl: 'foo' })).message).toContain('--ws-url foo: must be an address');
    expect((await refused({ url, wsUrl: 'ws://exchange.example' })).message).toContain('encrypted (wss://)');
    expect(addressOf({ url, wsUrl: 'ws://127.0.0.1:9/x' }).wsUrl).toBe('ws://127.0.0.1:9/x');
    expect(addressOf({ url: 'https://exchange.example/api', account: 'margin' })).toMatchObject({
      wsUrl: 'wss://exchange.example/kline-api/ws',
      account: 'margin',
    });
  });

  it('may run faster than this machine: that is said, and how to say it', async () => {
    const fast = await startSimulator({
      users: [user('1')],
      instruments: [btc],
      markets: [{ kind: 'empty', symbol: 'BTCUSDT' }],
      speed: 60,
      faults: [{ match: { path: '/sapi/v1/time' }, do: { delayMs: 5, when: 'before' } }],
    });
    try {
      const there = { ...command(), url: fast.restUrl };
      const { message } = await refusalLater(() => account(there));
      expect(message).toMatch(/clock runs about (\d\d) times as fast as this one.*--speed \1 beside --url/);
      await account({ ...there, speed: 60 });
      expect(rows().map(({ asset }) => asset)).toEqual(['USDT', 'BTC']);
    } finally {
      await fast.close();
    }
    expect((await refusalLater(async () => addressOf({ config: 'a.yaml', speed: 2 }))).message).toContain(
      'exchange.speed',
    );
  });

  it('may stand behind a gateway that takes away the start of the path', async () => {
    const url = 'https://exchange.example/spot/open';
    expect(addressOf({ url, stripPrefix: '/spot/open' })).toMatchObject({ restUrl: url, stripPrefix: '/spot/open' });
    for (const stripPrefix of ['/spot/opn', 'spot', '/', '/spot/'])
      expect((await refusalLater(async () => addressOf({ url, stripPrefix }))).message).toContain('/spot/open/sapi/');
    const both = { config: 'a.yaml', stripPrefix: '/spot' };
    expect((await refusalLater(async () => addressOf(both))).message).toContain('exchange.stripPrefix');
  });

  it('that banned this address is left alone, with the time when that ends', async () => {
    const banned = { ...command(), environment: { ...command().environment, XDG_STATE_HOME: join(dir, 'banned') } };
    const lift = simulator.addFault({ match: { path: '/sapi/v1/ping' }, do: { status: 418, when: 'before' } });
    await refusalLater(() => market.ping(banned));
    lift();
    const { message, exitCode } = await refusalLater(() => market.ping(banned));
    expect([exitCode, message]).toEqual([
      3,
      expect.stringMatching(/forbids requests from this address for another \d+ (s|min|h \d+ min): wait/),
    ]);
  });
});
