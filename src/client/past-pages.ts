/** Pages of past market data: klines over REST, then over the socket, backwards from the newest; and the newest trades. */
import { closeTime, type ExchangeInterval, type Interval } from '../domain/interval.ts';
import type { Trade } from '../domain/market.ts';
import type { Exchange } from '../venue/exchange/exchange.ts';
import type { RawKline } from '../venue/exchange/market/read-market.ts';
import { type Answer, ok } from '../venue/venue.ts';

/** Klines per reply of the socket (specification §6.2), and trades per reply of REST (§4.1). */
const socketKlines = 300;
const restTrades = 1_000;
/** Exchanges differ in their largest list of trades. One below this is complete. */
const fewTrades = 100;

export type KlineStep =
  /** All klines that open from `from` to before `until`. */
  | { readonly kind: 'page'; readonly from: number; readonly until: number; readonly klines: readonly RawKline[] }
  /** The exchange has no klines before `at`. */
  | { readonly kind: 'beginning'; readonly at: number; readonly why: string };

/** Returns a query for the page before a time. Once REST has no older klines it is not asked again. */
export function klinePages(
  { market, past }: Pick<Exchange, 'market' | 'past'>,
  { symbol, interval, from }: { readonly symbol: string; readonly interval: ExchangeInterval; readonly from: number },
): (until: number) => Promise<Answer<KlineStep>> {
  let isRestDone = false;
  const page = (until: number, klines: readonly RawKline[]): Answer<KlineStep> =>
    ok({
      kind: 'page',
      from: Math.max(from, klines[0]?.openTime ?? from),
      until,
      klines: klines.filter(({ openTime }) => openTime >= from),
    });
  return async (until) => {
    if (!isRestDone) {
      const answer = await market.klinesBefore(symbol, interval, until);
      if (answer.kind === 'failed') return answer;
      if (answer.value.length > 0) return page(until, answer.value);
      isRestDone = true;
    }
    const answer = await past.klines(symbol, interval, { count: socketKlines, before: until });
    const older = answer.kind === 'ok' ? answer.value.filter(({ openTime }) => openTime < until) : [];
    if (older.length > 0) return page(until, older);
    const why = answer.kind === 'failed' ? answer.cause : 'the socket gives none that are older';
    return ok({ kind: 'beginning', at: until, why: `REST gives none; ${why}` });
  };
}

/** The number of klines that open from `from` to before `until`. */
export const klinesBetween = (interval: Interval, from: number, until: number): number =>
  Math.max(0, Math.ceil((until - from) / (closeTime(interval, from) - from)));

export interface TradePage {
  /** UTC ms; every trade from here to before `until` is included. */
  readonly from: number;
  readonly until: number;
  readonly trades: readonly Trade[];
  /** There are older trades, which the exchange does not show (specification §4.1, §6.2). */
  readonly isFull: boolean;
}

/** The newest trades, by REST or by the socket, whichever reaches further back. */
export async function tradePage(
  { market, past }: Pick<Exchange, 'market' | 'past'>,
  symbol: string,
): Promise<Answer<TradePage>> {
  const [rest, socket] = [await market.trades(symbol, restTrades), await past.trades(symbol)];
  if (rest.kind === 'failed') return socket.kind === 'ok' ? ok(wholeMoments(socket.value)) : rest;
  const isLonger =
    socket.kind === 'ok' && (socket.value[0]?.time ?? Number.POSITIVE_INFINITY) < (rest.value[0]?.time ?? 0);
  return ok(wholeMoments(isLonger ? socket.value : rest.value));
}

/** A full list may cut its first moment in two, so that moment is left out. */
function wholeMoments(all: readonly Trade[]): TradePage {
  const [first, last] = [all[0]?.time ?? 0, all.at(-1)?.time ?? 0];
  const isFull = all.length >= fewTrades && first !== last;
  const trades = isFull ? all.filter(({ time }) => time > first) : all;
  return { from: trades[0]?.time ?? first, until: last + 1, trades, isFull };
}
