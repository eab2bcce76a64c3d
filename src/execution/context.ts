/** The state and ports that all parts of execution share, and the functions that change an order's state. */
import type { Clock } from '../clock/clock.ts';
import { noUnits } from '../domain/money.ts';
import {
  type Account,
  type Fill,
  isClosed,
  type OrderReport,
  type OrderState,
  type VenueTrade,
} from '../domain/order.ts';
import type { EventEntry, EventKind } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import { mostGivenUp } from '../journal/load.ts';
import type { Owner, Owners } from '../journal/past-orders.ts';
import type { Portfolio, WorkingOrder } from '../portfolio/portfolio.ts';
import type { Answer, Balance, OrderEntry } from '../venue/venue.ts';
import type { Halts } from './halt.ts';
import type { Ledger } from './ledger.ts';
import type { QuarantinedTrades } from './quarantined-trades.ts';
import type { DoubtfulOrders } from './reconcile/unproven-owners.ts';
import { orderRow, venueOrderRow } from './records.ts';
import { type OrderAction, type OrderEvent, stepOf, transitions } from './states.ts';

/** Delays and horizons, ms of the clock. */
export interface Timing {
  /** Between sweeps while an order is open. */
  readonly pollMs: number;
  /** Between sweeps otherwise: they show foreign orders and late fills. */
  readonly sweepMs: number;
  /** How long after its receive window an order may still appear: gateway queue and replica lag (D). */
  readonly horizonMs: number;
  /** Between the two complete sweeps that an absence needs (L). */
  readonly sweepGapMs: number;
}

export const defaultTiming: Timing = { pollMs: 1_000, sweepMs: 5_000, horizonMs: 60_000, sweepGapMs: 5_000 };

export interface Notice {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

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
export type Doubt = 'unproven' | 'forgotten' | 'copied' | 'mismatch' | 'changed' | 'status' | 'alike' | 'human';

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
  /** How long after its window an order may still appear, ms of the clock. An order that appears later doubles it (§3.4). */
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

/** Journals one step of an order's life, and the order's new row. */
export function record(
  { journal, portfolio, clock }: Pick<Execution, 'journal' | 'portfolio' | 'clock'>,
  order: WorkingOrder,
  event: EventKind,
  detail: EventEntry['detail'] = {},
): void {
  const at = clock.now();
  journal.append({ kind: 'event', at, clientOrderId: order.intent.clientOrderId, event, detail });
  journal.latest(order.intent.clientOrderId, () => orderRow(order, portfolio.instrument(order.intent.symbol), at));
}

/**
 * Moves an order to its next state by the table of `states.ts`, and journals it. Nothing else changes a state. Its reservation ends or
 * begins again with the new state. Returns the action that is left to the caller.
 */
export function move(
  execution: Execution,
  order: WorkingOrder,
  event: OrderEvent,
  detail: EventEntry['detail'] = {},
): OrderAction {
  const was = order.state;
  const step = transitions[was][event];
  if (step === undefined) throw new Error(`order ${order.intent.clientOrderId} is ${was}: it cannot ${event}`);
  const { to, then } = step;
  execution.changes.count++;
  if (then === 'contradict') contradict(execution, order, event);
  else if (isClosed(to) && !isClosed(was)) end(execution, order, to, event, detail);
  else if (to !== was || then !== 'none') {
    if (isClosed(was) && !isClosed(to)) {
      execution.givenUp.delete(order.intent.clientOrderId);
      execution.portfolio.adopt(order);
    }
    order.state = to;
    // A restart on a quarantined order is journalled as quarantined.
    record(execution, order, to === 'quarantined' ? 'quarantined' : stepOf[event], detail);
  }
  return then;
}

/** Journals, for `sluice why`, evidence against an order that is closed here. */
export function contradicted(
  { journal, clock }: Pick<Execution, 'journal' | 'clock'>,
  clientOrderId: string,
  evidence: string,
): void {
  journal.append({ kind: 'event', at: clock.now(), clientOrderId, event: 'contradicted', detail: { evidence } });
}

/** An answer contradicts what the exchange shows, which decides. */
function contradict(execution: Execution, order: WorkingOrder, event: OrderEvent): void {
  record(execution, order, 'contradicted', { answer: event });
  execution.notice({
    level: 'error',
    text: `order ${order.intent.clientOrderId} is at the exchange although its answer was ${event === 'reject' ? 'rejected' : event}`,
  });
}

/** Ends an order with its reservation. One without an exchange id stays known, since the exchange may still show it. */
function end(
  execution: Execution,
  order: WorkingOrder,
  to: OrderState,
  event: OrderEvent,
  detail: EventEntry['detail'],
): void {
  const { givenUp, portfolio } = execution;
  if (stepOf[event] !== 'closed' && event !== 'restart') record(execution, order, stepOf[event], detail);
  portfolio.close(order, to);
  record(execution, order, 'closed', { state: to });
  if (order.orderId !== undefined) return;
  givenUp.set(order.intent.clientOrderId, order);
  const [oldest] = givenUp.keys();
  if (givenUp.size > mostGivenUp && oldest !== undefined) givenUp.delete(oldest);
}

/** Quarantines an order, with the reason as a word and as a sentence. */
export function quarantine(execution: Execution, order: WorkingOrder, doubt: Doubt, text: string): void {
  order.quarantineReason = doubt;
  move(execution, order, 'doubt', { doubt, evidence: text });
  const { clientOrderId, symbol } = order.intent;
  execution.notice({
    level: 'error',
    text: `order ${clientOrderId} is quarantined: ${text}. It stays reserved and ${symbol} is blocked until the exchange shows it, or you close it: sluice why ${clientOrderId} shows the evidence, sluice resolve ${clientOrderId} decides`,
  });
}

/** Binds our order to its exchange id. */
export function bind(execution: Execution, order: WorkingOrder, report: OrderReport): void {
  const { owners } = execution;
  const { clientOrderId, strategy, side, purpose } = order.intent;
  order.orderId = report.orderId;
  owners.set(report.orderId, { clientOrderId, strategy, side, purpose });
  reclaim(execution, report);
  recordReport(execution, report);
}

/** An order that counted as foreign is ours: its trades leave the ledger of foreign ones, to be booked as ours. */
export function reclaim({ foreign, doubtful, books, journal, clock }: Execution, report: OrderReport): void {
  const { orderId, symbol } = report;
  if (!foreign.delete(orderId)) return;
  books?.ledger.reclaim(orderId);
  doubtful.settle(orderId, true);
  journal.append({ kind: 'foreign', at: clock.now(), symbol, orderId, why: 'ours' });
}

/** Journals the exchange's report of an order as evidence of whose its trades are. */
export function recordReport({ journal, portfolio, clock }: Execution, report: OrderReport): void {
  if (!journal.volatile) journal.append(venueOrderRow(report, portfolio.instrument(report.symbol), clock.now()));
}

/** Our fills in a trade of the account: none, one, or two for a self-trade, of which the row has one side's fee. */
export function fillsIn(execution: Execution, trade: VenueTrade): readonly Fill[] {
  const fills: Fill[] = [];
  for (const orderId of trade.orderIds) {
    const owner = execution.owners.get(orderId);
    if (owner !== undefined) fills.push(fillOf(execution.account, trade, orderId, owner, trade.orderIds.length > 1));
  }
  return fills;
}

function fillOf(account: Account, trade: VenueTrade, orderId: string, owner: Owner, isSelf: boolean): Fill {
  const { side } = owner;
  const isOtherSide = isSelf && side !== trade.side;
  return {
    tradeId: trade.tradeId,
    orderId,
    clientOrderId: owner.clientOrderId,
    strategy: owner.strategy,
    account,
    symbol: trade.symbol,
    side,
    price: trade.price,
    quantity: trade.quantity,
    fee: isOtherSide ? noUnits : trade.fee,
    feeAsset: trade.feeAsset,
    maker: isOtherSide ? !trade.maker : trade.maker,
    time: trade.time,
    purpose: owner.purpose,
    ...(trade.evidence === undefined ? {} : { evidence: trade.evidence }),
  };
}
