/** Klines of the past from the exchange: REST by pages, and where that ends over the socket, backwards from the newest. */

import type { Stretch } from '../../data/fetch-file.ts';
import { closeTime, type Interval, openTimeOf } from '../../domain/interval.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import type { RawKline } from '../../venue/exchange/market/read-market.ts';
import { type Answer, ok } from '../../venue/venue.ts';

/** Klines that the socket gives at once (specification §6.2). */
const socketPage = 300;

export interface KlinesAsked extends Stretch {
  readonly symbol: string;
  readonly interval: Interval;
}

/** What lies before the oldest kline that either way gives, in words. */
export interface Beginning {
  readonly at: number;
  readonly why: string;
}

export type KlineStep =
  /** All klines that open in the stretch. */
  | { readonly kind: 'page'; readonly from: number; readonly until: number; readonly klines: readonly RawKline[] }
  | { readonly kind: 'beginning'; readonly beginning: Beginning };

/** Asks for what lies before a time; remembers that REST has come to its end, since asking it on would find nothing. */
export function klinePages(
  { market, past }: Pick<Exchange, 'market' | 'past'>,
  { symbol, interval, from }: KlinesAsked,
) {
  let isRestDone = false;

  /** The page before `until`, the newest not asked for yet. */
  return async (until: number): Promise<Answer<KlineStep>> => {
    if (!isRestDone) {
      const answer = await market.klinesBefore(symbol, interval, until);
      if (answer.kind === 'failed') return answer;
      if (answer.value.length > 0) return ok(pageOf(answer.value));
      isRestDone = true;
    }
    const answer = await past.klines(symbol, interval, { count: socketPage, before: until });
    const older = answer.kind === 'ok' ? answer.value.filter(({ openTime }) => openTime < until) : [];
    if (older.length > 0) return ok(pageOf(older));
    const why = answer.kind === 'failed' ? answer.cause : 'the socket gives none that are older';
    return ok({ kind: 'beginning', beginning: { at: until, why: `REST gives none; ${why}` } });

    function pageOf(klines: readonly RawKline[]): KlineStep {
      const oldest = Math.max(from, klines[0]?.openTime ?? from);
      return { kind: 'page', from: oldest, until, klines: klines.filter(({ openTime }) => openTime >= from) };
    }
  };
}

/** The end of the last kline that had closed at `before`, UTC ms. */
export const closedUntil = (interval: Interval, before: number): number => openTimeOf(interval, before);

/** How many klines fit between, for telling how much is left. */
export const klinesBetween = (interval: Interval, { from, until }: Stretch): number =>
  Math.max(0, Math.ceil((until - from) / (closeTime(interval, from) - from)));
