import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { firstValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SeenRequest } from '../../../test/kit/exchange-stub.ts';
import { stubbed } from '../../../test/kit/exchange-stub.ts';
import { ScaledClock } from '../../clock/clock.ts';
import { units } from '../../domain/money.ts';
import { realWs } from './market/ws.ts';
import { costOf, endpoints, tradeEndpoints } from './rest/endpoints.ts';
import type { HttpReply } from './rest/http.ts';

const at = stubbed();
const { open } = at;

describe('instruments', () => {
  it('are read with their minima, which may be missing, zero or scientific; what cannot be read is left out and counted', async () => {
    at.stub.answer = () =>
      `{"symbols":[
        {"symbol":"btcusdt","baseAsset":"BTC","quoteAsset":"USDT","pricePrecision":2,"quantityPrecision":5,
         "limitVolumeMin":0.0000100000000000,"limitPriceMin":0.01,"limitAmountMin":1,"marketBuyMin":5.0000000000000000,"marketSellMin":2E-5},
        {"symbol":"ethusdt","baseAsset":"eth","quoteAsset":"usdt","pricePrecision":"2","quantityPrecision":"4"},
        {"symbol":"badusdt","baseAsset":"BAD","quoteAsset":"USDT","pricePrecision":12,"quantityPrecision":9},
        {"symbol":"oddusdt","pricePrecision":2,"quantityPrecision":4}]}`;
    const { exchange } = open({ apiSecret: undefined });
    expect(await exchange.instruments()).toEqual({
      kind: 'ok',
      value: [
        {
          symbol: 'BTCUSDT',
          base: 'BTC',
          quote: 'USDT',
          pricePrecision: 2,
          quantityPrecision: 5,
          minQuantity: 2n,
          minNotional: units('5'),
        },
        {
          symbol: 'ETHUSDT',
          base: 'ETH',
          quote: 'USDT',
          pricePrecision: 2,
          quantityPrecision: 4,
          minQuantity: 0n,
          minNotional: 0n,
        },
      ],
    });
    expect(exchange.counters()).toEqual({ 'unreadable symbol': 2 });
    expect(at.stub.requests[0]?.headers).not.toHaveProperty('x-ch-sign');
  });

  it.each([{}, { symbols: [] }, { code: '0', data: null }])('fail where the answer is %j', async (body) => {
    at.stub.answer = () => body;
    expect(await open().exchange.instruments()).toMatchObject({ kind: 'failed' });
  });
});

it('signs what is left of the path where a gateway strips its start', async () => {
  at.stub.answer = () => ({ balances: [] });
  const { exchange } = open({ restUrl: `${at.stub.url}/spot/open`, stripPrefix: '/spot/open' });
  expect(await exchange.account.balances()).toMatchObject({ kind: 'ok' });
  const [{ headers, target } = { headers: {} as SeenRequest['headers'], target: '' }] = at.stub.requests;
  expect(target).toBe('/spot/open/sapi/v1/account');
  const signed = `${String(headers['x-ch-ts'])}GET/sapi/v1/account`;
  expect(headers['x-ch-sign']).toBe(createHmac('sha256', 'the-secret').update(signed).digest('hex'));
});

describe('an answer that quotes us', () => {
  // A key as short as the stub's is part of many a word.
  const options = { apiKey: 'BTC', apiSecret: 'the-secret' };

  it('is read as it came, and shown with key and secret struck out', async () => {
    const shown: HttpReply[] = [];
    at.stub.answer = () => ({ balances: [{ asset: 'BTC', free: '1', locked: '0' }] });
    const { exchange, lines } = open({ ...options, observe: (answer) => void shown.push(answer) });
    expect(await exchange.account.balances()).toMatchObject({ value: [{ asset: 'BTC' }] });
    expect(shown[0]).toMatchObject({ body: expect.not.stringContaining('BTC') });
    at.stub.answer = () => ({ code: -1022, msg: 'the-secret gives no such signature' });
    const refused = await exchange.account.balances();
    expect(refused).toMatchObject({ code: '-1022', cause: expect.stringContaining('[struck out] gives') });
    at.stub.answer = () => ({ symbols: [{ symbol: 'the-secret' }] });
    await exchange.instruments();
    expect(lines).not.toEqual([]);
    expect(JSON.stringify(lines)).not.toContain('the-secret');
    expect(exchange.redact('BTC, the-secret')).toBe('[struck out], [struck out]');
  });
});

describe('answers that nobody expects', () => {
  it.each<[string, number, unknown, string | undefined]>([
    ['a page of a gateway', 200, '<html></html>', 'unclear answer'],
    ['nothing', 200, 'null', 'unreadable answer'],
    ['an error of the server', 502, '<html></html>', 'unclear answer'],
    ['a code that nobody knows', 200, { code: 987_654, msg: '?' }, 'unknown error code'],
    ['a known code', 400, { code: -1121, msg: 'Invalid symbol.' }, undefined],
    ['a limit', 429, 'slow down', undefined],
  ])('%s is counted as what it is', async (_, status, body, kind) => {
    at.stub.answer = (__, response) => {
      response.statusCode = status;
      return body;
    };
    const { exchange } = open();
    expect(await exchange.market.ticker('BTCUSDT')).toMatchObject({ kind: 'failed' });
    expect(exchange.counters()).toEqual(kind === undefined ? {} : { [kind]: 1 });
  });
});

describe('balances', () => {
  it('keep all their decimals', async () => {
    at.stub.answer = () =>
      '{"balances":[{"asset":"btc","free":"4723846.8920812912345678","locked":0E-16},{"asset":"USDT","free":123456789012.1234567890123456,"locked":0}]}';
    expect(await open().exchange.account.balances()).toEqual({
      kind: 'ok',
      value: [
        { asset: 'BTC', free: units('4723846.8920812912345678'), locked: 0n },
        { asset: 'USDT', free: units('123456789012.1234567890123456'), locked: 0n },
      ],
    });
  });

  it.each<[string, unknown]>([
    ['no list', {}],
    ['null', { code: 0, data: null }],
    ['a null list', { balances: null }],
    ['an amount that is none', { balances: [{ asset: 'BTC', free: 'x', locked: 0 }] }],
    ['an amount left out', { balances: [{ asset: 'BTC', free: 1 }] }],
    ['too many decimals', { balances: [{ asset: 'BTC', free: '0.0000000000000000001', locked: 0 }] }],
  ])('fail as a whole for %s', async (_, body) => {
    at.stub.answer = () => body;
    expect(await open().exchange.account.balances()).toMatchObject({ kind: 'failed' });
  });
});

/** How far two clocks are apart, ms: the least of some readings, because the machine may stop between the two of one. */
const apart = (one: ScaledClock, other: ScaledClock): number =>
  Math.min(...Array.from({ length: 50 }, () => Math.abs(one.now() - other.now())));

describe('the time', () => {
  it('is set by the exchange’s, also of another epoch and at another speed', async () => {
    for (const speed of [1, 60]) {
      const theirs = new ScaledClock(speed, Date.UTC(2020, 2, 12));
      const clock = new ScaledClock(speed);
      at.stub.answer = () => ({ timezone: '格林尼治标准时间', serverTime: theirs.now() });
      const sync = await open({ clock }).exchange.syncTime();
      expect(sync.kind).toBe('ok');
      if (sync.kind !== 'ok') return;
      expect(apart(clock, theirs)).toBeLessThanOrEqual(sync.value.uncertaintyMs + 2 * speed);
      expect(sync.value.offsetMs).toBeLessThan(-1e11);
      expect(sync.value.uncertaintyMs).toBeLessThan(500 * speed);
    }
  });

  it('is taken in the middle of the round trip, so that its error stays within half of it', async () => {
    const theirs = new ScaledClock(60, 1_600_000_000_000);
    const clock = new ScaledClock(60, 1_600_000_000_000);
    // The slow part comes after the time was read: the worst that can be.
    at.stub.answer = (_, response) => {
      const text = JSON.stringify({ serverTime: theirs.now() });
      void theirs.sleep(60 * 15).then(() => response.end(text));
    };
    const sync = await open({ clock }).exchange.syncTime();
    const uncertaintyMs = sync.kind === 'ok' ? sync.value.uncertaintyMs : 0;
    expect(uncertaintyMs).toBeGreaterThan(60 * 7);
    expect(apart(clock, theirs)).toBeLessThanOrEqual(uncertaintyMs + 5);
  });

  it('that cannot be read leaves the clock alone', async () => {
    const clock = new ScaledClock(1, 1_000_000);
    at.stub.answer = () => ({ timezone: 'GMT' });
    expect(await open({ clock }).exchange.syncTime()).toMatchObject({ kind: 'failed' });
    expect(clock.now()).toBeLessThan(1_100_000);
  });
});

describe('the table of endpoints', () => {
  it('gives every operation its weight and frequency as the specification does (§4, §8)', () => {
    const plain = Object.values(endpoints).filter(({ path }) => !path.includes('rder') && !path.includes('ancel'));
    expect(plain.map(({ name, weight }) => `${name} ${weight}`)).toEqual([
      'ping 1',
      'time 1',
      'symbols 1',
      'depth 5',
      'ticker 5',
      'trades 5',
      'klines 1',
      'own trades 1',
      'account 1',
      'margin own trades 1',
      'withdrawal query 100',
      'open trades 5',
      'open ticker 5',
      'open asset 5',
      'open all tickers 5',
    ]);
    const { orderTest, batchCreate, batchCancel } = endpoints;
    expect([orderTest, batchCreate, batchCancel].map(({ weight }) => weight)).toEqual([1, 10, 10]);
    const costs = (account: 'spot' | 'margin') =>
      (['create', 'query', 'cancel', 'openOrders', 'myTrades'] as const)
        .map((operation) => tradeEndpoints[account][operation])
        .map((one) => [one.path, one.weight, costOf(one).frequency?.max]);
    expect(costs('spot')).toEqual([
      ['/sapi/v1/order', 5, 100],
      ['/sapi/v1/order', 1, undefined],
      ['/sapi/v1/cancel', 5, undefined],
      ['/sapi/v1/openOrders', 1, undefined],
      ['/sapi/v1/myTrades', 1, undefined],
    ]);
    expect(costs('margin')).toEqual([
      ['/sapi/v1/margin/order', 5, 100],
      ['/sapi/v1/margin/order', 5, 20],
      ['/sapi/v1/margin/cancel', 5, 100],
      ['/sapi/v1/margin/openOrders', 5, 20],
      ['/sapi/v1/margin/myTrades', 1, undefined],
    ]);
  });
});

describe('over a real socket', () => {
  async function serve(onSocket: (socket: WebSocket) => void): Promise<string> {
    const server = new WebSocketServer({ server: at.stub.server, path: '/kline-api/ws' });
    server.on('connection', onSocket);
    onTestFinished(() => server.close());
    return `${at.stub.url.replace('http', 'ws')}/kline-api/ws`;
  }

  it('books arrive in gzip and as text, and pings are answered', async () => {
    const received: string[] = [];
    const wsUrl = await serve((socket) => {
      socket.on('message', (data: Buffer) => {
        received.push(data.toString());
        if (received.length === 1) socket.send(gzipSync('{"ping":1790145583}'));
        if (received.length !== 2) return;
        const book = { channel: 'market_btcusdt_depth_step0', tick: { asks: [[2, 1]], buys: [[1, 1]] }, ts: 1 };
        socket.send(gzipSync(JSON.stringify({ ...book, ts: 1_790_145_583_000 })));
        socket.send(JSON.stringify({ ...book, ts: 1_790_145_584_000 }));
      });
    });
    const { exchange } = open({ wsUrl, clock: new ScaledClock(1, 1_790_145_590_000) });
    const books = await firstValueFrom(exchange.feed.depth('BTCUSDT').pipe(take(2), toArray()));
    expect(books.map(({ time }) => time)).toEqual([1_790_145_583_000, 1_790_145_584_000]);
    expect(received[0]).toContain('"market_btcusdt_depth_step0"');
    expect(received[1]).toBe('{"pong":1790145583}');
  });

  const closed = (url: string, onOpen = (): void => {}): Promise<string> =>
    new Promise((resolve) => {
      realWs(url, { opened: onOpen, frame: () => {}, closed: resolve });
    });

  it('every end is told once, with its cause', async () => {
    const leaving = await serve((socket) => socket.close(1000, 'Bye'));
    expect(await closed(leaving)).toBe('closed with code 1000 Bye');
    expect(await closed(leaving.replace('/kline-api', '/nowhere'))).toMatch(/400|404/);
    expect(await closed('ws://127.0.0.1:1/')).toContain('ECONNREFUSED');
  });

  it('a message above the limit ends the connection', async () => {
    const url = await serve((socket) => socket.send(Buffer.alloc(2_000_000)));
    expect(await closed(url)).toContain('Max payload size exceeded');
  });
});
