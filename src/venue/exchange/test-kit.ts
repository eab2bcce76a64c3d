/** For the tests of this folder: a local HTTP server that answers what the test says, and a client set against it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ScaledClock } from '../../clock/clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { lots, ticks } from '../../domain/money.ts';
import type { Intent } from '../../domain/order.ts';
import type { Lane, LimitNotice, RequestCost } from '../venue.ts';
import { type ExchangeOptions, exchange } from './exchange.ts';

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
  close(): Promise<void>;
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

/** An exchange client against a URL, with what it asked of the budget and what it heard of limits. */
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

export const intent = (given: Partial<Intent> = {}): Intent => ({
  clientOrderId: 'saaaaabbbbcccdddddddd12345678',
  strategy: 'sma',
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
