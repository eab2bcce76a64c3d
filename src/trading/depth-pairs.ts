/** Prices that two consecutive books agree on. One book alone moves no stop and triggers none (docs/decisions/0015). */
import type { Depth } from '../domain/market.ts';

interface Prices {
  readonly bid: number;
  readonly ask: number;
}

export interface DepthPair {
  /** The higher bid and the lower ask: what is at or beyond a level here is so in both. */
  readonly near: Prices;
  /** The lower bid and the higher ask: both have come at least so far. */
  readonly far: Prices;
  /** The middle hardly moved between them. */
  readonly isSteady: boolean;
}

/** A share of the price: with a wider spread a book has lost a side, which says nothing of what the symbol is worth. */
const maxSpread = 0.05;
/** A share of the price by which the middle of two steady books may differ. */
const maxMove = 0.01;

/**
 * Pairs each depth snapshot with the one before. Undefined if both have the same time, since the second may repeat the first, or if one is
 * too wide.
 */
export function depthPairs(): (book: Depth) => DepthPair | undefined {
  let before: (Prices & { readonly time: number }) | undefined;
  return ({ time, bids, asks }) => {
    const [bid, ask] = [bids[0]?.[0], asks[0]?.[0]];
    if (bid === undefined || ask === undefined || ask - bid > maxSpread * ask) {
      before = undefined;
      return undefined;
    }
    const first = before;
    before = { time, bid, ask };
    if (first === undefined || time <= first.time) return undefined;
    const moved = Math.abs(bid + ask - first.bid - first.ask);
    return {
      near: { bid: Math.max(bid, first.bid), ask: Math.min(ask, first.ask) },
      far: { bid: Math.min(bid, first.bid), ask: Math.max(ask, first.ask) },
      isSteady: moved <= maxMove * (first.bid + first.ask),
    };
  };
}
