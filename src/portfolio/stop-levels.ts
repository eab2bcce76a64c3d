/** The prices at which stops act, as numbers: what a backtest compares klines with, to pass over those that reach none. */
import type { Side } from '../domain/market.ts';
import { priceNumber, rateNumber } from '../domain/money.ts';
import { bestOf, fixedStop, followsBest, type Guard, keepBreakEven, pendingBreakEven } from './guard.ts';

/** A trailing stop as numbers: it is a fraction of the best price and a distance away from it. */
export interface Trail {
  readonly side: Side;
  best: number;
  readonly by: number;
  readonly away: number;
}

/** Nothing happens in a kline whose low stays above `below`, whose high stays below `above`, and which no trailing stop is hit by. */
export interface Levels {
  readonly below: number;
  readonly above: number;
  /** Trailing stops, whose level moves with the klines that are passed over. */
  readonly trails: readonly Trail[];
}

export const noLevels: Levels = { below: Number.NEGATIVE_INFINITY, above: Number.POSITIVE_INFINITY, trails: [] };

/** Levels with those of a guard; undefined before the first price of one that follows the best price. */
export function narrowedBy(guard: Guard, levels: Levels): Levels | undefined {
  const { subAccount, trailing, exitedSize } = guard;
  if (exitedSize !== undefined || subAccount.isFlat) return levels;
  const { isLong, instrument } = subAccount;
  const side = isLong ? 'SELL' : 'BUY';
  keepBreakEven(guard, side);
  const { relative } = guard;
  let { below, above } = levels;
  const stop = fixedStop(guard, side);
  if (stop !== undefined && isLong) below = Math.max(below, priceNumber(stop, instrument));
  if (stop !== undefined && !isLong) above = Math.min(above, priceNumber(stop, instrument));
  if (!followsBest(guard)) return { below, above, trails: levels.trails };
  const best = bestOf(guard);
  if (best === undefined) return undefined;
  // The stop moves where a best price reaches break-even.
  const even = pendingBreakEven(guard, side);
  if (even?.isReached === false) {
    const reached = priceNumber(even.reached, instrument);
    if (isLong) above = Math.min(above, reached);
    else below = Math.max(below, reached);
  }
  if (trailing === undefined && relative?.trailing === undefined) return { below, above, trails: levels.trails };
  const by = trailing === undefined ? 0 : rateNumber(trailing);
  const away = relative?.trailing?.distance ?? 0;
  return { below, above, trails: [...levels.trails, { side, best: priceNumber(best, instrument), by, away }] };
}
