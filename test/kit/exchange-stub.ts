/** For the tests of this folder: local servers and simulated wires that answer what the test says, and clients set against them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach } from 'vitest';
import { type Clock, ScaledClock } from '../../src/clock/clock.ts';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { lots, ticks } from '../../src/domain/money.ts';
import type { Intent } from '../../src/domain/order.ts';
import { counters } from '../../src/venue/exchange/counters.ts';
import { type ExchangeOptions, exchange } from '../../src/venue/exchange/exchange.ts';
import { feed } from '../../src/venue/exchange/market/feed.ts';
import { klineHistory } from '../../src/venue/exchange/market/kline-history.ts';
import { Sockets } from '../../src/venue/exchange/market/socket.ts';
import type { Ws, WsEvents } from '../../src/venue/exchange/market/ws.ts';
import type { Http } from '../../src/venue/exchange/rest/http.ts';
import { rest } from '../../src/venue/exchange/rest/rest.ts';
import type { Gate, Lane, LimitNotice, RequestCost } from '../../src/venue/venue.ts';

export interface SeenRequest {
  readonly method: string;
  /** Path and query as they stood in the request line. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What to answer: a body (objects become JSON), or the response itself to do anything with. */
export type Answerer = (request: SeenRequest, response: ServerResponse) => unknown;

export interface StubServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  readonly server: Server;
  answer: Answerer;
  readonly close: () => Promise<void>;
}

export async function stubServer(answer: Answerer = () => ({})): Promise<StubServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const seen = { method: request.method ?? '', target: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      const said = stub.answer(seen, response);
      if (said !== undefined) response.end(typeof said === 'string' ? said : JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: StubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    server,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stub;
}

/** An exchange client against a URL, with what it asked of the budget and what it received of limits. */
export function client(url: string, given: Partial<ExchangeOptions> = {}) {
  const spent: { lane: Lane; cost: RequestCost; until: number | undefined }[] = [];
  const notices: LimitNotice[] = [];
  const lines: unknown[] = [];
  const write = (facts: object, message: string): void => void lines.push({ facts, message });
  const made = exchange({
    restUrl: url,
    wsUrl: 'ws://127.0.0.1:1/kline-api/ws',
    apiKey: 'the-key',
    apiSecret: 'the-secret',
    account: 'spot',
    clock: new ScaledClock(),
    rng: () => 0.5,
    spend: (lane, cost, until) => {
      spent.push({ lane, cost, until });
      return Promise.resolve(true);
    },
    notice: (notice) => void notices.push(notice),
    log: { warn: write, info: write, debug: write },
    ...given,
  });
  return { exchange: made, spent, notices, lines };
}

export const btcusdt = instrument({
  symbol: 'BTCUSDT',
  base: 'BTC',
  quote: 'USDT',
  pricePrecision: 2,
  quantityPrecision: 5,
});

/** A gate that stands open. */
export const letGo: Gate = Promise.resolve(undefined);

export const intent = (given: Partial<Intent> = {}): Intent => ({
  clientOrderId: 'saaaaabbbbcccdddddddd12345678',
  decision: 1,
  strategy: 'sma',
  role: 'main',
  account: 'spot',
  symbol: 'BTCUSDT',
  side: 'BUY',
  type: 'LIMIT',
  volume: { lots: lots('0.00125', btcusdt) },
  price: ticks('86650.65', btcusdt),
  expectedLots: lots('0.00125', btcusdt),
  expiresAt: Number.MAX_SAFE_INTEGER,
  purpose: 'enter',
  reason: 'because',
  createdAt: 0,
  ...given,
});

/** A simulated HTTP wire: what `answer` gives is the JSON of a 200, an Error is a request that failed on its way. */
export function memoryHttp(answer: (url: URL) => unknown): Http & { readonly urls: URL[] } {
  const urls: URL[] = [];
  return {
    urls,
    async send({ url }, gate) {
      const against = await gate;
      if (against !== undefined) return { kind: 'failed', cause: against, written: false };
      urls.push(url);
      const said = answer(url);
      return said instanceof Error
        ? { kind: 'failed', cause: said.message, written: true }
        : { kind: 'reply', status: 200, retryAfter: undefined, body: JSON.stringify(said) };
    },
    close() {},
  };
}

/** One connection of a simulated WebSocket wire, from the exchange's end. */
export interface WireEnd {
  readonly sent: string[];
  closedByClient: boolean;
  open(): void;
  /** A frame as most exchanges of this kind send it: JSON in gzip. */
  push(message: object): void;
  bytes(frame: Buffer): void;
  close(cause: string): void;
}

export function memoryWs(): { readonly ws: Ws; readonly ends: WireEnd[]; readonly last: () => WireEnd } {
  const ends: WireEnd[] = [];
  const ws: Ws = (_url, events: WsEvents) => {
    const end: WireEnd = {
      sent: [],
      closedByClient: false,
      open: () => events.opened(),
      push: (message) => events.frame(gzipSync(JSON.stringify(message))),
      bytes: (frame) => events.frame(frame),
      close: (cause) => events.closed(cause),
    };
    ends.push(end);
    return {
      send: (text) => void end.sent.push(text),
      close: () => {
        end.closedByClient = true;
      },
    };
  };
  const last = (): WireEnd => {
    const end = ends.at(-1);
    if (end === undefined) throw new Error('nothing has connected yet');
    return end;
  };
  return { ws, ends, last };
}

/** The market feed on simulated wires. */
export function memoryFeed(clock: Clock, answer: (url: URL) => unknown = () => []) {
  const wire = memoryWs();
  const http = memoryHttp(answer);
  const lines: string[] = [];
  const write = (_: object, message: string): void => void lines.push(message);
  const log = { warn: write, info: write, debug: write };
  const { count, seen } = counters(clock, log);
  const sockets = new Sockets({ url: 'ws://x', ws: wire.ws, clock, rng: () => 1, count, log });
  const spend = (): Promise<boolean> => Promise.resolve(true);
  const caller = rest({ restUrl: 'http://x', http, clock, spend, notice: () => {}, signer: undefined });
  const history = klineHistory(caller, clock, count);
  return { ...wire, http, lines, seen, sockets, feed: feed({ sockets, history, clock, count }) };
}

/** Does it, and throws when that takes longer (real ms), even where it would never end by itself. */
export function inTime(ms: number, act: () => void): void {
  runInNewContext('act()', { act }, { timeout: ms });
}

/** When the clock of `desk` starts, UTC ms. */
export const start = Date.UTC(2026, 0, 1, 12);

/** The feed from `start` on, and everything that it emits, written down. */
export function desk(answer?: (url: URL) => unknown, clock = new SimClock(start)) {
  const made = memoryFeed(clock, answer);
  const received: unknown[] = [];
  const gaps: object[] = [];
  made.feed.gaps.subscribe((gap) => gaps.push({ ...gap, from: gap.from - start, to: gap.to - start }));
  return { ...made, clock, received, gaps, to: (ms: number) => clock.advanceTo(start + ms) };
}

export const tickerFrame = {
  channel: 'market_btcusdt_ticker',
  tick: { open: 1, high: 1, low: 1, close: 1, vol: 1 },
  ts: start,
};

/** The same, sent at `ms` after `start`, as most exchanges say it: in whole seconds. */
export const tickerAt = (ms: number) => ({ ...tickerFrame, ts: start + Math.floor(ms / 1_000) * 1_000 });

/** It was set by an exchange whose own clock was ahead; timers keep their length, as those of a machine do. */
export class AheadClock extends SimClock {
  aheadMs = 3_000;

  override now(): number {
    return super.now() + this.aheadMs;
  }

  override at(time: number, fn: () => void): () => void {
    return super.at(time - this.aheadMs, fn);
  }
}

type Client = ReturnType<typeof client>;

export interface Stubbed {
  /** Of the test that runs. */
  readonly stub: StubServer;
  readonly open: (given?: Parameters<typeof client>[1]) => Client;
  /** Answers `/symbols` itself and everything else as told. */
  readonly answering: (answer: Answerer) => void;
}

const symbols = {
  symbols: [{ symbol: 'btcusdt', baseAsset: 'BTC', quoteAsset: 'USDT', pricePrecision: 2, quantityPrecision: 5 }],
};
/** An order's id at the exchange: beyond 2^53, as they are. */
export const orderId = '1938321163093077686';

export function stubbed(): Stubbed {
  let stub: StubServer | undefined;
  const made: Client[] = [];
  const running = (): StubServer => {
    if (stub === undefined) throw new Error('the stub runs while a test does');
    return stub;
  };
  beforeEach(async () => {
    stub = await stubServer();
  });
  afterEach(async () => {
    for (const { exchange } of made.splice(0)) exchange.close();
    await stub?.close();
  });
  return {
    get stub() {
      return running();
    },
    open(given) {
      const one = client(running().url, given);
      made.push(one);
      return one;
    },
    answering(answer) {
      running().answer = (request, response) =>
        request.target.startsWith('/sapi/v1/symbols') ? symbols : answer(request, response);
    },
  };
}
