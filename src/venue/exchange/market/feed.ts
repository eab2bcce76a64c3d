/** The market feed: streams over one socket, shared by all subscribers of a channel. */
import { Observable, Subject, type Subscriber, share } from 'rxjs';
import type { Clock } from '../../../clock/clock.ts';
import { getOrMake } from '../../../domain/get-or-make.ts';
import type { ExchangeInterval } from '../../../domain/interval.ts';
import type { Channel, Depth, FeedGap, Kline, Ticker, Trade } from '../../../domain/market.ts';
import { type MarketFeed, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { channelOf, klineChannel } from './channels.ts';
import { depthStream } from './depth-stream.ts';
import { closeGraceMs, type KlineHistory, moment } from './kline-history.ts';
import { KlineStream } from './kline-stream.ts';
import { withAllIntervals } from './larger-klines.ts';
import { closedOnly, type RawKline, readTicker } from './read-market.ts';
import type { Hole, Sockets } from './socket.ts';
import { socketHistory } from './socket-history.ts';
import { tradeStream } from './trade-stream.ts';

/** The most klines that the socket gives at once (specification §6.2). */
const maxRequested = 300;

export interface FeedOptions {
  readonly sockets: Sockets;
  readonly history: KlineHistory;
  readonly clock: Clock;
  readonly count: Count;
}

export function feed({ sockets, history, clock, count }: FeedOptions): MarketFeed {
  const gaps = new Subject<FeedGap>();
  const past = closedPast(sockets, clock, count);
  const gapOf =
    (symbol: string, channel: Channel) =>
    (hole: Hole, healed = false): void =>
      gaps.next({ symbol, channel, ...hole, healed });
  const place =
    (symbol: string, interval: ExchangeInterval) =>
    (kline: RawKline): Kline => ({ symbol, interval, ...kline, seenAt: clock.now() });

  function klines(symbol: string, interval: ExchangeInterval, name: string, out: Subscriber<Kline>): () => void {
    const placed = place(symbol, interval);
    const stream = new KlineStream({
      clock,
      interval,
      count,
      fetch: (limit) => history(symbol, interval, limit),
      closed: (kline) => out.next(placed(kline)),
      past: (limit) => past(symbol, interval, limit),
      gap: gapOf(symbol, 'klines'),
      receivedSince: (time) => sockets.receivedSince(time),
      again: () => sockets.again(name),
    });
    return stopping(stream, sockets.listen(name, stream));
  }

  const trades = (symbol: string, name: string, out: Subscriber<Trade>): (() => void) => {
    const gap = gapOf(symbol, 'trades');
    const heal = { clock, ask: () => sockets.ask(name, {}) };
    const stream = tradeStream({ symbol, count, now: () => clock.now(), print: (one) => out.next(one), gap, heal });
    return stopping(stream, sockets.listen(name, stream));
  };

  const depth = (symbol: string, name: string, out: Subscriber<Depth>): (() => void) => {
    const gap = gapOf(symbol, 'depth');
    return sockets.listen(name, depthStream({ symbol, clock, count, book: (one) => out.next(one), gap }));
  };

  /** `{"tick":{"amount":"307349564.1","close":"86650.67","high":"86822.69","low":"85114","open":"85616.23","rose":"0.012","vol":"3570.3"}}` */
  const ticker = (symbol: string, name: string, out: Subscriber<Ticker>): (() => void) =>
    sockets.listen(name, {
      data(tick, ts) {
        const seen = readTicker({ ...tick, time: ts }, symbol, clock.now());
        if (seen === undefined) count('unreadable ticker', tick);
        else out.next(seen);
      },
      hole: gapOf(symbol, 'ticker'),
    });

  const shared = sharedByName();
  return {
    ...withAllIntervals(clock, {
      klines: (symbol, interval) =>
        shared<Kline>(klineChannel(symbol, interval), (name, out) => klines(symbol, interval, name, out)),
      async history(symbol, interval, limit) {
        const answer = await history(symbol, interval, limit);
        return answer.kind === 'ok' ? ok(answer.value.map(place(symbol, interval))) : answer;
      },
    }),
    trades: (symbol) => shared<Trade>(channelOf('trades', symbol), (name, out) => trades(symbol, name, out)),
    depth: (symbol) => shared<Depth>(channelOf('depth', symbol), (name, out) => depth(symbol, name, out)),
    ticker: (symbol) => shared<Ticker>(channelOf('ticker', symbol), (name, out) => ticker(symbol, name, out)),
    gaps: gaps.asObservable(),
  };
}

const stopping = (stream: { stop(): void }, end: () => void) => (): void => {
  stream.stop();
  end();
};

/** Closed klines by `req`. */
function closedPast(sockets: Sockets, clock: Clock, count: Count): KlineHistory {
  const past = socketHistory(sockets, count, clock);
  return async (symbol, interval, limit) => {
    const asked = moment(clock);
    const answer = await past.klines(symbol, interval, { count: Math.min(limit, maxRequested) });
    if (answer.kind === 'failed') return answer;
    return ok(closedOnly(answer.value, interval, asked(), closeGraceMs(clock)));
  };
}

/** One stream for each channel, whose name says what it carries: it begins with the first subscriber and ends with the last. */
function sharedByName() {
  const streams = new Map<string, Observable<unknown>>();
  return <T>(name: string, start: (name: string, out: Subscriber<T>) => () => void): Observable<T> =>
    getOrMake(streams, name, () => new Observable<T>((out) => start(name, out)).pipe(share())) as Observable<T>;
}
