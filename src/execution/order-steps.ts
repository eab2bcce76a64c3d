/** The steps of an order's life: the functions that change its state and journal it, and its close once its fills add up. */
import { noLots, quantityText } from '../domain/money.ts';
import { isClosed, isFinal, type OrderReport, type OrderState } from '../domain/order.ts';
import type { EventEntry, EventKind } from '../journal/entries.ts';
import { maxGivenUp } from '../journal/load.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Execution, QuarantineCause } from './context.ts';
import { orderRow, venueOrderRow } from './records.ts';
import { type OrderAction, type OrderEvent, stepOf, transitions } from './states.ts';

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
  if (givenUp.size > maxGivenUp && oldest !== undefined) givenUp.delete(oldest);
}

/** Quarantines an order, with the reason as a word and as a sentence. */
export function quarantine(execution: Execution, order: WorkingOrder, doubt: QuarantineCause, text: string): void {
  order.quarantineReason = doubt;
  move(execution, order, 'doubt', { doubt, evidence: text });
  const { clientOrderId, symbol } = order.intent;
  execution.notice({
    level: 'error',
    topic: 'quarantined',
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

/** After this long a notice says that fills of a final order are missing, real ms. */
const reportAfterMs = 60_000;

const closedAs = { filled: ['humanFilled', 'filled'], canceled: ['humanCanceled', 'canceled'] } as const;

/** Closes an order only when its fills equal the executed quantity that the exchange reports. */
export class FillSums {
  readonly #execution: Execution;
  /** Reads an order's trades again from the first possible one. */
  readonly #readAgain: (order: WorkingOrder) => Promise<void>;
  /** Since when fills of a final order have been missing; infinity once that was reported. */
  readonly #missingSince = new Map<WorkingOrder, number>();

  constructor(execution: Execution, readAgain: (order: WorkingOrder) => Promise<void>) {
    this.#execution = execution;
    this.#readAgain = readAgain;
  }

  /** Takes a final status: the order closes once its fills add up to the executed quantity. */
  noteReport(order: WorkingOrder, report: OrderReport): void {
    // Answers can arrive out of order: a late one must not reopen the order.
    if (!isFinal(report.status) || order.state !== 'open') return;
    order.executed = report.executed;
    order.venueStatus = report.status;
    move(this.#execution, order, 'final', { status: report.status });
  }

  /** Closes the orders of a symbol whose fills add up. A promise if one does not and the exchange is asked again. */
  closeWhatAddsUp(symbol: string): Promise<void> | undefined {
    const { portfolio } = this.#execution;
    if (portfolio.isIdle) return undefined;
    let incomplete: WorkingOrder[] | undefined;
    for (const order of portfolio.orders()) {
      if (order.intent.symbol !== symbol || order.state !== 'closing') continue;
      if (order.executed === order.filled) this.#close(order);
      // The fill of a quarantined trade is missing until the trade is decided, and that was reported.
      else if (this.#execution.quarantinedTrades.decisionFor(order.orderId) !== 'open')
        incomplete = [...(incomplete ?? []), order];
    }
    return incomplete === undefined ? undefined : this.#reconcileAll(incomplete);
  }

  async #reconcileAll(orders: readonly WorkingOrder[]): Promise<void> {
    for (const order of orders) {
      if (order.executed !== order.filled) await this.#reconcile(order);
      // A human may have closed it meanwhile.
      if (isClosed(order.state) || order.executed !== order.filled) this.#closeIfDiscarded(order);
      else this.#close(order);
      if (isClosed(order.state)) this.#missingSince.delete(order);
    }
  }

  #close(order: WorkingOrder): void {
    move(this.#execution, order, sumOf(order), { state: order.venueStatus ?? '' });
    this.#missingSince.delete(order);
  }

  /** Our fills and the executed quantity differ: reads the smaller one again. */
  async #reconcile(order: WorkingOrder): Promise<void> {
    const { symbol } = order.intent;
    const { orderId, executed = noLots } = order;
    if (order.filled < executed) return this.#readAgain(order);
    if (orderId === undefined) return;
    const answer = await this.#execution.orders.query({ symbol, orderId });
    if (answer.kind === 'failed' || !isFinal(answer.value.status) || answer.value.executed <= executed) return;
    order.executed = answer.value.executed;
    order.venueStatus = answer.value.status;
  }

  /** Ends an order of which a human discarded a trade: its fills can never add up. */
  #closeIfDiscarded(order: WorkingOrder): void {
    if (order.state === 'closing' && this.#execution.quarantinedTrades.decisionFor(order.orderId) === 'discarded') {
      const [event, as] = order.venueStatus === 'FILLED' ? closedAs.filled : closedAs.canceled;
      move(this.#execution, order, event, { as, by: 'operator', reason: 'one of its trades was discarded' });
    } else this.#reportMissing(order);
  }

  /** Reports once that fills have been missing for a while: the strategy waits for them. */
  #reportMissing(order: WorkingOrder): void {
    if (isClosed(order.state)) return;
    const { clock, notice, portfolio } = this.#execution;
    const since = this.#missingSince.get(order) ?? clock.now();
    const isDue = clock.now() - since >= clock.machine(reportAfterMs);
    this.#missingSince.set(order, isDue ? Number.POSITIVE_INFINITY : since);
    if (!isDue) return;
    const { clientOrderId, strategy, symbol } = order.intent;
    const instrument = portfolio.instrument(symbol);
    const [executed, filled] = [order.executed ?? noLots, order.filled].map((lots) => quantityText(lots, instrument));
    notice({
      level: 'error',
      text: `order ${clientOrderId} ended at the exchange with ${executed} executed, but its trades add up to ${filled}. Strategy ${strategy} is blocked on ${symbol} until they match, see sluice why ${clientOrderId}`,
    });
  }
}

const sumOf = ({ venueStatus }: WorkingOrder): OrderEvent =>
  venueStatus === 'FILLED' ? 'sumFilled' : venueStatus === 'REJECTED' ? 'sumRejected' : 'sumCanceled';
