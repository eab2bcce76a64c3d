/**
 * From the start of a daemon's process to Ready on a journal with a long past: 100,000 orders that ended and 50 that rest. The
 * exchange answers at once, from this process. The daemon runs as `bin/sluice.js` starts it: compiled code cached, memory kept small.
 * What processors took says more on a busy machine than the time that went by.
 *
 *     node bench/recovery.ts [ORDERS] [OPEN] [ROUNDS]     100,000, 50, 5
 *     node bench/recovery.ts year [ROUNDS]                3; a year at the pace of the demo, before and after compacting it
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { compact } from '../src/commands/journal/compact.ts';
import { thisHost } from '../src/journal/newest-head.ts';
import { venueNameOf } from '../src/session/live.ts';
import { liveSession } from './live-session.ts';
import { feePerFill, firstUsdt, type Past, resting, symbol, writePast } from './recovery/past.ts';

const apiKey = 'key';
/** As `bin/launch.js` starts a daemon. */
const flags = ['--max-semi-space-size=1', '--optimize-for-size'];

/** The daemon: tells its parent how long it took since its process began, and what it took of the processor. */
async function daemon(dir: string): Promise<void> {
  const file = join(dir, 'config.yaml');
  const session = await liveSession(dir, file, apiKey, 'secret', (line) => console.error(line));
  const cpu = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
  process.send?.({
    ms: performance.now(),
    cpuMs: cpu(process.cpuUsage()),
    loopMs: cpu(process.threadCpuUsage()),
    mb: process.memoryUsage.rss() / 1e6,
  });
  await session.stop();
  process.exit();
}

const klines = Array.from({ length: 300 }, (_, index) => ({
  idx: (Math.floor(Date.now() / 60_000) - index - 1) * 60_000,
  open: '67000',
  high: '67100',
  low: '66900',
  close: '67000',
  vol: '5',
}));

/** What the exchange says of a past, without delay. */
function serve(past: () => Past, orders: number) {
  let requests = 0;
  const row = ({ clientOrderId, orderId, side }: Past['open'][number]): object => ({
    orderId,
    clientOrderId,
    symbol,
    side,
    type: 'LIMIT',
    price: resting.price,
    origQty: resting.quantity,
    executedQty: '0',
    status: 'NEW',
  });
  const replies: Readonly<Record<string, () => unknown>> = {
    '/sapi/v1/time': () => ({ timezone: 'UTC', serverTime: Date.now() }),
    '/sapi/v1/symbols': () => ({
      symbols: [{ symbol: 'btcusdt', baseAsset: 'BTC', quoteAsset: 'USDT', pricePrecision: 2, quantityPrecision: 5 }],
    }),
    '/sapi/v1/account': () => {
      const locked = past().open.length * Number(resting.price) * Number(resting.quantity);
      const fees = (orders / 2) * Number(feePerFill);
      return {
        balances: [{ asset: 'USDT', free: (firstUsdt - fees - locked).toFixed(8), locked: locked.toFixed(8) }],
      };
    },
    '/sapi/v1/klines': () => klines,
    '/sapi/v1/openOrders': () => past().open.map(row),
    '/sapi/v1/myTrades': () => {
      const { id, order, time } = past().newest;
      const ids = order.side === 'BUY' ? { bidId: order.orderId, askId: '1' } : { bidId: '1', askId: order.orderId };
      const sold = { price: '67012.01', qty: '0.00123', fee: feePerFill, feeCoin: 'USDT' };
      return [{ symbol, id, ...ids, ...sold, time, isBuyer: order.side === 'BUY', isMaker: true, isSelf: false }];
    },
  };
  const server = createServer((request, response) => {
    requests++;
    request.resume();
    const path = (request.url ?? '').split('?')[0] ?? '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(replies[path]?.() ?? {}));
  });
  const sockets = new WebSocketServer({ server });
  return {
    listen: (): Promise<number> =>
      new Promise((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
    requests: () => requests,
    close: () => {
      sockets.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Taken {
  readonly ms: number;
  /** Of all threads. */
  readonly cpuMs: number;
  /** Of the thread that trades. */
  readonly loopMs: number;
  readonly mb: number;
}

/** Starts a daemon and ends it once it is ready; `requests`: how many were made so far. */
const start = (dir: string, requests: () => number): Promise<Taken & { readonly requests: number }> =>
  new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, ['daemon', dir], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: flags,
      env: { ...process.env, MALLOC_ARENA_MAX: '1', NODE_COMPILE_CACHE: join(dir, 'compiled') },
    });
    const before = requests();
    let taken: (Taken & { readonly requests: number }) | undefined;
    child.on('message', (message) => {
      taken = { ...(message as Taken), requests: requests() - before };
    });
    child.on('exit', (code) =>
      taken === undefined ? reject(new Error(`the daemon ended with ${code}`)) : resolve(taken),
    );
  });

/** Starts several times and prints each and the least. */
async function startOften(dir: string, requests: () => number, rounds: number): Promise<void> {
  const taken: Taken[] = [];
  for (let round = 0; round < rounds; round++) {
    const one = await start(dir, requests);
    taken.push(one);
    console.log(
      `to Ready ${one.ms.toFixed(0)} ms; processors ${one.cpuMs.toFixed(0)} ms, of them ${one.loopMs.toFixed(0)} ms in the thread that trades; ${one.mb.toFixed(0)} MB resident; ${one.requests} requests`,
    );
  }
  const least = (what: 'ms' | 'cpuMs'): string => Math.min(...taken.map((one) => one[what])).toFixed(0);
  console.log(
    `least of ${rounds}: ${least('ms')} ms, ${least('cpuMs')} ms of processors (asked: at most 2000 ms beside the exchange's answers)`,
  );
}

/** The demo sends 323 orders a day of its market (crash-2020, counted over 19 hours). */
const yearOrders = 118_000;
const yearMs = 365 * 86_400_000;

async function measure(orders: number, open: number, rounds: number, everyMs = 1_000): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-recovery-'));
  let past: Past | undefined;
  const exchange = serve(() => past as Past, orders);
  try {
    const port = await exchange.listen();
    const restUrl = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(dir, 'config.yaml'),
      `exchange: { restUrl: ${restUrl}, wsUrl: ws://127.0.0.1:${port}/ }
strategies: [{ id: bench, use: ${join(import.meta.dirname, 'latency', 'strategy.ts')}, symbol: ${symbol}, interval: 1min, allocation: "1000000" }]
risk: { maxOrderValue: "100000", maxPosition: "1000000" }
onShutdown: keep
`,
    );
    const binding = { mode: 'live', account: 'spot', venue: venueNameOf(restUrl, apiKey) } as const;
    const guard = { dir: join(dir, 'sluice', 'journals'), host: thisHost(), accept: undefined };
    past = writePast(join(dir, 'state'), binding, guard, { orders, open, now: Date.now() - 5_000, everyMs });
    console.log(
      `${orders} orders that ended, ${open} that rest: ${(past.bytes / 1e6).toFixed(1)} MB, ${(past.bytes / (orders + open)).toFixed(0)} bytes each`,
    );
    await startOften(dir, exchange.requests, rounds);
    if (everyMs < 60_000) return;
    await compact({
      ...{ state: join(dir, 'state'), keepDays: 30, environment: { XDG_STATE_HOME: dir }, json: false },
      ...{ out: console.log, say: console.log },
    });
    await startOften(dir, exchange.requests, rounds);
  } finally {
    exchange.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === 'daemon') await daemon(rest[0] as string);
else if (first === 'year') await measure(yearOrders, 50, Number(rest[0] ?? 3), Math.floor(yearMs / yearOrders));
else await measure(Number(first ?? 100_000), Number(rest[0] ?? 50), Number(rest[1] ?? 5));
