/** The market by asking: what is public. */
import type { Clock } from '../../../clock/clock.ts';
import type { Interval } from '../../../domain/interval.ts';
import type { Depth, Ticker, Trade } from '../../../domain/market.ts';
import { type Answer, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { type Endpoint, endpoints } from '../rest/endpoints.ts';
import { failure } from '../rest/failure.ts';
import { isFields, timeOf } from '../rest/json.ts';
import type { Rest } from '../rest/rest.ts';
import { closeGraceMs, moment, noKlines, pageLimit } from './kline-history.ts';
import {
  canOpenAt,
  closedOnly,
  type RawKline,
  readBook,
  readKlines,
  readPublicTrades,
  readTicker,
  readTime,
} from './read-market.ts';

/** A kline as the exchange lists it; the newest is mostly still open. */
export interface ListedKline extends RawKline {
  readonly closed: boolean;
}

/** The market by asking; the feed tells the same by itself. A limit left out is the exchange's own (100). */
export interface MarketQueries {
  /** Whether the exchange answers at all. */
  ping(): Promise<Answer<undefined>>;
  /** The exchange's time, UTC ms. */
  time(): Promise<Answer<number>>;
  /** At most 100 levels of either side. */
  depth(symbol: string, limit?: number): Promise<Answer<Depth>>;
  ticker(symbol: string): Promise<Answer<Ticker>>;
  /** The newest public prints, oldest first; at most 1,000. */
  trades(symbol: string, limit?: number): Promise<Answer<readonly Trade[]>>;
  /** The newest klines, oldest first; at most 300. None is a failure: a wrong interval gives an empty list and no error. */
  klines(symbol: string, interval: Interval, limit?: number): Promise<Answer<readonly ListedKline[]>>;
  /** Up to 300 klines that open before a time (UTC ms), oldest first; none where its past ends. */
  klinesBefore(symbol: string, interval: Interval, before: number): Promise<Answer<readonly RawKline[]>>;
}

export function marketQueries(rest: Rest, clock: Clock, count: Count): MarketQueries {
  async function ask<T>(
    endpoint: Endpoint,
    query: Readonly<Record<string, string | number | undefined>>,
    read: (value: unknown) => T | string,
  ): Promise<Answer<T>> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const said = Object.fromEntries(given.map(([name, value]) => [name, `${value}`]));
    const reply = await rest.call({ endpoint, lane: 'market', query: said });
    if (reply.kind !== 'ok') return failure(endpoint, reply);
    const value = read(reply.value);
    return typeof value === 'string' ? rest.unreadable(endpoint, value, reply.value) : ok(value);
  }

  return {
    // `{}`; what a ping answers is not specified, so that any answer will do.
    ping: () => ask(endpoints.ping, {}, () => undefined),
    time: () => ask(endpoints.time, {}, (value) => readTime(value) ?? 'the answer holds no serverTime'),
    // {"time":null,"bids":[["3.90000000","431.00000000"],…],"asks":[["4.00000200",12.0,17.5],…]}
    depth: (symbol, limit) =>
      ask(endpoints.depth, { symbol, limit }, (value) => {
        if (!isFields(value)) return 'the answer is not a depth snapshot';
        const book = readBook(value['bids'], value['asks']);
        const seenAt = clock.now();
        return typeof book === 'string' ? book : { symbol, time: timeOf(value['time']) ?? seenAt, ...book, seenAt };
      }),
    ticker: (symbol) =>
      ask(
        endpoints.ticker,
        { symbol },
        (value) => readTicker(value, symbol, clock.now()) ?? 'the answer is not a ticker',
      ),
    trades: (symbol, limit) =>
      ask(
        endpoints.trades,
        { symbol, limit },
        (value) => readPublicTrades(value, symbol, clock.now(), count) ?? 'the answer is not a list',
      ),
    klines(symbol, interval, limit) {
      const asked = moment(clock);
      return ask(endpoints.klines, { symbol, interval, limit }, (value) => {
        const rows = readKlines(value, canOpenAt(interval, clock), count);
        if (rows === undefined) return 'the answer is not a list';
        if (rows.length === 0) return noKlines(symbol, interval);
        const closed = new Set(closedOnly(rows, interval, asked(), closeGraceMs(clock)));
        return rows.map((row) => ({ ...row, closed: closed.has(row) }));
      });
    },
    // `endTime` takes the kline that opens at it in, too.
    klinesBefore: (symbol, interval, before) =>
      ask(endpoints.klines, { symbol, interval, limit: pageLimit, endTime: before - 1 }, (value) => {
        const rows = readKlines(value, canOpenAt(interval, clock), count);
        // A deployment that does not heed `endTime` gives its newest.
        return rows?.filter(({ openTime }) => openTime < before) ?? 'the answer is not a list';
      }),
  };
}
