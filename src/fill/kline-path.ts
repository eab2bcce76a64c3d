/** Which extreme of a kline came first, for the paths that a ruleset may choose. */
import type { Kline, Side } from '../domain/market.ts';
import type { Rules } from './rules.ts';

/** Of a price: what differences of prices may be off by. */
const roundedShare = 1e-12;

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
  const further = high - open - (open - low);
  // As far from the one as from the other: nobody knows, so the worse. Differences of prices are rounded, by less than any tick.
  if (path === 'nearest' && Math.abs(further) < high * roundedShare) return 'stop';
  const isHighFirst = path === 'OHLC' || (path === 'nearest' && further < 0);
  return isHighFirst === (side === 'SELL') ? 'assumedTarget' : 'stop';
}
