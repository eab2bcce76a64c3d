/** Orders, fills and stops as the fill engine knows them: whatever the fidelity, the same types go in and come out. */
import type { Side } from '../domain/market.ts';
import type { Lots, Ticks } from '../domain/money.ts';
import type { Evidence, OrderType, Purpose, Volume } from '../domain/order.ts';

/** An order at the simulated exchange; an `Intent` is one. */
export interface SimOrder {
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly volume: Volume;
  readonly purpose?: Purpose;
  /** LIMIT only. */
  readonly price?: Ticks;
  /** It shall not take. */
  readonly postOnly?: boolean;
  /** UTC ms. */
  readonly createdAt?: number;
}

/** A fill that the engine granted, before fees and ids. */
export interface SimFill {
  readonly order: SimOrder;
  readonly side: Side;
  readonly price: Ticks;
  readonly quantity: Lots;
  readonly maker: boolean;
  /** UTC ms; the last one of its kline when it happened somewhere inside. */
  readonly time: number;
  readonly evidence: Evidence;
  /** Only where the kline was ambiguous: the price that this quantity would have had if it had gone our way. */
  readonly bestPrice?: Ticks | undefined;
  /** Only where a chosen path let a target come first: the price of the stop that the kline could have hit before it. */
  readonly worstPrice?: Ticks | undefined;
}

/** An order is over: wholly filled, or canceled with what it had. */
export interface OrderEnd {
  readonly order: SimOrder;
  readonly end: 'filled' | 'canceled';
}

/** What one phase did, in the order in which it happened; an order's end comes after its last fill. */
export interface Step {
  readonly fills: readonly SimFill[];
  readonly ends: readonly OrderEnd[];
}

export const nothing: Step = { fills: [], ends: [] };

/** A step while it happens. */
export interface Growing {
  fills: readonly SimFill[];
  ends: readonly OrderEnd[];
}

export const fresh = (): Growing => ({ fills: nothing.fills, ends: nothing.ends });

/** Most steps hold one fill and one end: an empty list that grows by `push` takes ten times the memory of these. */
export const and = <T>(list: readonly T[], last: T): readonly T[] => (list.length === 0 ? [last] : [...list, last]);

/** A client-side stop in force: `side` is that of the order which leaves the position. One for each strategy and symbol. */
export interface Stop {
  readonly strategy: string;
  readonly side: Side;
  readonly price: Ticks;
  /** The take-profit of a position that this kline entered: by the rules it rests from the next one on, live it would soon after. */
  readonly soon?: Ticks;
  /** The exchange leaves the position here, for want of margin; `orElse` is the stop that the same kline could have hit first. */
  readonly liquidation?: { readonly orElse?: Ticks };
}

/** A stop that a kline triggers, and what its MARKET order gets. */
export interface StopHit {
  readonly strategy: string;
  /** With the spread: what the order fills at. */
  readonly price: Ticks;
  readonly evidence: Evidence;
  /** The best price of a target that the same kline could have filled first. */
  readonly bestPrice?: Ticks;
}
