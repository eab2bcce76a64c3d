/**
 * The ports between the program and a venue. A venue is these three plus captured payloads as tests: the real exchange
 * (`exchange/`), simulated fills on a real feed (`paper/`) and recorded data (`recorded/`).
 */
import type { Observable } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Units } from '../domain/money.ts';
import type { Intent, OrderReport, Outcome, VenueTrade } from '../domain/order.ts';

/** What the market says. Streams are hot where the venue pushes; subscribing subscribes at the venue, once per channel. */
export interface MarketFeed {
  /** Closed klines as they close, in order, without repeats. */
  klines(symbol: string, interval: Interval): Observable<Kline>;
  trades(symbol: string): Observable<Trade>;
  depth(symbol: string): Observable<Depth>;
  ticker(symbol: string): Observable<Ticker>;
  /** Every hole in any of the streams above. */
  readonly gaps: Observable<FeedGap>;
  /** The last `count` closed klines, oldest first: what indicators warm up with. */
  history(symbol: string, interval: Interval, count: number): Promise<Answer<readonly Kline[]>>;
}

/** A query's answer. A failed query proves nothing, so it is a value of its own and never an empty list. */
export type Answer<T> = { readonly kind: 'ok'; readonly value: T } | Failure;
export interface Failure {
  readonly kind: 'failed';
  /** For people: what failed and how, without secrets. */
  readonly cause: string;
  /** The exchange's own error code as text, when it gave one. */
  readonly code?: string;
  /** True where a list came and was empty: there may be nothing, or a name may be wrong. */
  readonly isEmpty?: boolean;
}
export const ok = <T>(value: T): Answer<T> => ({ kind: 'ok', value });
export const failed = (cause: string, code?: string): Failure =>
  code === undefined ? { kind: 'failed', cause } : { kind: 'failed', cause, code };

/** What was asked for and why that failed. The cause of an exchange begins with the name of its request, which is not repeated. */
export function queryFailure(what: string, cause: string): string {
  const [name = ''] = cause.split(': ', 1);
  if (name.endsWith(what)) return cause;
  return what.includes(name) ? `${what}${cause.slice(name.length)}` : `${what}: ${cause}`;
}

/**
 * What a request that is being made ready waits for before its first byte leaves: undefined lets it go, a text is the reason
 * why it may not. Setting a request up takes as long as a commit, so both happen at once.
 */
export type Gate = Promise<string | undefined>;

/** A request made ready: signed, its bytes fixed, not sent. What is journalled before anything leaves. */
export interface PreparedOrder {
  /** UTC ms in the signature. */
  readonly signedAt: number;
  /** How long after `signedAt` the exchange may still act on it, ms of the clock. */
  readonly recvWindowMs: number;
  /** SHA-256 of the exact body, hex. */
  readonly bodyHash: string;
  /**
   * One attempt, of which not one byte leaves before the gate lets it; with its reason the outcome is `notSent`. Resolves with
   * what is known; must be called once.
   */
  send(gate: Gate): Promise<Outcome>;
}

/** What came of a batch of creates. Ids say which orders there are, not which is whose: their order means nothing. */
export type BatchCreated =
  | { readonly kind: 'answered'; readonly orderIds: readonly string[] }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string }
  | { readonly kind: 'notSent'; readonly cause: string }
  | { readonly kind: 'unknown'; readonly cause: string };

/** A batch made ready, as one order is. */
export interface PreparedBatch extends Omit<PreparedOrder, 'send'> {
  send(gate: Gate): Promise<BatchCreated>;
}

/** The answer to a cancel request. It does not prove the state of the order: only a query does. */
export type CancelOutcome =
  | { readonly kind: 'requested' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'notSent'; readonly cause: string }
  | { readonly kind: 'unknown'; readonly cause: string };

export interface OrderRef {
  readonly symbol: string;
  readonly orderId: string;
}

/** A list as the exchange gave it; `full` when it reached the limit, so that there may be more than it shows. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly full: boolean;
}

/** Orders that one batch may hold (specification §8). */
export const maxInBatch = 10;

/** Up to `maxInBatch` orders of one symbol in one request. */
export interface Batches {
  /** As `OrderEntry.admit`, for a batch. */
  admit(until: number): Promise<boolean>;
  /** As `OrderEntry.prepare`. The orders have no client ids at the exchange. */
  prepare(intents: readonly Intent[], instrument: Instrument): PreparedBatch;
  /** Requests the cancel of each order. The outcomes prove as little as that of a single cancel. */
  cancel(
    symbol: string,
    orderIds: readonly string[],
    lane?: 'kill' | 'cancel',
  ): Promise<ReadonlyMap<string, CancelOutcome>>;
}

/** Who carries out orders. Every call is one request and takes its weight through `Spend` first, create by `admit`. */
export interface OrderEntry {
  /** Waits for the weight of a create; false when `until` (UTC ms) passes first. */
  admit(until: number): Promise<boolean>;
  /** Whether `admit` would take the weight at once; absent or false where that is not known. */
  isRoom?(): boolean;
  /** Synchronous: between the decision and the journal nothing waits. */
  prepare(intent: Intent, instrument: Instrument): PreparedOrder;
  /** Absent where the venue takes no batches. */
  readonly batches?: Batches;
  /** In the kill lane it goes before everything else and also where a warning stops the other lanes. */
  cancel(order: OrderRef, lane?: 'kill' | 'cancel'): Promise<CancelOutcome>;
  query(order: OrderRef): Promise<Answer<OrderReport>>;
  /** Whether an order can be asked for by client id alone (spot: not by the specification), and if so the answer. */
  queryByClientId?(symbol: string, clientOrderId: string): Promise<Answer<OrderReport>>;
  openOrders(symbol: string): Promise<Answer<Page<OrderReport>>>;
  /** The account's trades of a symbol from `fromId` on (undefined: the newest page), in any order, repeats possible. */
  tradesSince(symbol: string, fromId: string | undefined): Promise<Answer<Page<VenueTrade>>>;
  /** Emits a symbol when the venue knows of news at once (simulated venues do); absent where polling is the only way. */
  readonly news?: Observable<string>;
}

export interface Balance {
  readonly asset: string;
  readonly free: Units;
  readonly locked: Units;
}

export interface AccountReader {
  balances(): Promise<Answer<readonly Balance[]>>;
}

/** Request lanes, the most urgent first. */
export type Lane = 'kill' | 'cancel' | 'reconcile' | 'create' | 'market';

/** What a request costs against the exchange's limits (specification §8). */
export interface RequestCost {
  readonly weight: number;
  /** The endpoint's own limit, when it has one: at most `max` calls per 2 seconds. */
  readonly frequency?: { readonly endpoint: string; readonly max: number };
}

/**
 * The one door to the request-weight budget. Resolves true when the cost has been taken from every window, false when
 * `until` (UTC ms) passed first; then nothing was taken.
 */
export interface Spend {
  (lane: Lane, cost: RequestCost, until?: number): Promise<boolean>;
  /** Whether a cost would be taken at once, as far as this process knows without reading the shared file; nothing is taken. Absent: unknown. */
  readonly isRoom?: (lane: Lane, cost: RequestCost) => boolean;
}

/** What the exchange said about its limits: 410 warns, 429 stops, 418 bans (specification §7). */
export type LimitNotice = { readonly status: 410 | 418 | 429; readonly retryAfterMs: number | undefined };
