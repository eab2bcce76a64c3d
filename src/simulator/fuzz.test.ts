import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { fc } from '../../test/kit/properties.ts';
import { alice, call, exchange, limitOrder, openSocket, place, signed } from '../../test/kit/simulator.ts';
import type { Simulator, SimulatorUser } from './simulator.ts';

/** `FUZZ_RUNS=20000 npx vitest run src/simulator/fuzz.test.ts` goes on for longer; `FUZZ_SEED` begins elsewhere. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);
const minutesMs = (numRuns / 300) * 20_000;

/** Limits out of the way. */
const limits = { ipWeightPerMinute: 1e12, uidWeightPerMinute: 1e12 };
const user: SimulatorUser = {
  ...alice,
  permissions: ['read', 'trade', 'withdraw'],
  margin: { USDT: '100000', BTC: '5' },
};
const open = () => exchange({ limits, users: [user] });

const paths = [
  ...['order', 'order/test', 'cancel', 'openOrders', 'myTrades', 'batchOrders', 'batchCancel', 'account'],
  ...['margin/order', 'margin/cancel', 'margin/openOrders', 'margin/myTrades', 'withdraw/apply', 'withdraw/query'],
  ...['depth', 'trades', 'klines', 'ticker', 'symbols', 'time', 'ping'],
].map((path) => `/sapi/v1/${path}`);
const openPaths = ['pub/trades', 'pub/ticker', 'pub/asset', 'pub/orderbook', 'api/get_allticker'].map(
  (path) => `/open/${path}`,
);
const names = [
  ...['symbol', 'side', 'type', 'price', 'volume', 'orderId', 'newClientOrderId', 'limit', 'fromId', 'interval'],
  ...[
    'startTime',
    'endTime',
    'orders',
    'orderIds',
    'recvWindow',
    'withdrawOrderId',
    'amount',
    'address',
    'label',
    'page',
  ],
  ...['base', 'quote', 'trades', 'depth', 'bids', 'asks', 'batchType', '__proto__', 'constructor', 'toString'],
];
const words = [
  ...['BTCUSDT', 'BTC', 'USDT', 'BUY', 'SELL', 'LIMIT', 'MARKET', '9000', '1', '0', '-1', '1e99', '1e-18', '', ' '],
  ...['1800000000000000001', '9'.repeat(400), '1month', '1min', '__proto__', 'NaN', '0x10', '１', '\u0000', '\ud800'],
];
const plain = fc.oneof(
  fc.constantFrom<unknown>(...words, 0.5, 1e21, -1, 9_007_199_254_740_992, null, true),
  fc.string(),
  fc.double(),
);
const record = fc.dictionary(fc.constantFrom(...names), plain, { maxKeys: 6 });
const value = fc.oneof(
  { weight: 6, arbitrary: plain },
  { weight: 1, arbitrary: record },
  { weight: 2, arbitrary: fc.array(fc.oneof(record, plain), { maxLength: 12 }) },
);
const params = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 9 });

/** A well-formed order with one field spoilt gets further than noise does. */
const nearOrder = fc.tuple(fc.constantFrom(...names), value).map(([name, spoilt]) => ({
  symbol: 'BTCUSDT',
  ...limitOrder({ volume: '0.01' }),
  ...{ withdrawOrderId: 'w', amount: '1', address: 'a', orders: [{ ...limitOrder(), batchType: 'LIMIT' }] },
  [name]: spoilt,
}));

const textOf = (one: unknown): string => (typeof one === 'string' ? one : (JSON.stringify(one) ?? ''));
const answers = new Set([200, 400, 401, 404, 413, 429]);

/** Twenty MiB in twenty KiB: nothing unpacks what a client sends. */
const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));

/** Signs bytes as they are. */
function sendBytes(simulator: Simulator, target: string, bytes: Buffer) {
  const timestamp = String(simulator.clock.now());
  const sign = createHmac('sha256', user.secret).update(`${timestamp}POST${target}`).update(bytes).digest('hex');
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b ? { 'Content-Encoding': 'gzip' } : {};
  const headers = { 'X-CH-APIKEY': user.key, 'X-CH-TS': timestamp, 'X-CH-SIGN': sign, ...packed };
  return call(`${simulator.restUrl}${target}`, 'POST', bytes, headers);
}

test('no request, however odd, gets more than an answer in JSON, and the ledger holds', {
  timeout: minutesMs,
}, async () => {
  const { simulator, clock } = await open();
  const target = fc.constantFrom(...paths, ...openPaths);
  await fc.assert(
    fc.asyncProperty(target, fc.oneof(params, nearOrder), fc.boolean(), async (path, given, post) => {
      const query = Object.entries(given).map(
        ([name, one]) => `${name}=${encodeURIComponent(textOf(one).toWellFormed())}`,
      );
      const answer = post
        ? await signed(simulator, user, 'POST', path, given)
        : await signed(simulator, user, 'GET', `${path}?${query.join('&')}`);
      expect(() => JSON.parse(answer.text) as unknown).not.toThrow();
      expect(answers).toContain(answer.status);
      simulator.checkLedger();
      // Slow enough for the limits of single endpoints.
      await clock.advanceTo(clock.now() + 200);
    }),
    { numRuns },
  );
});

test('no body of bytes breaks it: cut off, deep, huge, no UTF-8, no JSON', { timeout: minutesMs }, async () => {
  const { simulator, clock } = await open();
  const whole = JSON.stringify({ symbol: 'BTCUSDT', ...limitOrder({ volume: '0.01' }) });
  const text = fc.oneof(
    fc.nat(whole.length).map((length) => whole.slice(0, length)),
    fc.constantFrom(
      '[]',
      'null',
      '1',
      '"a"',
      '{"__proto__":{"symbol":"BTCUSDT"}}',
      '{"symbol":{"toString":1}}',
      '\ufeff{}',
    ),
    fc.constantFrom('[', '{"a":', '{"orders":[').chain((part) => fc.nat(30_000).map((times) => part.repeat(times))),
    fc.nat(4_000).map((count) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`),
    fc.nat(900_000).map((length) => `{"symbol":"${'x'.repeat(length)}"}`),
  );
  const bytes = fc.oneof(
    text.map((one) => Buffer.from(one)),
    fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)),
    fc.constantFrom(bomb, bomb.subarray(0, 500)),
    fc.tuple(fc.nat(whole.length), fc.nat(255)).map(([at, byte]) => {
      const spoilt = Buffer.from(whole);
      spoilt[at] = byte;
      return spoilt;
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), bytes, async (path, body) => {
      const answer = await sendBytes(simulator, path, body);
      expect(() => JSON.parse(answer.text) as unknown).not.toThrow();
      expect(answers).toContain(answer.status);
      await clock.advanceTo(clock.now() + 200);
    }),
    { numRuns: Math.ceil(numRuns / 3) },
  );
  simulator.checkLedger();
});

/** Sends bytes to the port and resolves once the other side has closed, or said something. */
const rawly = (port: number, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    const done = (): void => {
      socket.destroy();
      resolve();
    };
    socket.on('error', done);
    socket.on('data', done);
    socket.on('close', done);
  });

test('nothing that is no HTTP breaks the server', { timeout: minutesMs }, async () => {
  const { simulator } = await open();
  const head = 'GET /kline-api/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'GET http://%% HTTP/1.1\r\nHost: a\r\n\r\n',
      'POST /sapi/v1/order HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{',
      'POST /sapi/v1/order HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      `${head}\r\n`,
      `${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n`,
      `${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\u0001\u0002\u0003`,
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      'GET /sapi/v1/depth?symbol=%ff%fe&symbol=BTCUSDT HTTP/1.1\r\nHost: a\r\nX-CH-APIKEY: a\r\nX-CH-APIKEY: b\r\n\r\n',
    ),
  );
  await fc.assert(
    fc.asyncProperty(line, (one) => rawly(simulator.port, Buffer.from(one, 'latin1'))),
    { numRuns: Math.ceil(numRuns / 3) },
  );
  expect((await call(`${simulator.restUrl}/sapi/v1/ping`, 'GET')).text).toBe('{}');
});

test('no message, however odd, breaks the socket', { timeout: minutesMs }, async () => {
  const { simulator } = await open();
  const socket = await openSocket(simulator);
  const channels = fc.constantFrom(
    'market_btcusdt_kline_1month',
    'market_btcusdt_trade_ticker',
    'market_btcusdt_depth_step0',
    'market___proto___ticker',
    'market__ticker',
    '',
  );
  const deep = fc.nat(5_000).map((times) => '{"event":'.repeat(times));
  const message = fc.oneof(
    fc.json(),
    deep,
    fc.record({
      event: fc.constantFrom('sub', 'unsub', 'req', 'reg', 'nope', '__proto__'),
      params: fc.oneof(
        fc.record({ channel: channels, cb_id: value, endIdx: value, pageSize: value }, { requiredKeys: [] }),
        value,
      ),
    }),
  );
  for (const one of fc.sample(message, { numRuns })) socket.send(one);
  socket.send({ event: 'req', params: { channel: 'market_btcusdt_trade_ticker', cb_id: 'the last one' } });
  await socket.frame((frame) => frame.cb_id === 'the last one');
  socket.close();
});

test('a socket that sends binary, invalid UTF-8 or too much may be cut; the exchange goes on', async () => {
  const { simulator } = await open();
  for (const [bytes, binary] of [
    [Buffer.from([0xff, 0xfe]), false],
    [Buffer.from('{"event":"sub","params":{"channel":"market_btcusdt_ticker"}}'), true],
    [Buffer.alloc(1_000_000, 0x20), false],
    [Buffer.alloc(0), false],
    [bomb, true],
  ] as const) {
    const socket = new WebSocket(simulator.wsUrl);
    onTestFinished(() => socket.terminate());
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.on('open', resolve));
    socket.send(bytes, { binary });
    const healthy = await openSocket(simulator);
    healthy.send({ event: 'sub', params: { channel: 'market_btcusdt_depth_step0' } });
    await healthy.frame(({ tick }) => tick !== undefined);
    healthy.close();
  }
  expect(await place(simulator, user, limitOrder({ volume: '0.01' }))).toMatch(/^\d{19}$/);
});
