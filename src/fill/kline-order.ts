/** An order at the exchange while it waits or rests, as the fill engine on klines keeps it. */
import type { Lots } from '../domain/money.ts';
import type { InFlight } from './in-flight.ts';
import type { SimOrder } from './orders.ts';
import type { Rules } from './rules.ts';

export interface Working {
  readonly order: SimOrder;
  /** The price that fills it, where it rests. */
  readonly reach: number;
  remaining: Lots;
  active: boolean;
  readonly way: InFlight;
  /** Of its cancel. */
  cancel: InFlight | undefined;
  /** Open time of the kline in which it took: what it left rests from the next one on. */
  tookAt: number;
}

/** The highest price that reaches a BUY and the lowest that reaches a SELL, of orders that rest. */
export function reachOfAll(resting: readonly Pick<Working, 'order' | 'reach'>[]): {
  readonly below: number;
  readonly above: number;
} {
  let [below, above] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { order, reach } of resting) {
    if (order.side === 'BUY') below = Math.max(below, reach);
    else above = Math.min(above, reach);
  }
  return { below, above };
}

/** True for a LIMIT that shall not take, and for an exit LIMIT that the open has already passed, under rules that fill it at the open. The stop is checked first. */
export const restsAtArrival = ({ purpose, postOnly }: SimOrder, { gapFill, marketAt }: Rules): boolean =>
  postOnly === true || (gapFill === 'open' && marketAt === 'open' && (purpose === 'takeProfit' || purpose === 'exit'));
