/** Which extreme of a kline came first, for the paths that a ruleset may choose (fill-engine §2.2). */
import type { Kline, Side } from '../domain/market.ts';
import type { Rules } from './rules.ts';

/**
 * What comes first of a target at this price and a stop, both within one kline: the target for certain where the kline opens at it,
 * or because the path is taken to run so. `side` is that of the orders that leave the position.
 */
export function firstOf(
  path: Rules['path'],
  { open, high, low }: Pick<Kline, 'open' | 'high' | 'low'>,
  side: Side,
  target: number,
): 'stop' | 'target' | 'assumedTarget' {
  if (path === 'pessimistic') return 'stop';
  // Every path begins with the open.
  if (side === 'SELL' ? open >= target : open <= target) return 'target';
  // As far from the one as from the other: nobody knows, so the worse.
  if (path === 'nearest' && high - open === open - low) return 'stop';
  const isHighFirst = path === 'OHLC' || (path === 'nearest' && high - open < open - low);
  return isHighFirst === (side === 'SELL') ? 'assumedTarget' : 'stop';
}
