/**
 * Ten million frames through the client's socket and streams: what stays in memory afterwards. Frames of depth and trades in turn,
 * compressed as they come, eight thousand different ones again and again: ids of trades come back long after they are forgotten.
 *
 *     node --expose-gc bench/frames.ts [MILLIONS]
 */
import { gzipSync } from 'node:zlib';
import { ScaledClock } from '../src/clock/clock.ts';
import { counters } from '../src/venue/exchange/counters.ts';
import { channelOf } from '../src/venue/exchange/market/channels.ts';
import { feed } from '../src/venue/exchange/market/feed.ts';
import { Sockets } from '../src/venue/exchange/market/socket.ts';
import type { Ws, WsEvents } from '../src/venue/exchange/market/ws.ts';
import { failed } from '../src/venue/venue.ts';

const million = 1_000_000;
const frames = Number(process.argv[2] ?? 10) * million;
const clock = new ScaledClock();
const ts = clock.now();
const nothing = (): void => {};
let wire: WsEvents | undefined;
const ws: Ws = (_url, events) => {
  wire = events;
  return { send: nothing, close: nothing };
};
const { count, seen } = counters(clock, { warn: nothing, info: nothing, debug: nothing });
const sockets = new Sockets({
  url: 'ws://x',
  ws,
  clock,
  rng: () => 0.5,
  count,
  log: { warn: nothing, info: nothing, debug: nothing },
});
const market = feed({ sockets, clock, count, history: () => Promise.resolve(failed('not asked')) });
let [books, prints] = [0, 0];
market.depth('BTCUSDT').subscribe(() => books++);
market.trades('BTCUSDT').subscribe(() => prints++);
wire?.opened();

function frame(index: number): Buffer {
  const message =
    index % 2 === 0
      ? {
          channel: channelOf('depth', 'BTCUSDT'),
          ts,
          tick: { asks: [[101 + (index % 97) / 100, 1]], buys: [[100, 1]] },
        }
      : {
          channel: channelOf('trades', 'BTCUSDT'),
          ts,
          tick: { data: [{ id: index, side: 'BUY', price: '100', vol: '1', amount: '100', ds: '', ts }], ts },
        };
  return gzipSync(JSON.stringify(message), { level: 1 });
}

const pool = Array.from({ length: 8_192 }, (_, index) => frame(index));
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
for (let index = 0; index < frames; index++) {
  wire?.frame(pool[index % pool.length] as Buffer);
  // The watch of the socket and its timers get their turn.
  if (index % 1_000 === 999) await clock.sleep(0);
  if (index % million !== million - 1) continue;
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  console.log(`${(index + 1) / million} million frames: heap ${mb(heapUsed)}, resident ${mb(rss)}`);
}
sockets.close();
console.log(`${books} books, ${prints} trades; unexpected: ${JSON.stringify(seen())}`);
