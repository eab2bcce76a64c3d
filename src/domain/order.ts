/** Orders, from a strategy's signal to the exchange's fills. */

import type { Side } from './market.ts';
import type { KeptState } from './memory.ts';
import type { Lots, Ticks, Units } from './money.ts';
import { sameOptions, type TargetOptions } from './target-options.ts';

export type OrderType = 'LIMIT' | 'MARKET';
export type Account = 'spot' | 'margin';

/** An order id as an exchange gives it. */
export const exchangeIdPattern = /^\d{1,40}$/;

/** Decisions of an operator about a quarantined trade. */
export const tradeDecisions = ['accepted', 'discarded'] as const;
export type TradeDecision = (typeof tradeDecisions)[number];

/** How much a target holds: a quantity of the base asset, an amount of the quote asset, or a share of the strategy's equity (1 = all). */
export type Size = { readonly quantity: number } | { readonly amount: number } | { readonly share: number };

/** The number of a size, in its own unit; below zero is short. */
export const sizeValue = (size: Size): number =>
  'quantity' in size ? size.quantity : 'share' in size ? size.share : size.amount;

/** True if both have the same number in the same unit. */
export function sameSize(a: Size | undefined, b: Size | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if ('quantity' in a) return 'quantity' in b && a.quantity === b.quantity;
  if ('amount' in a) return 'amount' in b && a.amount === b.amount;
  return 'share' in b && a.share === b.share;
}

/** A position to hold. Repeating it has no effect. */
export interface Target extends TargetOptions {
  readonly kind: 'target';
  readonly size: Size;
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

/** A desired state that a strategy emits; repeating it is harmless. */
export type Signal = Target | Quotes;

/** True when two signals have the same effect; their reasons may differ. */
export function sameSignal(a: Signal, b: Signal): boolean {
  if (a === b) return true;
  if (a.kind === 'target' && b.kind === 'target') return sameSize(a.size, b.size) && sameOptions(a, b);
  if (a.kind === 'quotes' && b.kind === 'quotes') {
    return a.quotes.length === b.quotes.length && a.quotes.every((quote, index) => sameQuote(quote, b.quotes[index]));
  }
  return false;
}

const sameQuote = (a: Quote, b: Quote | undefined): boolean =>
  b !== undefined && a.side === b.side && a.price === b.price && a.quantity === b.quantity;

/** The role of the only market of a strategy that names none. */
export const mainRole = 'main';

/** A decision's signal for one market, with what is kept with the decision. */
export interface Leg extends KeptState {
  readonly strategy: string;
  /** The strategy's name for the market. */
  readonly role: string;
  readonly symbol: string;
  /** Time of the decision, UTC ms. */
  readonly at: number;
  readonly signal: Signal;
}

/** The signals of one strategy at one moment: one for each of its markets that has one. */
export interface Decision {
  readonly strategy: string;
  /** UTC ms. */
  readonly at: number;
  readonly legs: readonly [Leg, ...Leg[]];
}

/** A decision about one market. */
export const decisionOf = (leg: Leg): Decision => ({ strategy: leg.strategy, at: leg.at, legs: [leg] });

/** What a strategy of several markets wants done when a leg has been open alone for longer than `afterMs`. */
export interface AlonePolicy {
  readonly afterMs: number;
  /** `complete`: the missing leg is ordered at market. `unwind`: the open legs are left. */
  readonly action: 'complete' | 'unwind';
}

/** How long legs of a strategy were open alone. Times in ms of the clock, values in quote, at what the positions cost. */
export interface AloneTimes extends AlonePolicy {
  readonly strategy: string;
  /** UTC ms; null while none is. */
  readonly since: number | null;
  /** The symbols that are open, and those that are missing, now or the last time. */
  readonly open: readonly string[];
  readonly missing: readonly string[];
  readonly longestMs: number;
  /** How often it lasted longer than `afterMs`, and for how long in all beyond that. */
  readonly times: number;
  readonly beyondMs: number;
  /** The most that was open alone beyond `afterMs`, in `quote`. */
  readonly largest: number;
  readonly quote: string;
  /** Why its legs were unwound, while they are kept closed for it. */
  readonly unwound: string | null;
}

/** How much an order asks for: base lots, or for a MARKET BUY on the exchange an amount of the quote asset (specification §4.2). */
export type Volume = { readonly lots: Lots } | { readonly amount: Units };

/** Why an order exists, beyond the strategy's own reason. `flatten`: an operator closes the position. */
export const purposes = ['enter', 'exit', 'quote', 'stop', 'takeProfit', 'flatten'] as const;
export type Purpose = (typeof purposes)[number];

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
  /** A LIMIT that shall not take. The exchange does not know of it; where klines fill it, it rests as it arrives. */
  readonly postOnly?: boolean;
  /** The expected quantity: the lots, or what the amount buys at the last price. */
  readonly expectedLots: Lots;
  /** Not sent after this, UTC ms: waiting for request weight must not make the decision stale. */
  readonly expiresAt: number;
  readonly purpose: Purpose;
  readonly reason: string;
  readonly createdAt: number;
}

export interface Denial {
  /** The rule's name. */
  readonly code: string;
  /** The numbers of the rule, ready to be shown. */
  readonly facts: Readonly<Record<string, string | number>>;
}
export type Verdict = { readonly kind: 'approved' } | ({ readonly kind: 'denied' } & Denial);

/** The exchange's status of an order. `CANCELING`: the cancel is accepted but not finished. */
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
  /** An undocumented status of the exchange; then `status` is one of an order that is not final. */
  readonly oddStatus?: string;
  readonly executed: Lots;
  /** Price and volume of the order, where the exchange reports them: a MARKET BUY has an amount, all others a quantity. */
  readonly price?: Ticks;
  readonly quantity?: Lots;
  readonly amount?: Units;
  /** When the exchange created it, UTC ms, where reported. */
  readonly createdAt?: number;
}

/** The outcome of sending an order. Only evidence of the exchange or a human ends `unknown`. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly report: OrderReport }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string }
  /** Proven: not one byte of the request left this machine. */
  | { readonly kind: 'notSent'; readonly cause: string }
  | { readonly kind: 'unknown'; readonly cause: string; readonly signedAt: number };

/**
 * The state of our order (`execution/states.ts` has the transitions). `closing`: final at the exchange, with fills missing here. `absent`:
 * proven to have no effect. `quarantined`: its outcome cannot be proven; it stays reserved and blocks its symbol until the exchange shows
 * it or a human decides.
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

/** A trade of the account as the exchange reports it. Each of its orders may be ours, or both in a self-trade. */
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
  /** The row as the exchange sent it. */
  readonly raw?: unknown;
  /** Why the row cannot be booked: a field is unreadable, and 0 or empty here. */
  readonly unreadable?: string;
  /** Why a simulated venue filled it. */
  readonly evidence?: Evidence;
}

/** The rule by which a simulated venue filled an order. */
export interface Evidence {
  readonly rule: string;
  readonly ambiguous?: true;
  /** The number of the market event that filled it, counted from the run's first; absent on klines, which have a time. */
  readonly eventSeq?: number;
  /** Base quantity of others ahead of it at its price at that event. */
  readonly queueAhead?: number;
  /** Its share of the event's quantity: of a print, or of a displayed level. */
  readonly participation?: number;
  /** Only for an order that is large for its market: its part of a usual day's volume. */
  readonly dayShare?: number;
  /** The fill's cost without the impact of its own order, a decimal; absent on a large order if the impact is unknown. */
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

/** What came of an order that was submitted. `notSent`: nothing left this machine. `absent`: it left, and the exchange provably has no such order. */
export type SubmitResult = 'accepted' | 'rejected' | 'notSent' | 'absent' | 'unknown';

/** A fill in JSON: money and quantities as exact decimals. */
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
