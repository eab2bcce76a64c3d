/** The past over the socket (`req`, specification §6.2): klines and public prints. */
import type { Clock } from '../../../clock/clock.ts';
import type { ExchangeInterval } from '../../../domain/interval.ts';
import type { Trade } from '../../../domain/market.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { timeOf } from '../rest/json.ts';
import { channelOf, klineChannel } from './channels.ts';
import { canOpenAt, type RawKline, readKlines, readPrints } from './read-market.ts';
import type { Sockets } from './socket.ts';

export interface KlinePast {
  /** At most 300; left out, as many as the exchange likes. */
  readonly count?: number;
  /** Only klines that opened before this, UTC ms. */
  readonly before?: number;
}

export type SocketHistory = ReturnType<typeof socketHistory>;

export function socketHistory(sockets: Sockets, count: Count, clock: Clock) {
  return {
    /** Oldest first, the newest perhaps not closed. None is a failure, as over REST. */
    // {"event_rep":"rep","channel":"market_btcusdt_kline_1min","data":[{"id":1621326480,"amount":28899.2,"vol":13775.04,"open":2.0989,
    //  "close":2.0968,"high":2.0996,"low":2.096},…],"ts":1621418992094}
    async klines(
      symbol: string,
      interval: ExchangeInterval,
      { count: limit, before }: KlinePast = {},
    ): Promise<Answer<readonly RawKline[]>> {
      const channel = klineChannel(symbol, interval);
      const answer = await sockets.ask(channel, {
        // An empty endIdx has closed sockets. Ids are seconds.
        ...(before !== undefined && { endIdx: `${Math.floor(before / 1_000)}` }),
        ...(limit !== undefined && { pageSize: limit }),
      });
      if (answer.kind === 'failed') return answer;
      const rows = readKlines(answer.value.rows, canOpenAt(interval, clock), count) ?? [];
      return rows.length === 0 ? failed(`req klines: the exchange has none for ${symbol} ${interval}`) : ok(rows);
    },
    /** The newest public prints, oldest first. */
    // {"event_rep":"rep","channel":"market_btcusdt_trade_ticker","data":[{"amount":"21340.1","ds":"2026-09-23 11:30:30","id":13652127,
    //  "price":"86691.94","side":"SELL","ts":1790134230000,"vol":"0.24616"}],"tick":null,"ts":1790134231000,"status":"ok"}
    async trades(symbol: string): Promise<Answer<readonly Trade[]>> {
      const answer = await sockets.ask(channelOf('trades', symbol), {});
      if (answer.kind === 'failed') return answer;
      const seenAt = clock.now();
      return ok(readPrints(answer.value.rows, symbol, seenAt, count, timeOf(answer.value.ts) ?? seenAt));
    },
  };
}
