/** The newest trades that the exchange shows: it has no way to ask for older ones (specification §4.1, §6.2). */
import type { Trade } from '../../domain/market.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import { type Answer, ok } from '../../venue/venue.ts';

/** Trades that REST gives at once (specification §4.1). */
const mostTrades = 1_000;

export interface TradePage {
  /** UTC ms; every trade from here to before `until` is there. */
  readonly from: number;
  readonly until: number;
  readonly trades: readonly Trade[];
  /** There were older ones. */
  readonly isFull: boolean;
}

/** Asks by REST, and over the socket where that shows more. Of a page that is full the first moment is left out: it may be cut in two. */
export async function tradePage(
  { market, past }: Pick<Exchange, 'market' | 'past'>,
  symbol: string,
): Promise<Answer<TradePage>> {
  const [rest, socket] = [await market.trades(symbol, mostTrades), await past.trades(symbol)];
  if (rest.kind === 'failed') return socket.kind === 'ok' ? ok(wholeMoments(socket.value)) : rest;
  const more = socket.kind === 'ok' && (socket.value[0]?.time ?? Number.POSITIVE_INFINITY) < (rest.value[0]?.time ?? 0);
  return ok(wholeMoments(more ? socket.value : rest.value));
}

function wholeMoments(all: readonly Trade[]): TradePage {
  const [first, last] = [all[0]?.time ?? 0, all.at(-1)?.time ?? 0];
  // How many an exchange shows at most differs from one to the next; a list of fewer than 100 is all there is.
  const isFull = all.length >= 100 && first !== last;
  const trades = isFull ? all.filter(({ time }) => time > first) : all;
  return { from: trades[0]?.time ?? first, until: last + 1, trades, isFull };
}
