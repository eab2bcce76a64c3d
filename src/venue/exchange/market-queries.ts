/** Depth, ticker and public trades by asking. */
import type { Clock } from '../../clock/clock.ts';
import type { Depth, Ticker, Trade } from '../../domain/market.ts';
import { type Answer, failed, ok } from '../venue.ts';
import { failure } from './answer.ts';
import type { Count } from './counters.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { isFields, timeOf } from './json.ts';
import { readBook, readPublicTrades, readTicker } from './read-market.ts';
import type { Rest } from './rest.ts';

/** The market by asking; the feed tells the same by itself. */
export interface MarketQueries {
  depth(symbol: string): Promise<Answer<Depth>>;
  ticker(symbol: string): Promise<Answer<Ticker>>;
  /** The newest public prints, oldest first. */
  trades(symbol: string): Promise<Answer<readonly Trade[]>>;
}

export function marketQueries(rest: Rest, clock: Clock, count: Count): MarketQueries {
  async function ask<T>(endpoint: Endpoint, symbol: string, read: (value: unknown) => T | string): Promise<Answer<T>> {
    const reply = await rest.call({ endpoint, lane: 'market', query: { symbol } });
    if (reply.kind !== 'ok') return failure(endpoint, reply);
    const value = read(reply.value);
    return typeof value === 'string' ? failed(`${endpoint.name}: ${value}`) : ok(value);
  }

  return {
    // {"time":null,"bids":[["3.90000000","431.00000000"],…],"asks":[["4.00000200",12.0,17.5],…]}
    depth: (symbol) =>
      ask(endpoints.depth, symbol, (value) => {
        if (!isFields(value)) return 'the answer is no book';
        const book = readBook(value['bids'], value['asks']);
        const seenAt = clock.now();
        return typeof book === 'string' ? book : { symbol, time: timeOf(value['time']) ?? seenAt, ...book, seenAt };
      }),
    ticker: (symbol) =>
      ask(endpoints.ticker, symbol, (value) => readTicker(value, symbol, clock.now()) ?? 'the answer is no ticker'),
    trades: (symbol) =>
      ask(
        endpoints.trades,
        symbol,
        (value) => readPublicTrades(value, symbol, clock.now(), count) ?? 'the answer is no list',
      ),
  };
}
