/**
 * Everything that a hundred symbols say, on one real socket: depth, trades, ticker and klines of each, compressed, at twice the quickest
 * pace that was recorded of a venue (depth 3.4 a second, ticker 2; trades and klines, which nobody measured, are taken to be as quick as the ticker). The sender is a process of its own. Told are how late
 * this process's event loop was and how much of one core it took.
 *
 *     node bench/streams.ts [SECONDS] [PACE]     20 s at 2 times what was recorded
 */
import { fork } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import { ScaledClock } from '../src/clock/clock.ts';
import { counters } from '../src/venue/exchange/counters.ts';
import { channelOf, klineChannel } from '../src/venue/exchange/market/channels.ts';
import { feed } from '../src/venue/exchange/market/feed.ts';
import { Sockets } from '../src/venue/exchange/market/socket.ts';
import { realWs } from '../src/venue/exchange/market/ws.ts';
import { failed } from '../src/venue/venue.ts';

const [seconds, pace] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 2)];
const symbols = Array.from({ length: 100 }, (_, index) => `S${index}USDT`);
/** Frames a second of one channel. */
const rates = { depth: 3.4 * pace, trades: 2 * pace, ticker: 2 * pace, klines: 2 * pace };
const clock = new ScaledClock();
const levels = 30;

const level = (price: number, index: number): [number, number] => [
  Number(price.toFixed(2)),
  ((index * 7_919) % 50_000) / 1e5 + 1e-5,
];

/** The message of a channel, different each time. */
function message(kind: keyof typeof rates, symbol: string, turn: number): object {
  const ts = clock.now();
  const price = 1_000 + (turn % 97);
  if (kind === 'klines') {
    const tick = { id: Math.floor(ts / 60_000) * 60, open: price, high: price, low: price, close: price, vol: 1 };
    return { channel: klineChannel(symbol, '1min'), ts, tick };
  }
  const channel = channelOf(kind, symbol);
  if (kind === 'ticker') return { channel, ts, tick: { open: 1, high: price, low: 1, close: price, vol: turn } };
  if (kind === 'trades') {
    const rows = [2, 1].map((part) => ({ id: 3 * turn + part, side: 'BUY', price: `${price}`, vol: '1', ts }));
    return { channel, ts, tick: { data: rows, ts } };
  }
  const side = (way: number): [number, number][] =>
    Array.from({ length: levels }, (_, index) => level(price + way * (index + 1), index + turn));
  return { channel, ts, tick: { asks: side(1), buys: side(-1) } };
}

/** All channels at their pace, spread evenly, however late the process is woken. */
async function pour(socket: WebSocket): Promise<void> {
  const kinds = Object.keys(rates) as (keyof typeof rates)[];
  const sent = { depth: 0, trades: 0, ticker: 0, klines: 0 };
  const begunAt = clock.monotonic();
  while (socket.readyState === socket.OPEN) {
    const elapsed = (clock.monotonic() - begunAt) / 1_000;
    for (const kind of kinds)
      for (; sent[kind] < elapsed * rates[kind] * symbols.length; sent[kind]++) {
        const symbol = symbols[sent[kind] % symbols.length] ?? '';
        socket.send(gzipSync(JSON.stringify(message(kind, symbol, sent[kind])), { level: 1 }));
      }
    await clock.sleep(2);
  }
}

async function send(): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => void pour(socket));
  await new Promise<void>((resolve) => server.once('listening', resolve));
  process.send?.((server.address() as AddressInfo).port);
}

async function measure(port: number): Promise<void> {
  const nothing = (): void => {};
  const log = { warn: nothing, info: nothing, debug: nothing };
  const { count, seen } = counters(clock, log);
  const sockets = new Sockets({ url: `ws://127.0.0.1:${port}/`, ws: realWs, clock, rng: () => 0.5, count, log });
  const market = feed({ sockets, clock, count, history: () => Promise.resolve(failed('not asked')) });
  const received = { depth: 0, trades: 0, ticker: 0, klines: 0 };
  let late = 0;
  for (const symbol of symbols) {
    market.depth(symbol).subscribe(({ time }) => {
      received.depth++;
      late = Math.max(late, clock.now() - time);
    });
    market.trades(symbol).subscribe(() => received.trades++);
    market.ticker(symbol).subscribe(() => received.ticker++);
    market.klines(symbol, '1min').subscribe(() => received.klines++);
  }
  // What is compiled and connected in the first seconds is not what is asked about.
  await clock.sleep(3_000);
  const before = { ...received };
  late = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [cpu, begunAt] = [process.cpuUsage(), clock.monotonic()];
  await clock.sleep(seconds * 1_000);
  const used = process.cpuUsage(cpu);
  const tookMs = clock.monotonic() - begunAt;
  delay.disable();
  sockets.close();
  const ms = (ns: number): string => `${(ns / 1e6).toFixed(1)} ms`;
  const each = (kind: keyof typeof received): string =>
    `${kind} ${(((received[kind] - before[kind]) / tookMs) * 1_000).toFixed(0)}/s`;
  console.log(`${symbols.length} symbols, ${pace} × the recorded pace, ${(tookMs / 1_000).toFixed(1)} s`);
  console.log(`received: ${each('depth')}, ${each('trades')}, ${each('ticker')}; klines closed: ${received.klines}`);
  console.log(
    `event loop: p50 ${ms(delay.percentile(50))}, p99 ${ms(delay.percentile(99))}, longest ${ms(delay.max)} (1 ms of it is the timer's own)`,
  );
  console.log(
    `oldest book when received: ${late.toFixed(0)} ms; CPU: ${((used.user + used.system) / tookMs / 10).toFixed(0)} % of one core`,
  );
  console.log(`unexpected: ${JSON.stringify(seen())}`);
}

if (process.argv[2] === 'send') await send();
else {
  const sender = fork(fileURLToPath(import.meta.url), ['send', `${pace}`]);
  const port = await new Promise<number>((resolve) => sender.once('message', (said) => resolve(Number(said))));
  await measure(port);
  sender.kill();
}
