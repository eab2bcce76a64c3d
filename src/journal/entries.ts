/**
 * What is written down, one type for each row. Money is decimal text here, ids are text, times are UTC ms: a row can be read
 * without knowing the program.
 */

import type { Side } from '../domain/market.ts';
import type { Account, OrderState, OrderType, Purpose, Signal, TradeDecision } from '../domain/order.ts';

/** A signal that differs from the strategy's last one. `quantity`: what it was sized to, for a target. */
export interface SignalEntry {
  readonly kind: 'signal';
  readonly at: number;
  /** Number of its decision. Decisions of a journal are counted from 1; the legs of one share its number. */
  readonly decision: number;
  readonly strategy: string;
  readonly role: string;
  readonly symbol: string;
  readonly signal: Signal;
  readonly quantity: string | null;
}

/** A refusal by us, with the numbers it was judged by. Repetitions of the same one are counted, not repeated. */
export interface DenialEntry {
  readonly kind: 'denied';
  readonly at: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly code: string;
  readonly facts: Readonly<Record<string, string | number>>;
  /** The order that would have been sent, in words. */
  readonly draft: string;
  readonly reason: string;
}

/** An order as it now stands; written whole at each change, the last one counts. */
export interface OrderEntryRow {
  readonly kind: 'order';
  readonly clientOrderId: string;
  readonly orderId: string | null;
  /** Number of the decision that it belongs to, and its leg. */
  readonly decision: number;
  readonly strategy: string;
  readonly role: string;
  readonly account: Account;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  /** Base quantity, or null for a MARKET BUY by amount. */
  readonly quantity: string | null;
  /** Quote amount of a MARKET BUY, or null. */
  readonly amount: string | null;
  readonly price: string | null;
  readonly expected: string;
  readonly purpose: Purpose;
  readonly reason: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: OrderState;
  readonly filled: string;
  /** What the exchange says was executed once it called the order final; null before. */
  readonly executed: string | null;
  /** The exchange's final status, once known. */
  readonly venueStatus: string | null;
  readonly signedAt: number | null;
  readonly recvWindowMs: number | null;
  readonly bodyHash: string | null;
  /** The newest trade id of the symbol that we knew when the order was sent: its fills cannot lie before it. */
  readonly tradeFloor: string | null;
  readonly cancelRequested: boolean;
  /** Of an order that is or was quarantined; null otherwise. */
  readonly quarantineReason: string | null;
  /** The batch in which it left: the exchange has no client id of it then. null: it left alone. */
  readonly batch: string | null;
  readonly closedAt: number | null;
}

export type EventKind =
  | 'approved'
  | 'waited'
  | 'sending'
  | 'accepted'
  | 'rejected'
  | 'notSent'
  | 'unknown'
  | 'resolving'
  | 'found'
  | 'notFound'
  | 'absent'
  | 'quarantined'
  | 'contradicted'
  | 'resolved'
  | 'cancelSent'
  | 'cancelAnswer'
  | 'closing'
  | 'closed';

/** One step in an order's life, for `sluice why`. */
export interface EventEntry {
  readonly kind: 'event';
  readonly at: number;
  readonly clientOrderId: string;
  readonly event: EventKind;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

export interface FillEntry {
  readonly kind: 'fill';
  readonly tradeId: string;
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly account: Account;
  readonly symbol: string;
  readonly side: Side;
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly maker: boolean;
  readonly time: number;
  readonly purpose: Purpose;
  readonly evidence: string | null;
}

/** How far the account's trades of a symbol have been read. */
export interface CursorEntry {
  readonly kind: 'cursor';
  readonly symbol: string;
  /** The newest trade ids seen, oldest first; reading starts again from the first of them. */
  readonly tradeIds: readonly string[];
}

/** An order on the account that is not ours; the last row of an order counts. */
export interface ForeignEntry {
  readonly kind: 'foreign';
  readonly at: number;
  readonly symbol: string;
  readonly orderId: string;
  readonly why: ForeignWhy | null;
}

/**
 * How an order came to count as somebody else's. null: the exchange says so, by its client id or by what it is. `forgotten` and
 * `silent`: nobody could say whose it is, because the exchange does not know it or not its client id; it is asked for again.
 * `ours`: it counted as somebody else's and is not.
 */
export type ForeignWhy = 'forgotten' | 'silent' | 'ours';

/** One trade of the account as the exchange showed it: raw evidence, never changed, from which fills can be worked out again. */
export interface VenueTradeEntry {
  readonly kind: 'venueTrade';
  readonly seenAt: number;
  readonly symbol: string;
  readonly tradeId: string;
  /** The account's orders in it: one, or two when it traded with itself. */
  readonly orderIds: readonly string[];
  readonly side: Side;
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly maker: boolean;
  readonly time: number;
}

/**
 * An invalid trade of the account: not booked unless a human accepts it. Written
 * whole at each change, the last one counts.
 */
export interface QuarantinedTradeEntry extends Omit<VenueTradeEntry, 'kind' | 'seenAt'> {
  readonly kind: 'quarantinedTrade';
  /** When it was quarantined. */
  readonly at: number;
  readonly why: string;
  /** The row as the exchange sent it. */
  readonly raw: string;
  /** False where no human may book it. */
  readonly canBeAccepted: boolean;
  /** null: nobody has decided. `corrected`: the exchange shows it with other numbers, and those are booked. */
  readonly decision: TradeDecision | 'corrected' | null;
  readonly decidedAt: number | null;
  readonly by: string | null;
  readonly reason: string | null;
}

/** What the exchange answered when it was asked whose an order is: raw evidence. */
export interface VenueOrderEntry {
  readonly kind: 'venueOrder';
  readonly seenAt: number;
  readonly symbol: string;
  readonly orderId: string;
  /** As echoed; null where the exchange leaves it out. */
  readonly clientOrderId: string | null;
  readonly side: Side;
  readonly type: OrderType;
  readonly status: string;
  readonly executed: string;
}

/** An amount that the balances of the exchange hold beside what fills moved: found at the first start, or said by the operator. */
export interface AdjustmentEntry {
  readonly kind: 'adjustment';
  readonly at: number;
  /** `baseline`: what was there before this journal's first order. */
  readonly what: 'baseline' | 'adjust';
  readonly asset: string;
  readonly amount: string;
  readonly by: string;
  readonly reason: string;
}

/** How long after its window an order may still appear, raised because one appeared later than was thought possible. */
export interface HorizonEntry {
  readonly kind: 'horizon';
  readonly ms: number;
}

/** The protection of a position as it now stands; null when there is none any more. */
export interface ProtectionEntry {
  readonly kind: 'protection';
  readonly strategy: string;
  readonly symbol: string;
  readonly protection: Readonly<Record<string, string | number | boolean>> | null;
}

/**
 * Creation of orders stopped (`strategy` null: for all), or allowed again. A `halt` is the program's own: something is not as
 * it must be. It stops creation for all, cancels nothing, and its `by` is the cause (`execution/halt.ts`).
 */
export interface KillEntry {
  readonly kind: 'kill' | 'resume' | 'halt';
  readonly at: number;
  readonly strategy: string | null;
  readonly by: string;
  readonly reason: string;
}

/**
 * Who may do more than the standard limits: `raise` a limit to a value, `release` a version of a strategy's code from the share
 * that a new one begins with, `version` a code that was seen for the first time, `config` the configuration a run began with.
 */
export interface LimitEntry {
  readonly kind: 'limit';
  readonly at: number;
  readonly what: 'raise' | 'release' | 'version' | 'config';
  /** The limit's name, the strategy's id, or the file. */
  readonly name: string;
  /** The limit's value as configured, or a SHA-256 in hex. */
  readonly value: string;
  readonly by: string;
  readonly reason: string;
}

/** What the risk rules must know after a restart, by name; the last value counts. */
export interface MemoryEntry {
  readonly kind: 'memory';
  readonly name: string;
  /** JSON. */
  readonly value: string;
}

/** Equity at the start of a UTC day, the base of the daily loss limit. */
export interface DayEntry {
  readonly kind: 'day';
  /** UTC ms of midnight. */
  readonly day: number;
  readonly equity: string;
}

export interface EquityEntry {
  readonly kind: 'equity';
  readonly at: number;
  readonly equity: string;
}

/** A comparison of the ledger with the account. Of a day and an outcome the last row counts, so that there are few. */
export interface AuditEntry {
  readonly kind: 'audit';
  readonly at: number;
  /** `off`: they differ. */
  readonly outcome: 'even' | 'off';
  /** What the exchange holds more than the ledger says, by asset; empty when even. */
  readonly differences: Readonly<Record<string, string>>;
  /** What the exchange held, free and locked together, by asset. */
  readonly held: Readonly<Record<string, string>>;
}

/** What the program must know of a symbol to read its rows, should the exchange delist it. */
export interface InstrumentEntry {
  readonly kind: 'instrument';
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
}

/** Something the operator should know. */
export interface NoticeEntry {
  readonly kind: 'notice';
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

export type Entry =
  | SignalEntry
  | DenialEntry
  | OrderEntryRow
  | EventEntry
  | FillEntry
  | CursorEntry
  | ForeignEntry
  | VenueTradeEntry
  | QuarantinedTradeEntry
  | VenueOrderEntry
  | AdjustmentEntry
  | HorizonEntry
  | ProtectionEntry
  | KillEntry
  | LimitEntry
  | MemoryEntry
  | DayEntry
  | EquityEntry
  | AuditEntry
  | InstrumentEntry
  | NoticeEntry;
