/** What every part of execution works with, and the small things they share. */
import type { Clock } from '../clock/clock.ts';
import type { Side } from '../domain/market.ts';
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

/** Delays and horizons; about the market and the exchange's rules, so in ms of the clock. */
export interface Timing {
  /** Between looks for fills while an order works. */
  readonly pollMs: number;
  /** Between looks when none does: foreign orders and late fills show up here. */
  readonly sweepMs: number;
  /** How long after its receive window an order may still appear: gateway queue plus replica lag (D). */
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
 * Why an order is quarantined: `unproven` nothing proves its absence, `forgotten` the exchange knew it and does not any more,
 * `copied` two orders bear its id, `mismatch` the order with its id is another one, `changed` a booked fill of it is shown with
 * other numbers, `status` it is not on the list of open ones and its status is a word that nobody has described, `alike` the exchange does not show its client id, and several orders or one that came late look like it, `human` somebody said so.
 */
export type Doubt = 'unproven' | 'forgotten' | 'copied' | 'mismatch' | 'changed' | 'status' | 'alike' | 'human';

/** Parses our own client order ids; undefined for anybody else's. */
export type ReadId = (clientOrderId: string) => { readonly strategy: string } | undefined;

export interface Execution {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly portfolio: Portfolio;
  readonly orders: OrderEntry;
  readonly account: Account;
  /** The configuration says that nobody else trades on the account: orders without a client id are found by their likeness. */
  readonly dedicated: boolean;
  readonly timing: Timing;
  readonly readId: ReadId;
  /** Whose an exchange order id is: every order of ours that has one. */
  readonly owners: Owners;
  /** Exchange order ids that are not ours. */
  readonly foreign: Set<string>;
  /** Those of them of which nobody could say whose they are. */
  readonly doubtful: DoubtfulOrders;
  /** Orders of ours that ended without an id of the exchange, by client id, oldest first: it may show one yet. */
  readonly givenUp: Map<string, WorkingOrder>;
  readonly halts: Halts;
  readonly quarantinedTrades: QuarantinedTrades;
  /** An order of ours that is not open any more, with what its fills came to; undefined where it is not known here. */
  readonly ended: (clientOrderId: string) => WorkingOrder | undefined;
  /** Whether an order of ours was shown without its client id: others that are, may be ours too. */
  readonly echo: { missing: boolean };
  /** How long after its window an order may still appear, ms of the clock; each one that appears later doubles it (§3.4). */
  readonly horizon: { ms: number };
  /** Grows with all that changes what the account holds: who compares balances begins again when it grew meanwhile. */
  readonly changes: { count: number };
  /** What the account should hold; undefined where fills are simulated. */
  readonly books: Books | undefined;
  /** The exchange's time, asked for now, at its earliest: horizons are about its clock, not ours. */
  readonly serverTime: () => Promise<Answer<number>>;
  /** When the first order of the journal was created, or this run began if it has none, UTC ms. */
  readonly firstOrderAt: number;
  readonly notice: (notice: Notice) => void;
}

/** The ledger, and how to ask what the account really holds: undefined on margin, where the exchange has no such operation. */
export interface Books {
  readonly ledger: Ledger;
  readonly balances: (() => Promise<Answer<readonly Balance[]>>) | undefined;
}

/** Writes one step of an order's life and the order as it now stands. */
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
 * Takes an order one step further, by the table of `states.ts`, and writes it down. Nothing else writes a state. Ends its
 * reservation, or takes it up again, as the new state asks; gives what is left to be done by the caller.
 */
export function move(
  execution: Execution,
  order: WorkingOrder,
  event: OrderEvent,
  detail: EventEntry['detail'] = {},
): OrderAction {
  const was = order.state;
  const cell = transitions[was][event];
  if (cell === undefined) throw new Error(`order ${order.intent.clientOrderId} is ${was}: it cannot ${event}`);
  const { to, then } = cell;
  execution.changes.count++;
  if (then === 'contradict') contradict(execution, order, event);
  else if (isClosed(to) && !isClosed(was)) end(execution, order, to, event, detail);
  else if (to !== was || then !== 'none') {
    if (isClosed(was) && !isClosed(to)) {
      execution.givenUp.delete(order.intent.clientOrderId);
      execution.portfolio.adopt(order);
    }
    order.state = to;
    // A quarantine that a restart finds is told of as what it is.
    record(execution, order, to === 'quarantined' ? 'quarantined' : stepOf[event], detail);
  }
  return then;
}

/** Writes down, for `sluice why`, what the exchange shows against an order that is closed here. */
export function tellAgainst(
  { journal, clock }: Pick<Execution, 'journal' | 'clock'>,
  clientOrderId: string,
  evidence: string,
): void {
  journal.append({ kind: 'event', at: clock.now(), clientOrderId, event: 'contradicted', detail: { evidence } });
}

/** What the exchange shows stands before what an answer says. */
function contradict(execution: Execution, order: WorkingOrder, event: OrderEvent): void {
  record(execution, order, 'contradicted', { answer: event });
  execution.notice({
    level: 'error',
    text: `order ${order.intent.clientOrderId} is at the exchange although its answer was ${event === 'reject' ? 'rejected' : event}`,
  });
}

/** No reservation is left, and nothing more is expected of the order; one without an id is kept in mind. */
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

/** Quarantines an order: why nobody can say what became of it, in a word and in a sentence for people. */
export function quarantine(execution: Execution, order: WorkingOrder, doubt: Doubt, text: string): void {
  order.quarantineReason = doubt;
  move(execution, order, 'doubt', { doubt, evidence: text });
  const { clientOrderId, symbol } = order.intent;
  execution.notice({
    level: 'error',
    text: `order ${clientOrderId} is quarantined: ${text}. It stays reserved and ${symbol} is blocked until the exchange shows it, or you close it: sluice why ${clientOrderId} shows the evidence, sluice resolve ${clientOrderId} decides`,
  });
}

/** Binds an order of ours to the id the exchange gave it. */
export function bind(execution: Execution, order: WorkingOrder, report: OrderReport): void {
  const { owners } = execution;
  const { clientOrderId, strategy, side, purpose } = order.intent;
  order.orderId = report.orderId;
  owners.set(report.orderId, { clientOrderId, strategy, side, purpose });
  reclaim(execution, report);
  witness(execution, report);
}

/** An order that counted as somebody else's is ours: what it traded is taken out of the ledger, to be booked as ours. */
export function reclaim({ foreign, doubtful, books, journal, clock }: Execution, report: OrderReport): void {
  const { orderId, symbol } = report;
  if (!foreign.delete(orderId)) return;
  books?.ledger.reclaim(orderId);
  doubtful.settle(orderId, true);
  journal.append({ kind: 'foreign', at: clock.now(), symbol, orderId, why: 'ours' });
}

/** Writes down what the exchange said of an order, for whoever attributes its trades again. */
export function witness({ journal, portfolio, clock }: Execution, report: OrderReport): void {
  if (!journal.volatile) journal.append(venueOrderRow(report, portfolio.instrument(report.symbol), clock.now()));
}

/** Our fills in a trade of the account: none, one, or two when we traded with ourselves; the fee is the taker's side's as reported. */
export function fillsIn(execution: Execution, trade: VenueTrade): readonly Fill[] {
  const fills: Fill[] = [];
  for (const orderId of trade.orderIds) {
    const owner = execution.owners.get(orderId);
    if (owner !== undefined) fills.push(fillOf(execution.account, trade, orderId, owner, trade.orderIds.length > 1));
  }
  return fills;
}

function fillOf(account: Account, trade: VenueTrade, orderId: string, owner: Owner, isSelf: boolean): Fill {
  const side: Side = owner.side;
  const other = isSelf && side !== trade.side;
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
    fee: other ? (0n as Fill['fee']) : trade.fee,
    feeAsset: trade.feeAsset,
    maker: other ? !trade.maker : trade.maker,
    time: trade.time,
    purpose: owner.purpose,
    ...(trade.evidence === undefined ? {} : { evidence: trade.evidence }),
  };
}
