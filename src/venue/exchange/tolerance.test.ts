/** What a client of this exchange must tolerate, item by item, each as it was seen on live deployments. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { btcusdt, desk, intent, letGo, orderId, start, stubbed } from '../../../test/kit/exchange-stub.ts';
import { ScaledClock } from '../../clock/clock.ts';
import { units } from '../../domain/money.ts';
import type { OrderReport } from '../../domain/order.ts';
import { statusOf } from './orders/read-order.ts';

const at = stubbed();
const { answering, open } = at;
const ref = { symbol: 'BTCUSDT', orderId };
const order = (more: object = {}): object => ({
  orderId,
  clientOrderId: 'x',
  symbol: 'btcusdt',
  price: '86650.65',
  origQty: '0.00125',
  executedQty: '0',
  avgPrice: '0',
  status: 'NEW',
  type: 'LIMIT',
  side: 'BUY',
  ...more,
});
const asked = async (body: unknown): Promise<unknown> => {
  answering(() => body);
  return open().exchange.orders.query(ref);
};
const reported = (report: Partial<OrderReport>) => ({ kind: 'ok', value: report });

describe('1. errors under HTTP 200, and replies in every wrapping', () => {
  it.each([
    ['a number', { code: -2013, msg: 'Order does not exist.' }, '-2013'],
    ['a text', { code: '-2013', msg: '订单不存在', data: null }, '-2013'],
    ['a positive number', { code: 110049, msg: '余额不足', data: null }, '110049'],
    ['succ=false beside', { code: '10062', succ: false, msgData: null, msg: 'PRECISION' }, '10062'],
    ['no code but succ=false', { succ: false, msg: 'fail' }, 'succ=false'],
    ['the malformed id', { code: 1, msg: 'fail' }, '1'],
  ])('a code as %s is a refusal', async (_, body, code) => {
    expect(await asked(body)).toMatchObject({ kind: 'failed', code });
  });

  it.each([
    ['of a gateway', '<html><head><title>403 Forbidden</title></head></html>'],
    ['of Spring', '{"timestamp":1,"status":404,"error":"Not Found","path":"/sapi/v1/order"}'],
    ['of nothing', ''],
    ['of null', 'null'],
  ])('a body %s is no answer', async (_, body) => {
    expect(await asked(body)).toMatchObject({ kind: 'failed' });
  });

  it.each([{ price: '0' }, { origQty: '0' }, { price: '0', origQty: '0' }])(
    'an order of %j does not say what was asked for, neither price nor quantity',
    async (zero) => {
      const answer = await asked(order(zero));
      expect(answer).toMatchObject(reported({ type: 'LIMIT' }));
      expect(answer).not.toMatchObject({ value: { price: expect.anything() } });
      expect(answer).not.toMatchObject({ value: { quantity: expect.anything() } });
    },
  );

  it.each<[string, unknown]>([
    ['bare', [order()]],
    ['under list', { list: [order()] }],
    ['in an envelope', { code: '0', msg: 'suc', data: [order()] }],
    ['in an envelope with a number', { code: 0, msg: '成功', succ: true, data: { list: [order()] } }],
    ['in an envelope of 200', { code: '200', data: [order()] }],
  ])('a list comes %s', async (_, body) => {
    answering(() => body);
    expect(await open().exchange.orders.openOrders('BTCUSDT')).toMatchObject({ value: { rows: [{ orderId }] } });
  });
});

it('the uid that some deployments show beside the balances is told, whatever its type', async () => {
  const told: string[] = [];
  const { exchange: x } = open({ uidSeen: (uid) => void told.push(uid) });
  const balances = [{ asset: 'BTC', free: '1', locked: '0' }];
  for (const uid of [10001, '10001', undefined, null, 'x y', {}]) {
    answering(() => ({ uid, balances }));
    expect(await x.account.balances()).toMatchObject({ kind: 'ok' });
  }
  expect(told).toEqual(['10001', '10001']);
});

describe('an answer of bad bytes', () => {
  const balances = '{"balances":[{"asset":"BTC","free":"1","locked":"0"}]}';
  const bytes = (body: Buffer, headers: Readonly<Record<string, string>> = {}): void =>
    answering((_, response) => void response.writeHead(200, headers).end(body));
  it.each<[string, Buffer, Readonly<Record<string, string>>]>([
    ['a gzip bomb', gzipSync(Buffer.alloc(50 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' }],
    ['packed although nobody asked for it', gzipSync(balances), { 'content-encoding': 'gzip' }],
    ['above eight MiB', Buffer.alloc(9 * 1024 * 1024, ' '), {}],
    ['invalid UTF-8 alone', Buffer.from([0xff, 0xfe, 0xc3]), {}],
    ['deeper than the stack', Buffer.from('['.repeat(2_000_000)), {}],
    ['a prototype', Buffer.from('{"__proto__":{"balances":[]}}'), {}],
  ])('%s is no answer, and the next one is taken', async (_, body, headers) => {
    const { exchange: x } = open();
    bytes(body, headers);
    expect(await x.account.balances()).toMatchObject({ kind: 'failed' });
    expect(({} as { balances?: unknown }).balances).toBeUndefined();
    bytes(Buffer.from(balances));
    expect(await x.account.balances()).toMatchObject({ kind: 'ok', value: [{ asset: 'BTC' }] });
  });

  it('invalid UTF-8 within a name does not become another asset’s', async () => {
    const spoilt = Buffer.from(balances);
    spoilt[spoilt.indexOf('BTC') + 1] = 0xff;
    bytes(spoilt);
    const answer = await open().exchange.account.balances();
    expect(answer.kind === 'ok' ? answer.value.map(({ asset }) => asset) : []).not.toContain('BTC');
  });
});

describe('an answer without its list', () => {
  it.each<[string, (x: ReturnType<typeof open>['exchange']) => Promise<unknown>]>([
    ['open orders', (x) => x.orders.openOrders('BTCUSDT')],
    ['own trades', (x) => x.orders.tradesSince('BTCUSDT', undefined)],
    ['an order', (x) => x.orders.query(ref)],
    ['balances', (x) => x.account.balances()],
    ['klines', (x) => x.market.klines('BTCUSDT', '1min')],
    ['public trades', (x) => x.market.trades('BTCUSDT')],
    ['withdrawals', (x) => x.withdrawals.query({})],
    ['open data', (x) => x.openData.trades('BTC', 'USDT')],
    ['a batch of cancels', (x) => x.bulk.cancelMany('BTCUSDT', [orderId])],
  ])('of %s is no answer: it is counted, and logged with a sample at most once a minute', async (_, ask) => {
    answering(() => ({ surprise: 1 }));
    const { exchange: x, lines } = open();
    for (let times = 0; times < 3; times++) await ask(x);
    expect(x.counters()).toMatchObject({ 'unreadable answer': 3 });
    const said = lines.map((line) => JSON.stringify(line)).filter((line) => line.includes('unreadable answer'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('surprise');
  });
});

describe('2. ids beyond 2^53', () => {
  it.each([
    ['a number', `{"orderId":${orderId}`],
    ['a text', `{"orderId":"${orderId}"`],
    ['a list of one', `{"orderId":[${orderId}]`],
    ['a list of one text', `{"orderId":["${orderId}"]`],
    ['orderIdString beside a rounded number', `{"orderId":1938321163093077800,"orderIdString":"${orderId}"`],
    ['orderIdString left empty', `{"orderId":${orderId},"orderIdString":""`],
  ])('come as %s and keep their digits', async (_, head) => {
    const rest = '"symbol":"btcusdt","executedQty":0E-16,"status":"NEW_","type":"LIMIT","side":"SELL"}';
    expect(await asked(`${head},${rest}`)).toMatchObject(reported({ orderId, status: 'NEW' }));
  });
});

describe('3. statuses', () => {
  const words: Readonly<Record<string, readonly unknown[]>> = {
    NEW: ['NEW', 'new', 'New Order', 'NEW_', 'INIT', 0, '0', 1, 'something else', null, '__proto__', 99],
    PARTIALLY_FILLED: ['PARTIALLY_FILLED', 'Partially Filled', 'PART_FILLED', 3],
    FILLED: ['FILLED', 'Filled', 2],
    CANCELING: ['PENDING_CANCEL', 'To be Cancelled', 5],
    CANCELED: [
      'CANCELED',
      'CANCELLED',
      'Cancelled',
      'PARTIALLY_FILLED_CANCEL',
      'Partially Filled/Cancelled',
      'EXPIRED',
      4,
      6,
    ],
    REJECTED: ['REJECTED', 'rejected'],
  };
  it.each(Object.entries(words))(
    '%s is meant by each of its spellings; what is unknown is open',
    (status, spellings) => {
      for (const spelling of spellings) expect([spelling, statusOf(spelling, () => {})]).toEqual([spelling, status]);
    },
  );

  it('what was executed decides whether an order is filled, not the word; what is unknown is counted', async () => {
    expect(await asked(order({ status: 'FILLED', executedQty: '0' }))).toMatchObject(reported({ status: 'NEW' }));
    expect(await asked(order({ status: 'FILLED', executedQty: '0.00125' }))).toMatchObject(
      reported({ status: 'FILLED' }),
    );
    const { exchange: x } = open();
    answering(() => order({ status: 'SUSPENDED' }));
    expect(await x.orders.query(ref)).toMatchObject(reported({ status: 'NEW' }));
    expect(x.counters()).toMatchObject({ 'unknown order status': 1 });
  });
});

describe('4. a cancel', () => {
  it.each([
    ['asynchronous', { symbol: 'BHTUSDT', clientOrderId: '0', orderId, status: 'PENDING_CANCEL' }],
    ['done at once', { symbol: 'BHTUSDT', orderId: [orderId], status: 'CANCELED' }],
    ['of an order that was filled meanwhile', order({ status: 'FILLED', executedQty: '0.00125' })],
    ['without anything', {}],
  ])('is only requested, whatever the answer says: %s', async (_, body) => {
    answering(() => body);
    expect(await open().exchange.orders.cancel(ref)).toEqual({ kind: 'requested' });
  });

  it('of a dead order is refused or requested, and a fill after it is still read', async () => {
    answering(() => ({ code: -2013, msg: 'Order does not exist.' }));
    expect(await open().exchange.orders.cancel(ref)).toMatchObject({ kind: 'refused', code: '-2013' });
    expect(await asked(order({ status: 'CANCELED', executedQty: '0.0005' }))).toMatchObject(
      reported({ status: 'CANCELED', executed: 50n as never }),
    );
  });
});

describe('5. an unknown outcome', () => {
  it.each<[string, number, unknown]>([
    ['-1006', 200, { code: -1006, msg: 'An unexpected response was received' }],
    ['-1007', 200, { code: '-1007', msg: 'Timeout waiting for response from backend server' }],
    ['500', 500, {}],
    ['504', 504, '<html>504 Gateway Time-out</html>'],
    ['429', 429, {}],
    ['a body cut short', 200, '{"orderId":19383'],
  ])('is not a failure, and nothing is sent again: %s', async (_, status, body) => {
    answering((_request, response) => {
      response.statusCode = status;
      return body;
    });
    const { exchange: x } = open();
    expect(await x.orders.prepare(intent(), btcusdt).send(letGo)).toMatchObject({ kind: 'unknown' });
    expect(at.stub.requests).toHaveLength(1);
  });
});

describe('6. a MARKET BUY', () => {
  it('asks for and reports amounts of quote; partly filled and cancelled is a normal end', async () => {
    answering(() =>
      order({ type: 'MARKET', origQty: '25.5', executedQty: '0.00029', status: 'Partially Filled/Cancelled' }),
    );
    const { exchange: x } = open();
    const market = intent({ type: 'MARKET', volume: { amount: units('25.5') } });
    await x.orders.prepare(market, btcusdt).send(letGo);
    expect(at.stub.requests[0]?.body).toContain('"volume":25.5');
    expect(await x.orders.query(ref)).toMatchObject(reported({ status: 'CANCELED', executed: 29n as never }));
  });
});

describe('7. klines', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  const row = (minute: number, seconds = false) => {
    const time = noon + minute * 60_000;
    return { idx: seconds ? time / 1_000 : time, open: '1', high: '2', low: '1', close: '2', vol: '6.6E-4' };
  };
  it.each<[string, unknown]>([
    ['newest first', [row(0), row(-1), row(-2)]],
    ['oldest first', [row(-2), row(-1), row(0)]],
    ['in seconds', [row(0, true), row(-1, true), row(-2, true)]],
    ['with a repeat', [row(0), row(-1), row(-1), row(-2)]],
  ])('come %s, and only closed ones are handed on', async (_, body) => {
    at.stub.answer = () => body;
    const { exchange: x } = open({ clock: new ScaledClock(1, noon + 10_000) });
    const answer = await x.feed.history('BTCUSDT', '1min', 2);
    expect(answer).toMatchObject({ value: [{ openTime: noon - 120_000 }, { openTime: noon - 60_000 }] });
  });

  it('none at all is suspicious', async () => {
    at.stub.answer = () => [];
    expect(await open().exchange.feed.history('BTCUSDT', '60min', 2)).toMatchObject({ kind: 'failed' });
  });
});

describe('8. a socket that acknowledges nothing and reports no errors', () => {
  it('is confirmed by data, subscribed again without it, and told of loudly', async () => {
    const on = desk();
    on.feed.ticker('NOPEUSDT').subscribe();
    on.last().open();
    on.last().push({ event_rep: 'subed', channel: 'market_nopeusdt_ticker', status: 'ok', ts: start });
    // A quiet market sends pings, so that the socket itself is alive.
    for (const second of [10, 20]) {
      await on.to(second * 1_000);
      on.last().push({ ping: second });
    }
    expect(on.last().sent.filter((text) => text.includes('"sub"')).length).toBeGreaterThanOrEqual(3);
    expect(on.seen()).toMatchObject({ 'subscription without data': 1 });
    expect(on.lines.join()).toContain('no data since the subscription');
  });
});

describe('9. frames and pings', () => {
  it.each([[1_790_145_583], [1_790_145_583_123], ['1790145583']])('a ping of %j is echoed unchanged', (ping) => {
    const on = desk();
    on.feed.ticker('BTCUSDT').subscribe();
    on.last().open();
    on.last().push({ ping });
    expect(on.last().sent.at(-1)).toBe(JSON.stringify({ pong: ping }));
    on.last().bytes(Buffer.from(JSON.stringify({ ts: 'x', ping })));
    expect(on.last().sent.slice(-2)).toEqual(Array(2).fill(JSON.stringify({ pong: ping })));
  });

  it('no ping of our own is ever sent, and life is judged by data: pings alone do not keep a socket', async () => {
    const on = desk();
    on.feed.ticker('BTCUSDT').subscribe();
    const first = on.last();
    first.open();
    for (let second = 10; second <= 70; second += 10) {
      await on.to(second * 1_000);
      if (!first.closedByClient) first.push({ ping: second });
    }
    expect(first.closedByClient).toBe(true);
    expect(on.ends.flatMap(({ sent }) => sent).some((text) => text.includes('"ping"'))).toBe(false);
  });

  it('each book takes the place of the one before', () => {
    const on = desk();
    const books: unknown[] = [];
    on.feed.depth('BTCUSDT').subscribe(({ bids, asks }) => books.push([bids, asks]));
    on.last().open();
    const channel = 'market_btcusdt_depth_step0';
    on.last().push({
      channel,
      ts: start,
      tick: {
        buys: [
          [1, 1],
          ['0.5', '1'],
        ],
        asks: [[2, 1]],
      },
    });
    on.last().push({ channel, ts: `${start + 1}`, tick: { bids: [['1', '2', '2', '2']], asks: [['3', 1]] } });
    expect(books).toEqual([
      [
        [
          [1, 1],
          [0.5, 1],
        ],
        [[2, 1]],
      ],
      [[[1, 2]], [[3, 1]]],
    ]);
  });
});

describe('10. numbers', () => {
  it('come as texts, in scientific notation, as null or not at all', async () => {
    at.stub.answer = () => '{"time":null,"bids":[["3.9E0",6.6E-4]],"asks":[[4,"1.2E1",99]]}';
    const { exchange: x } = open();
    expect(await x.market.depth('BTCUSDT')).toMatchObject({ value: { bids: [[3.9, 0.00066]], asks: [[4, 12]] } });
    at.stub.answer = () =>
      '{"symbols":[{"symbol":"BTC/USDT","baseAsset":"btc","quoteAsset":"usdt","pricePrecision":"2","quantityPrecision":5,"limitVolumeMin":1.0E-5,"marketBuyMin":0E-16}]}';
    expect(await x.instruments()).toMatchObject({
      value: [{ symbol: 'BTCUSDT', base: 'BTC', minQuantity: 1n, minNotional: 0n }],
    });
  });

  it('that no amount can be are refused: nobody guesses about money', async () => {
    for (const executedQty of ['1e999999999', `${'9'.repeat(50)}`, 'NaN', '0x1', '1,5', ' ', '-1', '0.000001'])
      expect([executedQty, await asked(order({ executedQty }))]).toMatchObject([executedQty, { kind: 'failed' }]);
  });
});

describe('the signed window', () => {
  it('is spelled recvWindow on both accounts, as every sample body is', async () => {
    for (const account of ['spot', 'margin'] as const) {
      await open({ account }).exchange.orders.prepare(intent(), btcusdt).send(letGo);
      expect(at.stub.requests.at(-1)?.body).toContain('"recvWindow":2000');
    }
  });
});
