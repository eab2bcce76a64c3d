/** Rules that need a book or the way of a price: where nobody shows them, as in a run over klines, they do not apply. */
import type { Level } from '../domain/market.ts';
import {
  type Lots,
  lotsOf,
  minus,
  noLots,
  notional,
  noUnits,
  partOfLots,
  plus,
  priceNumber,
  quantityNumber,
  quantityText,
  rateNumber,
  rateText,
  type Ticks,
  ticksOf,
  unitsNumber,
} from '../domain/money.ts';
import { isProtective, type Rule, type Valued } from './context.ts';

/** What the order would take from, best first. */
const opposite = ({ draft, book }: Valued): readonly Level[] => (draft.side === 'BUY' ? book?.asks : book?.bids) ?? [];

const isFresh = ({ book, maxBookAgeMs }: Valued): boolean =>
  book !== undefined && maxBookAgeMs !== undefined && book.ageMs <= maxBookAgeMs;

/** True where an order would trade at once: MARKET, or LIMIT at or beyond the best price of the other side. */
function takes(context: Valued): boolean {
  const { draft, at } = context;
  if (draft.price === undefined) return true;
  const best = opposite(context)[0]?.[0];
  if (best === undefined) return false;
  return draft.side === 'BUY' ? ticksOf(best, at, 'up') <= draft.price : ticksOf(best, at, 'down') >= draft.price;
}

/** A MARKET order is sent at no price that anybody named: without a fresh book nobody knows what it would pay. */
export const bookAge: Rule = (context) => {
  const { draft, maxBookAgeMs, book, limits } = context;
  if (maxBookAgeMs === undefined || draft.price !== undefined || isProtective(draft) || isFresh(context))
    return undefined;
  return {
    ageMs: book === undefined ? 'never seen' : Math.round(book.ageMs),
    maxBookAgeMs: limits.maxBookAgeMs ?? maxBookAgeMs,
  };
};

/** Period collar: a price that runs away pauses its symbol until it has been calm for as long as is looked back. */
export const move: Rule = ({ draft, moved, limits }) => {
  const { maxMove, moveMs } = limits;
  if (maxMove === undefined || moved === undefined || isProtective(draft) || moved <= rateNumber(maxMove))
    return undefined;
  return { moved: moved.toFixed(4), maxMove: rateText(maxMove), moveMs: moveMs ?? 0 };
};

/** Max volume: a part of what the book shows on the side that the order would take from. */
export const depthShare: Rule = (context) => {
  const { draft, at, limits } = context;
  if (limits.maxDepthShare === undefined || isProtective(draft) || !isFresh(context) || !takes(context))
    return undefined;
  let shown = noLots;
  for (const [, quantity] of opposite(context)) shown = plus(shown, lotsOf(quantity, at));
  const most = partOfLots(shown, limits.maxDepthShare);
  if (draft.expectedLots <= most) return undefined;
  return {
    quantity: quantityText(draft.expectedLots, at),
    shown: quantityText(shown, at),
    maxDepthShare: rateText(limits.maxDepthShare),
  };
};

/** Erroneous price of a MARKET order: what it is expected to pay beyond the mid price, walking the book. */
export const slippage: Rule = (context) => {
  const { draft, book, limits } = context;
  if (limits.maxSlippage === undefined || draft.price !== undefined || isProtective(draft) || !isFresh(context))
    return undefined;
  const bid = book?.bids[0]?.[0];
  const ask = book?.asks[0]?.[0];
  const average = averagePrice(context);
  const maxSlippage = rateText(limits.maxSlippage);
  if (bid === undefined || ask === undefined || average === undefined)
    return { slippage: 'more than the book shows', maxSlippage };
  const mid = (bid + ask) / 2;
  const estimate = draft.side === 'BUY' ? average / mid - 1 : 1 - average / mid;
  return estimate <= rateNumber(limits.maxSlippage) ? undefined : { slippage: estimate.toFixed(4), maxSlippage };
};

/** What the order would trade at on average; undefined where the book shows too little. */
function averagePrice(context: Valued): number | undefined {
  const { draft, at } = context;
  let left: Lots = draft.expectedLots;
  let spent = noUnits;
  for (const [price, quantity] of opposite(context)) {
    const here = lotsOf(quantity, at);
    const taken = here < left ? here : left;
    spent = plus(spent, notional(levelTicks(price, context), taken, at));
    left = minus(left, taken);
    if (left === 0n) return unitsNumber(spent) / quantityNumber(draft.expectedLots, at);
  }
  return undefined;
}

const levelTicks = (price: number, { draft, at }: Valued): Ticks =>
  ticksOf(price, at, draft.side === 'BUY' ? 'up' : 'down');

/** Self-match: an order must not trade with one of ours, whichever strategy's. Without a book any of ours that rests is too near for a MARKET order. */
export const selfMatch: Rule = (context) => {
  const { draft, portfolio, limits, at } = context;
  if (limits.noSelfMatch !== true || isProtective(draft)) return undefined;
  const reach = draft.price ?? reachOf(context);
  for (const { intent, state } of portfolio.orders()) {
    if (intent.symbol !== draft.symbol || intent.side === draft.side || state === 'closing') continue;
    const { price } = intent;
    const meets =
      price === undefined || reach === undefined || (draft.side === 'BUY' ? price <= reach : price >= reach);
    if (meets)
      return {
        order: intent.clientOrderId,
        owner: intent.strategy,
        at: price === undefined ? 'market' : priceNumber(price, at),
      };
  }
  return undefined;
};

/** The worst price that a MARKET order would reach; undefined where nobody can tell. */
function reachOf(context: Valued): Ticks | undefined {
  if (!isFresh(context)) return undefined;
  let left: Lots = context.draft.expectedLots;
  for (const [price, quantity] of opposite(context)) {
    left = minus(left, lotsOf(quantity, context.at));
    if (left <= 0n) return levelTicks(price, context);
  }
  return undefined;
}
