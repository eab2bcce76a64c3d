/** The entries of the journal, one type for each kind of row. Money is decimal text, ids are text, times are UTC ms. */

import type { Instrument } from '../domain/instrument.ts';
import type { KeptState } from '../domain/memory.ts';
import type { Denial, Fill, Intent, Leg, OrderReport, OrderState, TradeDecision, VenueTrade } from '../domain/order.ts';

/** A signal that differs from the strategy's last one. `quantity`: the size of a target in the base asset. */
export interface SignalEntry extends Omit<Leg, keyof KeptState> {
  readonly kind: 'signal';
  /** Number of its decision, counted from 1 in each journal; the legs of a decision share it. */
  readonly decision: number;
  readonly quantity: string | null;
  /** What the strategy remembered with the decision, as JSON; null for one without a memory. */
  readonly memory: string | null;
}

/** A denied order with the numbers of the rule. Repetitions are counted, not written again. */
export interface DenialEntry extends Denial {
  readonly kind: 'denied';
  readonly at: number;
  readonly strategy: string;
  readonly symbol: string;
  /** The denied order as text. */
  readonly draft: string;
  readonly reason: string;
  /** Repetitions that are counted already: how many, and the last one's time and numbers. */
  readonly repeated?: { readonly times: number; readonly at: number; readonly facts: Denial['facts'] };
}

/** Amounts as decimal text, so that a row can be read without its instrument. */
type AsText<T, Amounts extends keyof T> = Omit<T, Amounts> & Readonly<Record<Amounts, string>>;

/** An order's current state. It is written whole at each change, and the last row counts. */
export interface OrderEntryRow extends Omit<Intent, 'volume' | 'price' | 'postOnly' | 'expectedLots'> {
  readonly kind: 'order';
  readonly orderId: string | null;
  /** Base quantity, or null for a MARKET BUY by amount. */
  readonly quantity: string | null;
  /** Quote amount of a MARKET BUY, or null. */
  readonly amount: string | null;
  readonly price: string | null;
  readonly expected: string;
  readonly state: OrderState;
  readonly filled: string;
  /** The executed quantity that the exchange reported with the final status; null before. */
  readonly executed: string | null;
  /** The exchange's final status, or null. */
  readonly venueStatus: string | null;
  readonly signedAt: number | null;
  readonly recvWindowMs: number | null;
  readonly bodyHash: string | null;
  /** The newest known trade id of the symbol at sending: its fills are later. */
  readonly tradeFloor: string | null;
  readonly cancelRequested: boolean;
  /** The reason of the last quarantine, or null. */
  readonly quarantineReason: string | null;
  /** The batch in which it was sent, without a client id at the exchange; null: it was sent alone. */
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
  | 'cancelAsked'
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

export interface FillEntry extends AsText<Omit<Fill, 'evidence'>, 'price' | 'quantity' | 'fee'> {
  readonly kind: 'fill';
  readonly evidence: string | null;
}

/** How far the account's trades of a symbol have been read. */
export interface CursorEntry {
  readonly kind: 'cursor';
  readonly symbol: string;
  /** The newest known trade ids, oldest first; the next read starts at the first of them. */
  readonly tradeIds: readonly string[];
}

/** An order of the account that is not ours. The last row of an order counts. */
export interface ForeignEntry {
  readonly kind: 'foreign';
  readonly at: number;
  readonly symbol: string;
  readonly orderId: string;
  readonly why: ForeignWhy | null;
}

/**
 * Why an order counts as foreign. null: its client id or its properties prove it. `forgotten`: the exchange did not find it. `silent`: the
 * exchange does not show its client id. `ours`: it counted as foreign and proved to be ours.
 */
export type ForeignWhy = 'forgotten' | 'silent' | 'ours';

/** A trade of the account as the exchange showed it: evidence, never changed, from which fills can be booked again. */
export interface VenueTradeEntry
  extends AsText<Omit<VenueTrade, 'raw' | 'unreadable' | 'evidence'>, 'price' | 'quantity' | 'fee'> {
  readonly kind: 'venueTrade';
  readonly seenAt: number;
}

/** An invalid trade of the account, not booked unless a human accepts it. It is written whole at each change, and the last row counts. */
export interface QuarantinedTradeEntry extends Omit<VenueTradeEntry, 'kind' | 'seenAt'> {
  readonly kind: 'quarantinedTrade';
  /** When it was quarantined. */
  readonly at: number;
  readonly why: string;
  /** The row as the exchange sent it. */
  readonly raw: string;
  /** False if it must not be booked. */
  readonly canBeAccepted: boolean;
  /** null: undecided. `corrected`: the exchange shows other numbers, and those are booked. */
  readonly decision: TradeDecision | 'corrected' | null;
  readonly decidedAt: number | null;
  readonly by: string | null;
  readonly reason: string | null;
}

/** The exchange's report of an order of unknown owner: evidence. */
export interface VenueOrderEntry extends Pick<OrderReport, 'symbol' | 'orderId' | 'side' | 'type' | 'status'> {
  readonly kind: 'venueOrder';
  readonly seenAt: number;
  /** As returned; null where the exchange leaves it out. */
  readonly clientOrderId: string | null;
  readonly executed: string;
}

/** An amount in the balances that no fill moved: the first balances, or an operator's adjustment. */
export interface AdjustmentEntry {
  readonly kind: 'adjustment';
  readonly at: number;
  /** `baseline`: held before this journal's first order. */
  readonly what: 'baseline' | 'adjust';
  readonly asset: string;
  readonly amount: string;
  readonly by: string;
  readonly reason: string;
}

/** How long after its window an order may still appear, raised because one appeared later. */
export interface HorizonEntry {
  readonly kind: 'horizon';
  readonly ms: number;
}

/** A position's current protection; null when it has ended. */
export interface ProtectionEntry {
  readonly kind: 'protection';
  readonly strategy: string;
  readonly symbol: string;
  readonly protection: Readonly<Record<string, string | number | boolean>> | null;
}

/**
 * Order creation was stopped or allowed again; `strategy` null: for all. A `pause` stops entries (`risk/kill.ts`). The program itself writes a
 * `halt`: something is wrong. It stops creation for all and cancels nothing; its `by` is the cause (`execution/halt.ts`).
 */
export interface KillEntry {
  readonly kind: 'kill' | 'pause' | 'resume' | 'halt';
  /** Of a kill: it stops exits, too. */
  readonly everything: boolean;
  readonly at: number;
  readonly strategy: string | null;
  readonly by: string;
  readonly reason: string;
}

/**
 * `raise`: a limit above the standard. `release`: a version of a strategy's code that may exceed the share of new versions. `version`: a
 * version that ran for the first time, or that somebody reloaded. `config`: the configuration of a run.
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

/** What a restart must know of risk rules, strategies and positions, by name; the last value counts. */
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

/** A comparison of the ledger with the account. One row is kept for each day and outcome, the last one. */
export interface AuditEntry {
  readonly kind: 'audit';
  readonly at: number;
  /** `off`: they differ. */
  readonly outcome: 'even' | 'off';
  /** What the account holds beyond the ledger, by asset; empty when even. */
  readonly differences: Readonly<Record<string, string>>;
  /** What the account held, free and locked, by asset. */
  readonly held: Readonly<Record<string, string>>;
}

/** What is needed of a symbol to read its rows, even after the exchange delisted it. */
export interface InstrumentEntry
  extends Pick<Instrument, 'symbol' | 'base' | 'quote' | 'pricePrecision' | 'quantityPrecision'> {
  readonly kind: 'instrument';
}

/** What a notice is about, where a page of its own explains that (docs/how-to/alarms). */
export type NoticeTopic =
  | 'exchangeAway'
  | 'banned'
  | 'clock'
  | 'diskFull'
  | 'notStarted'
  | 'ledger'
  | 'quarantined'
  | 'stopReached'
  | 'strategyStopped'
  | 'cancelledByOthers'
  | 'secondDaemon';

/** A notice to the operator. */
export interface NoticeEntry {
  readonly kind: 'notice';
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  /** For its alert, which is sent at once: no column keeps it. */
  readonly topic?: NoticeTopic | undefined;
  readonly text: string;
  /** The reason in it that a person typed, which its alert leaves as it is: no column keeps it. */
  readonly typed?: string | undefined;
}

/** A notice before it is journalled. */
export type Notice = Omit<NoticeEntry, 'kind' | 'at'>;

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
