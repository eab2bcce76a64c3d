/** Which extreme of a kline came first, for the paths that a ruleset may choose (fill-engine §2.2). */
import type { Kline, Side } from '../domain/market.ts';
import type { Rules } from './rules.ts';

/** Whether a target at this price comes before a stop, both within one kline; `side` is that of the orders that leave the position. */
export function isTargetFirst(
  path: Rules['path'],
  { open, high, low }: Pick<Kline, 'open' | 'high' | 'low'>,
  side: Side,
  target: number,
): boolean {
  if (path === 'pessimistic') return false;
  // Every path begins with the open.
  if (side === 'SELL' ? open >= target : open <= target) return true;
  // As far from the one as from the other: nobody knows, so the worse.
  if (path === 'nearest' && high - open === open - low) return false;
  const isHighFirst = path === 'OHLC' || (path === 'nearest' && high - open < open - low);
  return isHighFirst === (side === 'SELL');
}
