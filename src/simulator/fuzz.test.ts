import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alice, call, exchange, openSocket, signed } from './test-kit.ts';

/** Limits out of the way. */
const limits = { ipWeightPerMinute: 1e9, uidWeightPerMinute: 1e9 };

const paths = [
  'order',
  'order/test',
  'cancel',
  'openOrders',
  'myTrades',
  'account',
  'depth',
  'trades',
  'klines',
  'ticker',
];
const names = [
  'symbol',
  'side',
  'type',
  'price',
  'volume',
  'orderId',
  'newClientOrderId',
  'limit',
  'fromId',
  'interval',
  'startTime',
  'endTime',
  '__proto__',
  'constructor',
];
const values = fc.oneof(
  fc.constantFrom<unknown>(
    'BTCUSDT',
    'BUY',
    'SELL',
    'LIMIT',
    'MARKET',
    '9000',
    0.5,
    '1',
    1e21,
    -1,
    '1e99',
    '1800000000000000001',
    '1month',
    '1min',
    null,
    true,
    [],
    {},
    '',
  ),
  fc.string(),
  fc.double(),
);
const params = fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 8 });

test('no request, however odd, gets more than an answer in JSON, and the ledger holds', async () => {
  const { simulator } = await exchange({ limits });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), params, fc.boolean(), async (path, given, post) => {
      const query = Object.entries(given).map(
        ([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`,
      );
      const target = `/sapi/v1/${path}`;
      const answer = post
        ? await signed(simulator, alice, 'POST', target, given)
        : await signed(simulator, alice, 'GET', `${target}?${query.join('&')}`);
      expect(() => JSON.parse(answer.text)).not.toThrow();
      expect([200, 400, 401, 404, 429]).toContain(answer.status);
      simulator.checkLedger();
    }),
    { numRuns: 300, seed: 5 },
  );
});

test('no message, however odd, breaks the socket', async () => {
  const { simulator } = await exchange({ limits });
  const socket = await openSocket(simulator);
  const channels = fc.constantFrom(
    'market_btcusdt_kline_1month',
    'market_btcusdt_trade_ticker',
    'market_btcusdt_depth_step0',
    'market__ticker',
    '',
  );
  const message = fc.oneof(
    fc.json(),
    fc.record({
      event: fc.constantFrom('sub', 'unsub', 'req', 'reg', 'nope'),
      params: fc.record({ channel: channels, cb_id: values, endIdx: values, pageSize: values }, { requiredKeys: [] }),
    }),
  );
  for (const one of fc.sample(message, { numRuns: 300, seed: 5 })) socket.send(one);
  socket.send({ event: 'req', params: { channel: 'market_btcusdt_trade_ticker', cb_id: 'the last one' } });
  await socket.frame((frame) => frame.cb_id === 'the last one');
  expect((await call(`${simulator.restUrl}/sapi/v1/ping`, 'GET')).text).toBe('{}');
  socket.close();
});
