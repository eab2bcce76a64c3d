/** The state and ports that all parts of execution share. */
import type { Clock } from '../clock/clock.ts';
import type { Account } from '../domain/order.ts';
import type { Notice } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Owners } from '../journal/past-orders.ts';
import type { Portfolio, WorkingOrder } from '../portfolio/portfolio.ts';
import type { Answer, Balance, OrderEntry } from '../venue/venue.ts';
import type { Halts } from './halt.ts';
import type { Ledger } from './ledger.ts';
import type { QuarantinedTrades } from './quarantined-trades.ts';
import type { DoubtfulOrders } from './reconcile/unproven-owners.ts';

/** Delays and horizons, ms of the clock. */
export interface Timing {
  /** Between sweeps while an order is open. */
  readonly pollMs: number;
  /** Between sweeps otherwise: they show foreign orders and late fills. */
  readonly sweepMs: number;
  /** The horizon: how long after its receive window an order may still appear: gateway queue and replica lag (D). */
  readonly absentAfterMs: number;
  /** Between the two complete sweeps that an absence needs (L). */
  readonly sweepGapMs: number;
}

export const defaultTiming: Timing = { pollMs: 1_000, sweepMs: 5_000, absentAfterMs: 60_000, sweepGapMs: 5_000 };

/**
 * Why an order is quarantined:
 *
 * - `unproven`: nothing proves its absence
 * - `forgotten`: the exchange knew it and does not any more
 * - `copied`: two orders have its id
 * - `mismatch`: the order with its id differs from what was sent
 * - `changed`: a booked fill of it is shown with other numbers
 * - `status`: its status is not documented
 * - `alike`: the exchange does not show its client id, and several orders match it, or a late one
 * - `human`: an operator decided so
 */
export type QuarantineCause =
  | 'unproven'
  | 'forgotten'
  | 'copied'
  | 'mismatch'
  | 'changed'
  | 'status'
  | 'alike'
  | 'human';

/** Reads our own client order ids; undefined for others. */
export type ReadId = (clientOrderId: string) => { readonly strategy: string } | undefined;

export interface Execution {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly portfolio: Portfolio;
  readonly orders: OrderEntry;
  readonly account: Account;
  /** Nobody else trades on the account, by the configuration: orders without a client id are matched by what they are. */
  readonly dedicated: boolean;
  readonly timing: Timing;
  readonly readId: ReadId;
  /** Our orders by exchange id. */
  readonly owners: Owners;
  /** Exchange ids of orders that are not ours. */
  readonly foreign: Set<string>;
  /** Those of them whose owner could not be proven. */
  readonly doubtful: DoubtfulOrders;
  /** Our orders that ended without an exchange id, by client id, oldest first: the exchange may still show one. */
  readonly givenUp: Map<string, WorkingOrder>;
  readonly halts: Halts;
  readonly quarantinedTrades: QuarantinedTrades;
  /** Our closed order with the sums of its fills; undefined if unknown. */
  readonly ended: (clientOrderId: string) => WorkingOrder | undefined;
  /** Whether one of our orders was shown without its client id: then others without one may be ours too. */
  readonly echo: { missing: boolean };
  /** How long after its window an order may still appear, ms of the clock. An order that appears later doubles it (D in docs/explanation/exactly-once.md#assumptions). */
  readonly horizon: { ms: number };
  /** Grows with every change of what the account holds: if it grew while balances were read, they are read again. */
  readonly changes: { count: number };
  /** The ledger of the account; undefined where fills are simulated. */
  readonly books: Books | undefined;
  /** The exchange's time, requested now, at its earliest: horizons are measured by its clock. */
  readonly serverTime: () => Promise<Answer<number>>;
  /** When the journal's first order was created, or this run began, UTC ms. */
  readonly firstOrderAt: number;
  readonly notice: (notice: Notice) => void;
}

/** The ledger, and the query for the real balances: undefined on margin, where the exchange has none. */
export interface Books {
  readonly ledger: Ledger;
  readonly balances: (() => Promise<Answer<readonly Balance[]>>) | undefined;
}
