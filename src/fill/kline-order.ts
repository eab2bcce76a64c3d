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

/** Prices between which a kline fills nothing: not while its low stays above the first and its high below the second. */
export interface Reach {
  readonly below: number;
  readonly above: number;
}

/**
 * The highest price that reaches a BUY and the lowest that reaches a SELL; undefined while an order or a cancel has still to arrive, which the
 * next kline changes.
 */
export function reachOfAll(working: readonly Working[]): Reach | undefined {
  let [below, above] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { order, reach, active, cancel } of working) {
    if (!active || cancel !== undefined) return undefined;
    if (order.side === 'BUY') below = Math.max(below, reach);
    else above = Math.min(above, reach);
  }
  return { below, above };
}

/** The only order, while it has not arrived. */
export function onlyOnItsWay([only, other]: readonly Working[]): SimOrder | undefined {
  return only === undefined || other !== undefined || only.active || only.cancel !== undefined ? undefined : only.order;
}

/** True for a LIMIT that shall not take, and for an exit LIMIT that the open has already passed, under rules that fill it at the open. The stop is checked first. */
export const restsAtArrival = ({ purpose, postOnly }: SimOrder, { gapFill, marketAt }: Rules): boolean =>
  postOnly === true || (gapFill === 'open' && marketAt === 'open' && (purpose === 'takeProfit' || purpose === 'exit'));
