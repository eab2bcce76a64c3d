/** Orders and trades as the exchange itself keeps them. */
import type { Side } from '../../domain/market.ts';
import { type Lots, minus, type Ticks, type Units } from '../../domain/money.ts';
import type { Account, OrderType, VenueStatus } from '../../domain/order.ts';

/** One order; the exchange changes it in place as it fills. */
export interface SimOrder {
  /** 19 digits, above 2^53: text everywhere inside. */
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly uid: string;
  readonly account: Account;
  /** Whose money it moves: `holderOf(uid, account)`. */
  readonly holder: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  /** LIMIT only; zero for MARKET. */
  readonly price: Ticks;
  /** Ordered base quantity; zero for a MARKET BUY, which orders an amount. */
  readonly quantity: Lots;
  /** Ordered quote amount of a MARKET BUY; zero otherwise. */
  readonly amount: Units;
  /** Set where no client sent it so: a person placed it, or a fault delivered a request once more. */
  madeBy?: 'hand' | 'fault';
  /** UTC ms of the exchange. */
  readonly createdAt: number;
  updatedAt: number;
  status: VenueStatus;
  executed: Lots;
  /** Quote traded so far, fees left out. */
  spent: Units;
  /** What is still locked for it: quote for a BUY, base for a SELL. */
  locked: Units;
  /** Displayed size that came before it at its own price. */
  queueAhead: Lots;
}

/** The key of a user's balances in one of the two accounts: margin is kept apart from spot (specification §4.4). */
export const holderOf = (uid: string, account: Account): string => (account === 'spot' ? uid : `${uid} margin`);

/** One side of a trade; absent if the recorded market took it. */
export interface Leg {
  readonly orderId: string;
  readonly uid: string;
  readonly account: Account;
  readonly maker: boolean;
  readonly fee: Units;
  readonly feeAsset: string;
}

/** A trade in which at least one user took part. */
export interface SimTrade {
  readonly tradeId: string;
  readonly symbol: string;
  readonly price: Ticks;
  readonly quantity: Lots;
  readonly time: number;
  /** The taker's side. */
  readonly side: Side;
  readonly buyer: Leg | undefined;
  readonly seller: Leg | undefined;
}

/** A public print. */
export interface Print {
  readonly time: number;
  readonly price: Ticks;
  readonly quantity: Lots;
  /** The taker's side. */
  readonly side: Side;
}

/** True while the order can still fill or be cancelled. */
export const isOpen = (order: SimOrder): boolean =>
  order.status === 'NEW' || order.status === 'PARTIALLY_FILLED' || order.status === 'CANCELING';

/** Lots that a LIMIT order or a MARKET SELL has not filled yet. */
export const remaining = (order: SimOrder): Lots => minus(order.quantity, order.executed);
