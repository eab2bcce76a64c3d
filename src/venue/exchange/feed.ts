/** The market feed: streams over the one socket, shared by all who listen to the same channel. */
import { Observable, Subject, type Subscriber, share } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Interval } from '../../domain/interval.ts';
import type { Channel, Depth, FeedGap, Kline, Ticker, Trade } from '../../domain/market.ts';
import { type MarketFeed, ok } from '../venue.ts';
import type { Count } from './counters.ts';
import { type Fields, timeOf } from './json.ts';
import type { KlineHistory } from './kline-history.ts';
import { klineStream } from './kline-stream.ts';
import { type RawKline, readBook, readTicker } from './read-market.ts';
import type { Hole, Sockets } from './socket.ts';
import { tradeStream } from './trade-stream.ts';

export interface FeedOptions {
  readonly sockets: Sockets;
  readonly history: KlineHistory;
  readonly clock: Clock;
  readonly count: Count;
}

/** A frame dated further ahead than this (real ms) says nothing about order; believed, it would shut out all that follow. */
const aheadMs = 10_000;

export function feed({ sockets, history, clock, count }: FeedOptions): MarketFeed {
  const gaps = new Subject<FeedGap>();
  const streams = new Map<string, Observable<unknown>>();
  const now = (): number => clock.now();
  const gapOf =
    (symbol: string, channel: Channel, healed = false) =>
    (hole: Hole): void =>
      gaps.next({ symbol, channel, ...hole, healed });
  const withPlace =
    (symbol: string, interval: Interval) =>
    (kline: RawKline): Kline => ({ symbol, interval, ...kline, seenAt: now() });

  /** One stream for each channel, however many listen; unsubscribed when nobody does. */
  function shared<T>(channel: string, start: (out: Subscriber<T>) => () => void): Observable<T> {
    const made = (streams.get(channel) ?? new Observable(start).pipe(share())) as Observable<T>;
    streams.set(channel, made);
    return made;
  }

  function klines(symbol: string, interval: Interval): Observable<Kline> {
    const channel = `market_${symbol.toLowerCase()}_kline_${interval}`;
    return shared(channel, (out) => {
      const place = withPlace(symbol, interval);
      const stream = klineStream({
        clock,
        interval,
        count,
        fetch: (wanted) => history(symbol, interval, wanted),
        closed: (kline) => out.next(place(kline)),
        gap: (hole, healed) => gapOf(symbol, 'klines', healed)(hole),
        again: () => sockets.again(channel),
      });
      const end = sockets.listen(channel, stream);
      return () => {
        stream.stop();
        end();
      };
    });
  }

  function trades(symbol: string): Observable<Trade> {
    const channel = `market_${symbol.toLowerCase()}_trade_ticker`;
    return shared(channel, (out) =>
      sockets.listen(
        channel,
        tradeStream({ symbol, count, now, print: (trade) => out.next(trade), gap: gapOf(symbol, 'trades') }),
      ),
    );
  }

  /** Complete books; one that is older than the last is refused, since nothing else tells their order. */
  function depth(symbol: string): Observable<Depth> {
    const channel = `market_${symbol.toLowerCase()}_depth_step0`;
    return shared(channel, (out) => {
      let newest = 0;
      const data = (tick: Fields, ts: unknown): void => {
        const seenAt = now();
        const stated = timeOf(ts);
        const time = stated === undefined || stated > seenAt + clock.machine(aheadMs) ? seenAt : stated;
        if (time !== stated) count('depth without a usable time', ts);
        const book = readBook(tick['buys'] ?? tick['bids'], tick['asks']);
        if (typeof book === 'string') count(book, tick);
        else if (time < newest) count('older depth', ts);
        else {
          newest = time;
          out.next({ symbol, time, bids: book.bids, asks: book.asks, seenAt });
        }
      };
      return sockets.listen(channel, { data, hole: gapOf(symbol, 'depth') });
    });
  }

  /** `{"tick":{"amount":"307349564.16","close":"86650.67","high":"86822.69","low":"85114","open":"85616.23","rose":"0.012","vol":"3570.3"}}` */
  function ticker(symbol: string): Observable<Ticker> {
    const channel = `market_${symbol.toLowerCase()}_ticker`;
    return shared(channel, (out) =>
      sockets.listen(channel, {
        data(tick, ts) {
          const seen = readTicker({ ...tick, time: ts }, symbol, now());
          if (seen === undefined) count('unreadable ticker', tick);
          else out.next(seen);
        },
        hole: gapOf(symbol, 'ticker'),
      }),
    );
  }

  return {
    klines,
    trades,
    depth,
    ticker,
    gaps: gaps.asObservable(),
    async history(symbol, interval, wanted) {
      const answer = await history(symbol, interval, wanted);
      return answer.kind === 'ok' ? ok(answer.value.map(withPlace(symbol, interval))) : answer;
    },
  };
}
