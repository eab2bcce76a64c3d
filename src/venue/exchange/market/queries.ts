/** Queries of public market data over REST. */
import type { Clock } from '../../../clock/clock.ts';
import type { ExchangeInterval } from '../../../domain/interval.ts';
import type { Depth } from '../../../domain/market.ts';
import { type Answer, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { type Endpoint, endpoints } from '../rest/endpoints.ts';
import { isFields, timeOf } from '../rest/json.ts';
import { rowsOf } from '../rest/reply.ts';
import type { Call, Rest } from '../rest/rest.ts';
import { closeGraceMs, klinePages, moment, noKlines } from './kline-history.ts';
import {
  canOpenAt,
  closedOnly,
  type RawKline,
  readBook,
  readKlines,
  readPrints,
  readTicker,
  readTime,
} from './read-market.ts';

/** A kline as the exchange lists it; the newest is usually still open. */
export interface ListedKline extends RawKline {
  readonly closed: boolean;
}

export type MarketQueries = ReturnType<typeof marketQueries>;

/** One query each; the feed pushes the same data. Without a limit the exchange uses its own (100). */
export function marketQueries(rest: Rest, clock: Clock, count: Count) {
  const ask = <T>(
    endpoint: Endpoint,
    query: NonNullable<Call['query']>,
    read: (value: unknown) => T | string,
  ): Promise<Answer<T>> => rest.ask({ endpoint, lane: 'market', query }, read);

  const page = klinePages(rest, clock, count);
  return {
    /** Whether the exchange answers at all. The answer to a ping is not specified, so any will do. */
    ping: () => ask(endpoints.ping, {}, () => undefined),
    /** The exchange's time, UTC ms. */
    time: () => ask(endpoints.time, {}, (value) => readTime(value) ?? 'the answer holds no serverTime'),
    /** At most 100 levels of either side: `{"time":null,"bids":[["3.90000000","431.00000000"],…],"asks":[["4.00000200",12.0,17.5],…]}` */
    depth: (symbol: string, limit?: number) =>
      ask(endpoints.depth, { symbol, limit }, (value): Depth | string => {
        if (!isFields(value)) return 'the answer is not a depth snapshot';
        const book = readBook(value['bids'], value['asks']);
        const seenAt = clock.now();
        return typeof book === 'string' ? book : { symbol, time: timeOf(value['time']) ?? seenAt, ...book, seenAt };
      }),
    ticker: (symbol: string) =>
      ask(
        endpoints.ticker,
        { symbol },
        (value) => readTicker(value, symbol, clock.now()) ?? 'the answer is not a ticker',
      ),
    /** The newest public prints, oldest first; at most 1,000. */
    trades: (symbol: string, limit?: number) =>
      ask(
        endpoints.trades,
        { symbol, limit },
        // {"list":[{"side":"BUY","price":"0.055","qty":"1.5","time":1537797044116}, …]} or the list alone
        (value) => {
          const rows = rowsOf(value);
          return rows === undefined ? 'the answer is not a list' : readPrints(rows, symbol, clock.now(), count);
        },
      ),
    /** The newest klines, oldest first; at most 300. None is a failure: a wrong interval gives an empty list and no error. */
    klines(symbol: string, interval: ExchangeInterval, limit?: number) {
      const asked = moment(clock);
      return ask(endpoints.klines, { symbol, interval, limit }, (value): readonly ListedKline[] | string => {
        const rows = readKlines(value, canOpenAt(interval, clock), count);
        if (rows === undefined) return 'the answer is not a list';
        if (rows.length === 0) return noKlines(symbol, interval);
        const closed = new Set(closedOnly(rows, interval, asked(), closeGraceMs(clock)));
        return rows.map((row) => ({ ...row, closed: closed.has(row) }));
      });
    },
    /** Up to 300 klines that open before a time (UTC ms), oldest first; none before the exchange's first. */
    async klinesBefore(
      symbol: string,
      interval: ExchangeInterval,
      before: number,
    ): Promise<Answer<readonly RawKline[]>> {
      // `endTime` includes the kline that opens at it.
      const answer = await page(symbol, interval, before - 1);
      // A deployment that ignores `endTime` gives its newest klines.
      return answer.kind === 'ok' ? ok(answer.value.filter(({ openTime }) => openTime < before)) : answer;
    },
  };
}
