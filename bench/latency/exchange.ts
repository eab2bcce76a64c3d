/**
 * A bare exchange in a thread of its own for `bench/latency.ts`: it pushes a trade when told to, takes the time when the first
 * byte of an order arrives, and refuses every order, so that each one is a fresh start.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';

const now = (): number => Number(process.hrtime.bigint());
const klines = Array.from({ length: 300 }, (_, index) => ({
  idx: (Math.floor(Date.now() / 60_000) - index - 1) * 60_000,
  open: '100',
  high: '101',
  low: '99',
  close: '100',
  vol: '5',
}));
const symbol = { symbol: 'btcusdt', baseAsset: 'BTC', quoteAsset: 'USDT', pricePrecision: 2, quantityPrecision: 5 };
const replies: Readonly<Record<string, () => unknown>> = {
  '/sapi/v1/time': () => ({ timezone: 'UTC', serverTime: Date.now() }),
  '/sapi/v1/symbols': () => ({ symbols: [symbol] }),
  '/sapi/v1/account': () => ({ balances: [{ asset: 'USDT', free: '1000000', locked: '0' }] }),
  '/sapi/v1/klines': () => klines,
  '/sapi/v1/openOrders': () => [],
  '/sapi/v1/myTrades': () => [],
  '/sapi/v1/order': () => ({ code: -2017, msg: 'Insufficient balance' }),
};

let waiting: ((at: number) => void) | undefined;
const server = createServer((request, response) => {
  const path = (request.url ?? '').split('?')[0] ?? '';
  request.resume();
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(replies[path]?.() ?? {}));
  });
});
server.on('connection', (socket) => {
  socket.prependListener('data', (chunk: Buffer) => {
    if (chunk.subarray(0, 20).toString('latin1') !== 'POST /sapi/v1/order ') return;
    waiting?.(now());
    waiting = undefined;
  });
});

let client: WebSocket | undefined;
let price = 100;
const sockets = new WebSocketServer({ server });
const frame = (channel: string, tick: unknown): Buffer =>
  gzipSync(JSON.stringify({ event_rep: '', channel, data: null, tick, ts: Date.now(), status: 'ok' }));
const pushBook = (): void =>
  client?.send(frame('market_btcusdt_depth_step0', { asks: [[100.5, 10]], buys: [[99.5, 10]] }));
sockets.on('connection', (socket) => {
  client = socket;
  socket.on('message', (data) => {
    const { params } = JSON.parse((data as Buffer).toString()) as { params?: { channel?: string } };
    const channel = params?.channel ?? '';
    if (channel.endsWith('depth_step0')) pushBook();
    if (channel.endsWith('trade_ticker')) trade();
  });
});

function trade(): number {
  price = price === 100 ? 101 : 100;
  const print = {
    side: 'buy',
    price: String(price + Math.random() / 10),
    vol: '1',
    amount: '100',
    ds: '',
    ts: Date.now(),
  };
  const bytes = frame('market_btcusdt_trade_ticker', { data: [print] });
  const sentAt = now();
  client?.send(bytes);
  return sentAt;
}

/** `trade`: pushes one and answers with the ns until an order's first byte; `arm`: answers at once, and with the time of the next order's first byte when it comes. */
parentPort?.on('message', (ask: 'trade' | 'arm') => {
  if (ask === 'trade') {
    waiting = (at) => parentPort?.postMessage(at - sentAt);
    const sentAt = trade();
  } else {
    waiting = (at) => parentPort?.postMessage(at);
    // Fresh books come between the trades, so that none waits behind another frame.
    pushBook();
    parentPort?.postMessage(0);
  }
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
