/**
 * What the client adds to work that nobody can leave out, measured in turn in one run, so that the machine's speed and neighbours
 * are in both terms:
 *
 * - a gzip frame of 30 levels a side to a typed `Depth`, against bare gunzipSync, JSON.parse and Number for each figure;
 * - a frame of trades to typed trades, against bare JSON.parse of the same text;
 * - a signed order, against a bare got call with the same agent and body, to a server in another thread: CPU time of this process.
 *
 *     npx node bench/client.ts
 */
import { Agent } from 'node:http';
import { Worker } from 'node:worker_threads';
import { gunzipSync, gzipSync } from 'node:zlib';
import got from 'got';
import { ScaledClock } from '../src/clock/clock.ts';
import { instrument } from '../src/domain/instrument.ts';
import { lots, ticks } from '../src/domain/money.ts';
import type { Intent } from '../src/domain/order.ts';
import { exchange } from '../src/venue/exchange/exchange.ts';
import { depthStream } from '../src/venue/exchange/market/depth-stream.ts';
import { decodeFrame } from '../src/venue/exchange/market/frames.ts';
import { tradeStream } from '../src/venue/exchange/market/trade-stream.ts';

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
const now = (): number => Number(process.hrtime.bigint());

/** ns a call of each, taken in turn in many short rounds: the median of the ratios and the best times. */
function inTurn(
  bare: (round: number) => void,
  ours: (round: number) => void,
  calls: number,
): readonly [number, number, number] {
  const times = { bare: [] as number[], ours: [] as number[] };
  const timed = (work: (round: number) => void): number => {
    const startedAt = now();
    for (let call = 0; call < calls; call++) work(call);
    return (now() - startedAt) / calls;
  };
  for (let round = 0; round < 60; round++) {
    const first = timed(bare);
    const second = timed(ours);
    // The first rounds warm everything up.
    if (round < 10) continue;
    times.bare.push(first);
    times.ours.push(second);
  }
  const ratios = times.bare.map((value, index) => value / (times.ours[index] as number));
  return [median(ratios), Math.min(...times.bare), Math.min(...times.ours)];
}

const nothing = (): void => {};
const figures = { depth: 0, trades: 0 };
const level = (price: number, index: number): [number, number] => [
  Number(price.toFixed(2)),
  ((index * 7_919) % 50_000) / 1e5 + 1e-5,
];
/** Different frames in turn: the same text again and again would be parsed from a cache of strings. */
const depthFrames = Array.from({ length: 64 }, (_, frame) =>
  gzipSync(
    JSON.stringify({
      event_rep: '',
      channel: 'market_btcusdt_depth_step0',
      data: null,
      tick: {
        asks: Array.from({ length: 30 }, (_row, index) => level(86_764.73 + frame + index * 7.13, index + frame)),
        buys: Array.from({ length: 30 }, (_row, index) => level(86_621.91 + frame - index * 5.47, index * 3 + frame)),
      },
      ts: 1_790_134_142_000 + frame,
      status: 'ok',
    }),
  ),
);
/** So many that no id comes again while it is remembered. */
const tradeFrames = Array.from({ length: 1_000 }, (_, frame) =>
  JSON.stringify({
    event_rep: '',
    channel: 'market_btcusdt_trade_ticker',
    data: null,
    tick: {
      data: Array.from({ length: 5 }, (_row, index) => ({
        amount: '23311.6243695',
        ds: '2026-09-23 11:29:10',
        id: 13_652_120 + frame * 1_000_000 + index,
        price: (86_650.65 + index).toFixed(2),
        side: index % 2 === 0 ? 'BUY' : 'SELL',
        ts: 1_790_134_150_000 + frame,
        vol: '0.26903',
      })),
      ts: 1_790_134_150_000,
    },
    ts: 1_790_134_150_000,
    status: 'ok',
  }),
);
const pickFrame = <T>(frames: readonly T[], call: number): T => frames[call % frames.length] as T;

const books = depthStream({
  symbol: 'BTCUSDT',
  clock: new ScaledClock(1, 1_790_134_142_000),
  count: (kind) => {
    throw new Error(kind);
  },
  book: ({ bids }) => {
    figures.depth += bids.length;
  },
  gap: nothing,
});

function bareDepth(call: number): void {
  const { tick } = JSON.parse(gunzipSync(pickFrame(depthFrames, call)).toString()) as {
    tick: Record<'asks' | 'buys', [unknown, unknown][]>;
  };
  const numbers = (rows: [unknown, unknown][]): [number, number][] =>
    rows.map(([price, quantity]) => [Number(price), Number(quantity)]);
  figures.depth += numbers(tick.buys).length + numbers(tick.asks).length;
}

function ourDepth(call: number): void {
  const frame = decodeFrame(pickFrame(depthFrames, call));
  // Frames come round again, and an older book would be refused.
  if (frame.kind === 'push') books.data(frame.tick, 1_790_134_142_000);
}

const prints = tradeStream({
  symbol: 'BTCUSDT',
  count: (kind) => {
    throw new Error(kind);
  },
  now: () => 1_790_134_150_000,
  print: ({ price }) => {
    figures.trades += price;
  },
  gap: nothing,
});
const tradeBytes = tradeFrames.map((text) => Buffer.from(text));

function bareTrades(call: number): void {
  const { tick } = JSON.parse(pickFrame(tradeFrames, call)) as { tick: { data: unknown[] } };
  figures.trades += tick.data.length;
}

function ourTrades(call: number): void {
  const frame = decodeFrame(pickFrame(tradeBytes, call));
  if (frame.kind === 'push') prints.data(frame.tick, frame.ts);
}

const us = (ns: number): string => `${(ns / 1e3).toFixed(1)} µs`;
const [depthRatio, bareDepthNs, ourDepthNs] = inTurn(bareDepth, ourDepth, 500);
console.log(
  `depth frame: bare ${us(bareDepthNs)}, ours ${us(ourDepthNs)}; rate ${depthRatio.toFixed(2)} of bare (asked: at least 0.75)`,
);
const [tradeRatio, bareTradeNs, ourTradeNs] = inTurn(bareTrades, ourTrades, 2_000);
console.log(
  `trade frame: bare ${us(bareTradeNs)}, ours ${us(ourTradeNs)}; rate ${tradeRatio.toFixed(2)} of bare (asked: at least 0.6)`,
);

const server = new Worker(
  `const { createServer } = require('node:http');
   const { parentPort } = require('node:worker_threads');
   const body = '{"symbol":"BTCUSDT","orderId":"1938321163093077686","orderIdString":"1938321163093077686","clientOrderId":"saaaaabbbbcccdddddddd12345678","transactTime":"1","price":"1","origQty":"1","executedQty":"0","status":"NEW","type":"LIMIT","side":"BUY"}';
   const server = createServer((request, response) => { request.resume(); request.on('end', () => response.end(body)); });
   server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
  { eval: true },
);
const port = await new Promise<number>((resolve) => server.once('message', resolve));
const at = instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
const intent: Intent = {
  clientOrderId: 'saaaaabbbbcccdddddddd12345678',
  decision: 1,
  strategy: 'bench',
  role: 'main',
  account: 'spot',
  symbol: 'BTCUSDT',
  side: 'BUY',
  type: 'LIMIT',
  volume: { lots: lots('0.00125', at) },
  price: ticks('86650.65', at),
  expectedLots: lots('0.00125', at),
  expiresAt: Number.MAX_SAFE_INTEGER,
  purpose: 'enter',
  reason: 'bench',
  createdAt: 0,
};
const agent = new Agent({ keepAlive: true, maxSockets: 32, scheduling: 'lifo' });
const x = exchange({
  restUrl: `http://127.0.0.1:${port}`,
  wsUrl: 'ws://127.0.0.1:1',
  apiKey: 'key',
  apiSecret: 'secret',
  account: 'spot',
  clock: new ScaledClock(),
  rng: () => 0.5,
  spend: () => Promise.resolve(true),
  notice: nothing,
  log: { warn: nothing, info: nothing, debug: nothing },
});
const body =
  '{"symbol":"BTCUSDT","volume":0.00125,"side":"BUY","type":"LIMIT","price":86650.65,"newClientOrderId":"saaaaabbbbcccdddddddd12345678","recvWindow":2000}';
const options = {
  agent: { http: agent },
  retry: { limit: 0 },
  throwHttpErrors: false,
  timeout: { request: 10_000 },
  headers: { 'content-type': 'application/json' },
};

async function bareOrder(): Promise<void> {
  const { body: answer } = await got.post(`http://127.0.0.1:${port}/sapi/v1/order`, { ...options, body });
  JSON.parse(answer);
}

async function ourOrder(): Promise<void> {
  const outcome = await x.orders.prepare(intent, at).send(Promise.resolve(undefined));
  if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
}

/** CPU and wall µs an order. The server's thread is in the CPU time of both. */
async function orderCost(order: () => Promise<void>, count: number): Promise<readonly [number, number]> {
  const cpu = process.cpuUsage();
  const startedAt = now();
  for (let index = 0; index < count; index++) await order();
  const { user, system } = process.cpuUsage(cpu);
  return [(user + system) / count, (now() - startedAt) / 1e3 / count];
}

const costs = { cpu: [] as number[], wall: [] as number[], bare: [] as number[], ours: [] as number[] };
for (let round = 0; round < 25; round++) {
  const bare = await orderCost(bareOrder, 100);
  const ours = await orderCost(ourOrder, 100);
  if (round < 5) continue;
  costs.cpu.push(ours[0] / bare[0]);
  costs.wall.push(ours[1] / bare[1]);
  costs.bare.push(bare[1]);
  costs.ours.push(ours[1]);
}
console.log(
  `signed order: bare got ${median(costs.bare).toFixed(0)} µs, ours ${median(costs.ours).toFixed(0)} µs; CPU ${median(costs.cpu).toFixed(2)}, wall ${median(costs.wall).toFixed(2)} times bare (asked: at most 1.25)`,
);
x.close();
agent.destroy();
await server.terminate();
// What was read is used, or it could be left out.
if (figures.depth + figures.trades <= 0) throw new Error('nothing was read');
