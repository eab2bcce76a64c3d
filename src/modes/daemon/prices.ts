/** What prices do: they mark the portfolio, move and trigger stops, and are what the loss limit looks at. */
import { priceText } from '../../domain/money.ts';
import type { ArmedStop } from '../../portfolio/protect.ts';
import type { MarketFeed } from '../../venue/venue.ts';
import type { Assembled } from '../assemble.ts';
import { bookPairs } from '../book-pairs.ts';
import type { Freshness } from './freshness.ts';
import type { Screen } from './screen.ts';

export interface Watched {
  readonly feed: Pick<MarketFeed, 'trades' | 'depth'>;
  readonly assembled: Pick<Assembled, 'portfolio' | 'protection' | 'risk' | 'kill'> & {
    hitStop(stop: ArmedStop, why: string): void;
  };
  readonly screen: Pick<Screen, 'addTrade'>;
}

/** Follows the prints and the books of a symbol; gives what ends that. */
export function watchPrices({ feed, assembled, screen }: Watched, symbol: string, fresh: Freshness): () => void {
  const { portfolio, protection, risk } = assembled;
  const [tradeSeen, bookSeen] = [fresh.line(), fresh.line()];
  const trades = feed.trades(symbol).subscribe((trade) => {
    portfolio.mark(symbol, trade.price, tradeSeen(trade.time));
    risk.seePrice(symbol, trade.price);
    screen.addTrade(trade);
    protection.trail(symbol, trade.price, trade.price, trade.time);
    for (const stop of protection.hitBy(symbol, trade.price, trade.price, trade.time)) {
      const level = priceText(stop.price, portfolio.instrument(symbol));
      assembled.hitStop(stop, `stop ${level} hit: traded at ${trade.price}`);
    }
    watchLoss(assembled);
  });
  const pairOf = bookPairs();
  // A book without trades is a quiet market, not a dead feed: it keeps the price fresh. Where prints do not come, it triggers stops alone.
  const depth = feed.depth(symbol).subscribe((book) => {
    const { bids, asks, time } = book;
    const at = bookSeen(time);
    risk.seeBook(book, at);
    const bid = bids[0]?.[0];
    const ask = asks[0]?.[0];
    if (bid !== undefined && ask !== undefined) portfolio.mark(symbol, (bid + ask) / 2, at);
    const pair = pairOf(book);
    if (pair === undefined) return;
    protection.trail(symbol, pair.far.bid, pair.far.ask);
    for (const stop of protection.hitBy(symbol, pair.near.bid, pair.near.ask)) {
      const level = priceText(stop.price, portfolio.instrument(symbol));
      const seen = stop.side === 'SELL' ? `best bid ${pair.near.bid}` : `best ask ${pair.near.ask}`;
      assembled.hitStop(stop, `stop ${level} hit: ${seen}`);
    }
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
