/** Bad frames against the whole feed: nothing is thrown, and whatever is believed makes sense. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Rng, seededRng } from '../../src/clock/clock.ts';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { socketHistory } from '../../src/venue/exchange/market/socket-history.ts';
import { inTime, memoryFeed, start } from './exchange-stub.ts';
import { absurdTime, pick, spoiltBytes } from './nasty.ts';

const recorded = gunzipSync(readFileSync(new URL('../../backtests/data/chainup-frames-mit.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  // The recordings are of many symbols; here all are the one that is listened to.
  .map((line) =>
    (JSON.parse(line) as { frame: string }).frame.replaceAll(/market_(e_)?[a-z0-9]+_/g, 'market_btcusdt_'),
  );
const klines =
  '{"id":1767268800,"open":1.7423,"close":1.7439,"high":1.7445,"low":1.7406,"vol":28616.74,"amount":49855.9}';
const frames: readonly string[] = [
  ...recorded,
  `{"channel":"market_btcusdt_kline_1min","ts":${start},"tick":${klines}}`,
  `{"event_rep":"rep","channel":"market_btcusdt_kline_1min","ts":${start},"data":[${klines}]}`,
  `{"channel":"market_btcusdt_depth_step0","ts":${start},"tick":{"asks":[[2,1],[3,1]],"buys":[["1","1"],["0.5","1"]]}}`,
  `{"channel":"market_btcusdt_trade_ticker","ts":${start},"tick":{"data":[{"side":"buy","price":"2","vol":"1","ds":"","ts":${start}}]}}`,
];

/** The last closed klines as REST lists them. */
const closedKlines = (now: number): object[] =>
  Array.from({ length: 5 }, (_, index) => ({
    idx: (Math.floor(now / 60_000) - index) * 60_000,
    ...{ open: 1.7423, close: 1.7439, high: 1.7445, low: 1.7406, vol: 1 },
  }));

/** Closed klines by `req`, and frames of the one that is open, each at times with a time that no kline has. */
function klineAt(rng: Rng, now: number): string {
  const minute = Math.floor(now / 60_000) * 60_000;
  const openTime = rng() < 0.3 ? absurdTime(rng, minute) : `${minute / 1_000}`;
  const row = `{"id":${openTime},"open":1.7423,"close":1.7439,"high":1.7445,"low":1.7406,"vol":28616.74}`;
  const tick = rng() < 0.8 ? `"tick":${row}` : `"event_rep":"rep","data":[${row}]`;
  return `{"channel":"market_btcusdt_kline_1min","ts":${now},${tick}}`;
}

/** Real ms: while a frame is being read nothing else is, no cancel and no stop. */
const slowestFrameMs = 500;

/** How many messages were believed, of `count` frames. Throws where one was that makes no sense, or where the client threw. */
export async function fuzzFrames(seed: number, count: number): Promise<number> {
  const rng = seededRng(seed);
  const clock = new SimClock(start);
  // REST answers, or most frames would wait for it, where nothing ends what takes too long.
  const { feed, sockets, last } = memoryFeed(clock, () => closedKlines(clock.now()));
  let believed = 0;
  // Thrown in a subscriber it would surface somewhere else, later.
  const faults: string[] = [];
  const wrong = (what: string, value: unknown): void =>
    void faults.push(`${what} was believed: ${JSON.stringify(value).slice(0, 300)}`);
  const sound = (...numbers: readonly number[]): boolean => numbers.every((one) => Number.isFinite(one) && one > 0);
  feed.depth('BTCUSDT').subscribe((book) => {
    believed++;
    const [bid, ask] = [book.bids[0], book.asks[0]];
    const all = [...book.bids, ...book.asks].flat();
    if (bid === undefined || ask === undefined || bid[0] >= ask[0] || !sound(book.time, ...all)) wrong('a book', book);
  });
  feed.trades('BTCUSDT').subscribe((trade) => {
    believed++;
    if (!sound(trade.price, trade.quantity, trade.time)) wrong('a trade', trade);
  });
  feed.ticker('BTCUSDT').subscribe((ticker) => {
    believed++;
    if (!sound(ticker.last, ticker.time)) wrong('a ticker', ticker);
  });
  feed.klines('BTCUSDT', '1min').subscribe((kline) => {
    believed++;
    const { openTime, low, high } = kline;
    if (!sound(low, high, openTime) || low > high || openTime % 60_000 !== 0) wrong('a kline', kline);
    if (openTime > clock.now()) wrong('a kline that has not begun', kline);
  });
  const history = socketHistory(sockets, () => {}, clock);
  let connection = last();
  connection.open();
  for (let index = 0; index < count; index++) {
    if (rng() < 0.1) void history.klines('BTCUSDT', '1min');
    if (last() !== connection || connection.closedByClient) {
      await clock.advanceTo(clock.now() + 60_000);
      connection = last();
      connection.open();
    }
    const bytes = rng() < 0.2 ? Buffer.from(klineAt(rng, clock.now())) : spoiltBytes(rng, pick(rng, frames));
    inTime(slowestFrameMs, () => connection.bytes(bytes));
    if (faults[0] !== undefined) throw new Error(`frame ${index}: ${faults[0]}`);
    if (rng() < 0.2) await clock.advanceTo(clock.now() + Math.floor(rng() * 2_000));
  }
  sockets.close();
  return believed;
}
