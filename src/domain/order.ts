/** Orders, from a strategy's signal to the exchange's fills. */
import type { Side } from './market.ts';
import type { Lots, Ticks, Units } from './money.ts';

export type OrderType = 'LIMIT' | 'MARKET';
export type Account = 'spot' | 'margin';

/** An order id as an exchange gives it. */
export const exchangeIdPattern = /^\d{1,40}$/;

/** How a human may decide a quarantined trade. */
export const tradeDecisions = ['accepted', 'discarded'] as const;
export type TradeDecision = (typeof tradeDecisions)[number];

/** How much a target holds: a quantity of the base asset, an amount of the quote asset, or a share of the strategy's equity (1 = all). */
export type Size = { readonly quantity: number } | { readonly amount: number } | { readonly share: number };

/** The number of a size, in its own unit; below zero is short. */
export const sizeValue = (size: Size): number =>
  'quantity' in size ? size.quantity : 'share' in size ? size.share : size.amount;

/** True when both have the same number in the same unit. */
export function sameSize(a: Size | undefined, b: Size | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if ('quantity' in a) return 'quantity' in b && a.quantity === b.quantity;
  if ('amount' in a) return 'amount' in b && a.amount === b.amount;
  return 'share' in b && a.share === b.share;
}

/** A position to hold. Repeating it changes nothing. */
export interface Target {
  readonly kind: 'target';
  readonly size: Size;
  /** Enter and exit by a resting LIMIT order at this price; without it by a MARKET order. */
  readonly limit?: number;
  /** Exit at market when the price touches this. */
  readonly stop?: number;
  /** Exit by a resting LIMIT order at this price. */
  readonly takeProfit?: number;
  /** A stop that follows the best price since entry at this distance, as a fraction (0.02 = 2 %). */
  readonly trailing?: number;
  /** Exit at market once the position has been held for so long, ms; `intervalMs` of an interval times its klines. */
  readonly exitAfterMs?: number;
  /** For the reader of `sluice why`. */
  readonly reason: string;
}

export interface Quote {
  readonly side: Side;
  readonly price: number;
  readonly quantity: number;
}

/** The resting orders to have. */
export interface Quotes {
  readonly kind: 'quotes';
  readonly quotes: readonly Quote[];
  readonly reason: string;
}

/** What a strategy emits: a desired state, so that repeating it is harmless. */
export type Signal = Target | Quotes;

/** The role of the only market of a strategy that names none. */
export const mainRole = 'main';

/** A decision's signal for one market. */
export interface Leg {
  readonly strategy: string;
  /** The strategy's name for the market. */
  readonly role: string;
  readonly symbol: string;
  /** Time of the decision, UTC ms. */
  readonly at: number;
  readonly signal: Signal;
}

/** The signals of one strategy at one moment; for now there is always one. */
export interface Decision {
  readonly strategy: string;
  /** UTC ms. */
  readonly at: number;
  readonly legs: readonly [Leg, ...Leg[]];
}

/** A decision about one market. */
export const decisionOf = (leg: Leg): Decision => ({ strategy: leg.strategy, at: leg.at, legs: [leg] });

/** How much an order asks for: base lots, or for a MARKET BUY on the exchange an amount of the quote asset (specification §4.2). */
export type Volume = { readonly lots: Lots } | { readonly amount: Units };

/** Why an order exists, beyond the strategy's own reason. */
export type Purpose = 'enter' | 'exit' | 'quote' | 'stop' | 'takeProfit';

/** One order that we decided to send, journalled before sending. */
export interface Intent {
  readonly clientOrderId: string;
  /** Number of the decision that it belongs to: grows by one with each changed decision of a journal. */
  readonly decision: number;
  readonly strategy: string;
  /** The leg of that decision. */
  readonly role: string;
  readonly account: Account;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly volume: Volume;
  /** LIMIT only. */
  readonly price?: Ticks;
  /** The quantity that we expect to trade: the lots asked for, or what the amount buys at the last price. */
  readonly expectedLots: Lots;
  /** Not sent after this, UTC ms: a wait for weight must not turn a decision into a stale one. */
  readonly expiresAt: number;
  readonly purpose: Purpose;
  readonly reason: string;
  readonly createdAt: number;
}

export interface Denial {
  /** The rule's name. */
  readonly code: string;
  /** The numbers it judged by, ready to be shown. */
  readonly facts: Readonly<Record<string, string | number>>;
}
export type Verdict = { readonly kind: 'approved' } | ({ readonly kind: 'denied' } & Denial);

/** What the exchange says of an order: its statuses in our words. `CANCELING` is a cancel accepted but not finished. */
export type VenueStatus = 'NEW' | 'PARTIALLY_FILLED' | 'FILLED' | 'CANCELING' | 'CANCELED' | 'REJECTED';
export const isFinal = (status: VenueStatus): boolean =>
  status === 'FILLED' || status === 'CANCELED' || status === 'REJECTED';

/** An order as the exchange reports it. */
export interface OrderReport {
  readonly orderId: string;
  /** As echoed; undefined where the exchange leaves it out. */
  readonly clientOrderId: string | undefined;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly status: VenueStatus;
  /** The exchange's word for the status where nobody has described it: `status` is then that of an order that is not over. */
  readonly oddStatus?: string;
  readonly executed: Lots;
  /** What was asked for, where the exchange says it and it can be read: a MARKET BUY asks for an amount, all others for a quantity. */
  readonly price?: Ticks;
  readonly quantity?: Lots;
  readonly amount?: Units;
  /** When the exchange created it, UTC ms, where it says so. */
  readonly createdAt?: number;
}

/** What came of sending an order. `unknown` is a state of its own: only the exchange's evidence or a human ends it. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly report: OrderReport }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string }
  /** Proven: not one byte of the request left this machine. */
  | { readonly kind: 'notSent'; readonly cause: string }
  | { readonly kind: 'unknown'; readonly cause: string; readonly signedAt: number };

/**
 * The life of one of our orders (`execution/states.ts` says how one becomes another). `closing`: final at
 * the exchange, but not all its fills are rows yet. `absent`: proven not to have taken effect. `quarantined`: nobody can prove
 * what became of it, so it stays reserved and blocks its symbol until the exchange shows it or a human decides.
 */
export type OrderState =
  | 'intended'
  | 'sending'
  | 'unknown'
  | 'quarantined'
  | 'open'
  | 'closing'
  | 'filled'
  | 'canceled'
  | 'rejected'
  | 'notSent'
  | 'absent';
export const isClosed = (state: OrderState): boolean =>
  state === 'filled' || state === 'canceled' || state === 'rejected' || state === 'notSent' || state === 'absent';

/** A trade of the account as the exchange reports it; either id may be one of our orders, both when we traded with ourselves. */
export interface VenueTrade {
  readonly tradeId: string;
  readonly symbol: string;
  readonly price: Ticks;
  readonly quantity: Lots;
  /** The ids of the account's orders in it: one, or two for a self-trade, the buyer's first. */
  readonly orderIds: readonly string[];
  readonly side: Side;
  readonly maker: boolean;
  readonly fee: Units;
  readonly feeAsset: string;
  readonly time: number;
  /** The row as the exchange sent it, for whoever must judge it. */
  readonly raw?: unknown;
  /** Why the row cannot be booked: a field that cannot be read. What is missing is 0 or empty here. */
  readonly unreadable?: string;
  /** How a simulated venue came to grant it. */
  readonly evidence?: Evidence;
}

/** By which rule a simulated fill was granted. */
export interface Evidence {
  readonly rule: string;
  readonly ambiguous?: true;
  /** The number of the market event that granted it, counted from the run's first; absent on klines, whose time says it. */
  readonly eventSeq?: number;
  /** Base quantity of others that was before it at its price when that event came. */
  readonly queueAhead?: number;
  /** Its share of what that event offered: of a print's size, of what a level displayed. */
  readonly participation?: number;
  /** Only of an order that is large for its market: the part of a usual day's volume that it asked for. */
  readonly dayShare?: number;
  /** What the fill would have cost without the impact of its own order, a decimal; of a large order without it no impact is known. */
  readonly unmoved?: string;
}

/** Our own execution, one row, unique by (account, tradeId, orderId). */
export interface Fill {
  readonly tradeId: string;
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly account: Account;
  readonly symbol: string;
  readonly side: Side;
  readonly price: Ticks;
  readonly quantity: Lots;
  readonly fee: Units;
  readonly feeAsset: string;
  readonly maker: boolean;
  readonly time: number;
  readonly purpose: Purpose;
  readonly evidence?: Evidence;
}

/** What became of an order that was to be sent. */
export type Sent = 'placed' | 'refused' | 'unknown';

/** A fill as JSON has it: money and quantities as exact decimals. */
export interface FillJson {
  readonly tradeId: string;
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly symbol: string;
  readonly side: Side;
  /** In the quote asset. */
  readonly price: string;
  /** In the base asset. */
  readonly quantity: string;
  /** In `feeAsset`. */
  readonly fee: string;
  readonly feeAsset: string;
  /** UTC ms. */
  readonly time: number;
}
