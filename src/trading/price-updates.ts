/** Effects of prices: they mark the portfolio, move and trigger stops, and may reach the loss limit. */
import type { Trade } from '../domain/market.ts';
import { priceText } from '../domain/money.ts';
import type { ArmedStop } from '../portfolio/protection.ts';
import type { MarketFeed } from '../venue/venue.ts';
import type { Assembled } from './assemble.ts';
import { type DepthPair, depthPairs } from './depth-pairs.ts';
import type { Freshness } from './price-freshness.ts';

/** Whose stops prices move and set off. */
export interface StopParts extends Pick<Assembled, 'portfolio' | 'protection'> {
  hitStop(stop: ArmedStop, why: string): void;
}

/** A print moves trailing stops and sets off those that it reaches. */
export function hitByTrade(parts: StopParts, { symbol, price, time }: Pick<Trade, 'symbol' | 'price' | 'time'>): void {
  const { portfolio, protection } = parts;
  protection.trail(symbol, price, price, time);
  for (const stop of protection.hitBy(symbol, price, price, time)) {
    const level = priceText(stop.price, portfolio.instrument(symbol));
    parts.hitStop(stop, `stop ${level} hit: traded at ${price}`);
  }
}

/** So do two books in a row: where prints do not come, they do it alone. */
export function hitByBooks(parts: StopParts, symbol: string, { near, far }: DepthPair): void {
  const { portfolio, protection } = parts;
  protection.trail(symbol, far.bid, far.ask);
  for (const stop of protection.hitBy(symbol, near.bid, near.ask)) {
    const level = priceText(stop.price, portfolio.instrument(symbol));
    const seen = stop.side === 'SELL' ? `best bid ${near.bid}` : `best ask ${near.ask}`;
    parts.hitStop(stop, `stop ${level} hit: ${seen}`);
  }
}

export interface Watched {
  readonly feed: Pick<MarketFeed, 'trades' | 'depth'>;
  readonly assembled: StopParts & Pick<Assembled, 'risk' | 'kill'>;
  readonly screen: { addTrade(trade: Trade): void };
}

/** Follows the prints and the books of a symbol; gives what ends that. */
export function watchPrices({ feed, assembled, screen }: Watched, symbol: string, fresh: Freshness): () => void {
  const { portfolio, risk } = assembled;
  const [tradeSeen, bookSeen] = [fresh.line(), fresh.line()];
  const trades = feed.trades(symbol).subscribe((trade) => {
    portfolio.mark(symbol, trade.price, tradeSeen(trade.time));
    risk.seePrice(symbol, trade.price);
    screen.addTrade(trade);
    hitByTrade(assembled, trade);
    watchLoss(assembled);
  });
  const pairOf = depthPairs();
  // A book without trades is a quiet market, not a dead feed: it keeps the price fresh.
  const depth = feed.depth(symbol).subscribe((book) => {
    const { bids, asks, time } = book;
    const at = bookSeen(time);
    risk.seeBook(book, at);
    const bid = bids[0]?.[0];
    const ask = asks[0]?.[0];
    if (bid !== undefined && ask !== undefined) portfolio.mark(symbol, (bid + ask) / 2, at);
    const pair = pairOf(book);
    if (pair === undefined) return;
    hitByBooks(assembled, symbol, pair);
    // A middle that has just jumped may be one odd book; a loss limit, once reached, is not taken back.
    if (pair.isSteady) watchLoss(assembled);
  });
  return () => {
    trades.unsubscribe();
    depth.unsubscribe();
  };
}

/** Kills where the loss limit is reached. */
export function watchLoss(assembled: Pick<Assembled, 'risk' | 'kill'>): void {
  const kill = assembled.risk.watchLoss();
  if (kill !== undefined) void assembled.kill(kill);
}
