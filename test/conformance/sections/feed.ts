/** §6: the feed. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { msIn } from '../lenient.ts';
import { channelOf, type Session } from '../session.ts';
import {
  array,
  type Book,
  book,
  decimal,
  descending,
  type Fields,
  fields,
  figures,
  ms,
  prices,
  rows,
  shown,
  text,
} from '../shape.ts';
import { req, type Socket, sub, unsub } from '../socket.ts';
import { now, sleep } from '../time.ts';
import { intervals } from './public.ts';

const feed = ['feed'] as const;
/** Longer than a silence between two pushes of a live market, ms. */
const silenceMs = 3_000;
/** What was on its way when an unsubscription left may still come, ms. */
const inFlightMs = 700;

async function using(
  at: Session,
  work: (socket: Socket) => Promise<void>,
  options: { mute?: boolean } = {},
): Promise<void> {
  const socket = await at.socket(options);
  try {
    await work(socket);
  } finally {
    socket.close();
  }
}

const isPush =
  (channel: string) =>
  (frame: Fields): boolean =>
    frame['channel'] === channel && typeof frame['tick'] === 'object' && frame['tick'] !== null;
const isReply =
  (channel: string) =>
  (frame: Fields): boolean =>
    frame['channel'] === channel && frame['event_rep'] === 'rep';

/** The tick of the first push of a channel, the frame being as §6.3 shows it. */
async function firstTick(at: Session, socket: Socket, channel: string): Promise<Fields> {
  socket.send(sub(channel, { cb_id: '1' }));
  const { value } = await socket.next(`a push of ${channel}`, isPush(channel));
  at.answers.keys('frame', value, ['channel', 'ts', 'tick'], `a push of ${channel}`);
  at.rules.hold('frame', () => {
    equal(typeof value['ts'], 'number', 'ts is no number');
    ms(value['ts'], 'ts');
  });
  return fields(value['tick'], 'tick');
}

const depth = (at: Session): string => channelOf(at.busy, 'depth_step0');
const trades = (at: Session): string => channelOf(at.busy, 'trade_ticker');
const ticker = (at: Session): string => channelOf(at.busy, 'ticker');
const klines = (at: Session, interval = '1min'): string => channelOf(at.busy, `kline_${interval}`);

/** A pushed depth, its bids under `buys`, or under `bids` as some do [8]. */
const pushedBook = (tick: unknown): Book =>
  book(tick, [typeof tick === 'object' && tick !== null && 'buys' in tick ? 'buys' : 'bids', 'asks'], 'the tick');

function checkTrade(at: Session, row: Fields): void {
  at.answers.socketSide(row['side']);
  const [price, vol] = [decimal(row['price'], 'price'), decimal(row['vol'], 'vol')];
  ok(price > 0 && vol > 0, shown(row));
  ok(Math.abs(decimal(row['amount'], 'amount') - price * vol) <= 1e-6 * price * vol, `amount of ${shown(row)}`);
}

const transport: readonly Check[] = [
  {
    section: '6.1',
    needs: feed,
    says: 'sends every frame as gzip in binary',
    run: (at) =>
      using(at, async (socket) => {
        await firstTick(at, socket, depth(at));
        await firstTick(at, socket, ticker(at));
        for (const { binary, gzip } of socket.frames) ok(binary && gzip, 'a frame is no binary gzip');
      }),
  },
  {
    section: '6.1',
    needs: feed,
    slow: true,
    says: 'pings every ten seconds, in seconds, and goes on when it is answered',
    run: (at) =>
      using(at, async (socket) => {
        if (!at.answers.pingsFromTheStart) socket.send(sub(depth(at)));
        const isPing = ({ ping }: Fields): boolean => ping !== undefined;
        const first = await socket.next('a ping', isPing, { withinMs: 12_000 });
        const seconds = Number(first.value['ping']);
        deepEqual(Object.keys(first.value), ['ping']);
        ok(
          Number.isInteger(seconds) && Math.abs(seconds - (now() + at.offset) / 1_000) < 60,
          `ping is ${shown(first.value)}`,
        );
        const after = socket.frames.indexOf(first) + 1;
        const second = await socket.next('another ping', isPing, { after, withinMs: 12_000 });
        const apartMs = second.at - first.at;
        ok(apartMs > 8_000 && apartMs < 12_000, `pings came ${apartMs} ms apart`);
        ok(socket.open, 'the socket was closed although its pings were answered');
      }),
  },
  {
    section: '6.3',
    observed: '8',
    needs: feed,
    says: 'neither greets nor acknowledges: the first frame is data',
    run: (at) =>
      using(at, async (socket) => {
        await firstTick(at, socket, depth(at));
        equal(socket.frames[0]?.value['channel'], depth(at));
        ok(
          socket.frames.every(({ value }) => value['event_rep'] !== 'subed'),
          'there is an acknowledgement',
        );
      }),
  },
  {
    section: '6.2',
    observed: '8',
    needs: feed,
    slow: true,
    says: 'passes over what it does not understand, and serves on',
    run: (at) =>
      using(at, async (socket) => {
        const upper = `market_${at.busy.symbol.toUpperCase()}_depth_step0`;
        for (const message of [
          ...['', 'hello', '{', '[]', 'null', '{}', '{"event":"sub"}', '{"event":"sub","params":null}'],
          ...['{"event":"sub","params":{"channel":7}}', '{"event":"dance","params":{"channel":"x"}}'],
          ...[
            sub('market_nosuchsymbol_depth_step0'),
            sub(upper),
            sub(channelOf(at.busy, 'kline_1h')),
            unsub(depth(at)),
          ],
          Buffer.from([0x1f, 0x8b, 0xff, 0]),
        ])
          socket.send(message);
        await firstTick(at, socket, ticker(at));
        for (const { value } of socket.frames)
          ok('ping' in value || value['channel'] === ticker(at), `it sent ${shown(value)}`);
      }),
  },
];

const pushes: readonly Check[] = [
  {
    section: '6.3',
    needs: feed,
    says: 'pushes the whole depth, the best level first, at most 30 a side',
    run: (at) =>
      using(at, async (socket) => {
        const tick = await firstTick(at, socket, depth(at));
        at.answers.keys('bids', tick, ['asks', 'buys'], 'the tick of depth');
        const { bids, asks } = pushedBook(tick);
        ok(bids.length > 0 && asks.length > 0, 'one side is empty');
        for (const side of [bids, asks])
          ok(side.length <= at.answers.socketLevels, `${side.length} levels on one side`);
        const next = await socket.next('the next depth', isPush(depth(at)), { after: 1 });
        pushedBook(next.value['tick']);
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'pushes the same depth as REST shows',
    run: (at) =>
      using(at, async (socket) => {
        // The market moves between the two: some of several looks must agree on the best bid.
        socket.send(sub(depth(at)));
        for (let tries = 0; tries < 12; tries++) {
          const after = socket.frames.length;
          const { value } = await socket.next('a depth', isPush(depth(at)), { after });
          const pushed = pushedBook(value['tick']);
          const reply = await at.get('/sapi/v1/depth', { symbol: at.busy.symbol.toUpperCase() });
          const asked = book(at.answers.done(reply), ['bids', 'asks'], 'the depth');
          if (pushed.bids[0]?.price === asked.bids[0]?.price || pushed.asks[0]?.price === asked.asks[0]?.price) return;
        }
        throw new Error('the best levels of feed and REST never agreed');
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'pushes trades as they happen',
    run: (at) =>
      using(at, async (socket) => {
        const tick = await firstTick(at, socket, trades(at));
        const list = rows(tick['data'], 'tick.data');
        ok(list.length > 0, 'there is no trade in it');
        for (const row of list) {
          at.answers.keys('frame', row, ['side', 'price', 'vol', 'amount', 'ds'], 'a trade');
          checkTrade(at, row);
          match(text(row['ds'], 'ds'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
        }
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'pushes the 24-hour ticker',
    run: (at) =>
      using(at, async (socket) => {
        const tick = await firstTick(at, socket, ticker(at));
        prices(tick, ['open', 'close'], 'the ticker');
        for (const name of ['amount', 'vol', 'rose']) decimal(tick[name], name);
      }),
  },
  {
    section: '6.3',
    observed: '1',
    needs: feed,
    says: 'pushes and tells klines whose high and low hold their open and close',
    run: (at) =>
      using(at, async (socket) => {
        prices(await firstTick(at, socket, klines(at)), ['open', 'close'], 'a pushed kline');
        for (const row of await history(at, socket, klines(at))) prices(row, ['open', 'close'], 'a kline');
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'pushes klines of every interval, their id the start in seconds',
    run: (at) =>
      using(at, async (socket) => {
        for (const interval of intervals) {
          const tick = await firstTick(at, socket, klines(at, interval));
          figures(tick, ['open', 'close'], `a kline of ${interval}`);
          ok(decimal(tick['vol'], 'vol') >= 0, 'vol is below zero');
          const id = decimal(tick['id'], 'id');
          ms(id * 1_000, 'id');
          if (interval === '1min') equal(id % 60, 0, `id ${id} opens no minute`);
        }
      }),
  },
];

const subscriptions: readonly Check[] = (
  [
    ['depth', depth],
    ['trades', trades],
    ['ticker', ticker],
  ] as const
).map(
  ([what, channelFor]): Check => ({
    section: '6.2',
    needs: feed,
    slow: true,
    says: `stops to push ${what} when they are unsubscribed, and leaves the other channels alone`,
    run: (at) =>
      using(at, async (socket) => {
        const other = what === 'depth' ? ticker(at) : depth(at);
        const channel = channelFor(at);
        socket.send(sub(channel));
        socket.send(sub(other));
        await socket.next(`a push of ${channel}`, isPush(channel));
        socket.send(unsub(channel));
        await sleep(inFlightMs);
        const after = socket.frames.length;
        await sleep(silenceMs);
        const late = socket.frames.slice(after).filter(({ value }) => value['channel'] === channel);
        equal(late.length, 0, `${late.length} pushes came after the unsubscription`);
        await socket.next(`a push of ${other}`, isPush(other), { after });
      }),
  }),
);

/** The rows of a history, the reply being as §6.3 shows it. */
async function history(at: Session, socket: Socket, channel: string, more: object = {}): Promise<readonly Fields[]> {
  const after = socket.frames.length;
  socket.send(req(channel, { cb_id: 'mine', ...more }));
  const { value } = await socket.next(`the history of ${channel}`, isReply(channel), { after });
  const isTrades = channel.endsWith('_trade_ticker');
  const { cb_id: callbackId, ...frame } = value;
  at.answers.keys(
    'history',
    frame,
    ['event_rep', 'channel', 'ts', 'data', ...(isTrades ? ['status'] : [])],
    'a history',
  );
  at.rules.hold('callbackId', () => {
    if (at.answers.echoesCallbackId) equal(callbackId, 'mine', 'cb_id');
  });
  at.rules.hold('history', () => {
    if (isTrades) equal(value['status'], 'ok', 'status');
    ms(value['ts'], 'ts');
  });
  return rows(array(value['data'], 'data'), 'data');
}
const idOf = ({ id }: Fields): number => decimal(id, 'id');

const histories: readonly Check[] = [
  {
    section: '6.3',
    needs: feed,
    says: 'answers a request for klines, at most 300, in reverse order of time',
    run: (at) =>
      using(at, async (socket) => {
        for (const interval of ['1min', '60min']) {
          const list = await history(at, socket, klines(at, interval));
          ok(list.length > 0 && list.length <= 300, `${list.length} klines`);
          for (const row of list) {
            figures(row, ['open', 'close'], 'a kline');
            for (const name of ['amount', 'vol']) decimal(row[name], name);
          }
          descending(list.map(idOf), 'the ids');
        }
      }),
  },
  {
    section: '6.2',
    needs: feed,
    says: 'answers `pageSize` klines before `endIdx`',
    run: (at) =>
      using(at, async (socket) => {
        const all = (await history(at, socket, klines(at), { pageSize: 10 })).map(idOf);
        equal(all.length, 10);
        const [end] = all.slice(4);
        const before = (await history(at, socket, klines(at), { endIdx: String(end), pageSize: 3 })).map(idOf);
        deepEqual(before, all.slice(5, 8));
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'answers a request for trades',
    run: (at) =>
      using(at, async (socket) => {
        const list = await history(at, socket, trades(at));
        ok(list.length > 0, 'there are no trades');
        for (const row of list) checkTrade(at, row);
      }),
  },
  {
    section: '6.2',
    observed: '8',
    needs: feed,
    says: 'answers a request that is spelt `reg` too',
    run: (at) =>
      using(at, async (socket) => {
        socket.send({ event: 'reg', params: { channel: klines(at) } });
        await socket.next('the history', isReply(klines(at)));
      }),
  },
  {
    section: '6.3',
    needs: feed,
    says: 'tells the same klines in a history as REST does',
    run: (at) =>
      using(at, async (socket) => {
        const pushed = await history(at, socket, klines(at), { pageSize: 5 });
        const reply = await at.get('/sapi/v1/klines', { symbol: at.busy.symbol.toUpperCase(), interval: '1min' });
        const asked = rows(at.answers.done(reply), 'the klines');
        for (const row of pushed.slice(1)) {
          const same = asked.find(({ idx }) => msIn(idx) === idOf(row) * 1_000);
          ok(same !== undefined, `REST has no kline ${idOf(row)}`);
          for (const name of ['open', 'high', 'low', 'close', 'vol'])
            equal(decimal(row[name], name), decimal(same[name], name), name);
        }
      }),
  },
];

export const feedChecks: readonly Check[] = [...transport, ...pushes, ...subscriptions, ...histories];
