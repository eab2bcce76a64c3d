/** The way of an order, or of a cancel, that takes whole klines. */
import type { Kline } from '../domain/market.ts';

export interface Way {
  /** How many klines are left. */
  left: number;
  /** When the last that was counted opened, UTC ms. */
  at: number;
}

/** Whether it has arrived with this kline, which counts once: rules that fill at a close come to it twice, the second time for what came of the first. */
export function isThere(way: Way, { openTime }: Pick<Kline, 'openTime'>): boolean {
  if (way.at !== openTime) way.left--;
  way.at = openTime;
  return way.left < 0;
}
