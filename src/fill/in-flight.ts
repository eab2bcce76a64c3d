/** The latency of an order, or of a cancel, in whole klines. */
import type { Kline } from '../domain/market.ts';

export interface InFlight {
  /** How many klines are left. */
  left: number;
  /** When the last that was counted opened, UTC ms. */
  at: number;
}

/** Whether it has arrived with this kline. Each kline counts once, although rules that fill at a close call this twice. */
export function hasArrived(way: InFlight, { openTime }: Pick<Kline, 'openTime'>): boolean {
  if (way.at !== openTime) way.left--;
  way.at = openTime;
  return way.left < 0;
}
