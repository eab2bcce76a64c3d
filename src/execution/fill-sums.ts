/** Closes an order only when its fills equal the executed quantity that the exchange reports. */
import { noLots, quantityText } from '../domain/money.ts';
import { isClosed, isFinal, type OrderReport } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Execution, move } from './context.ts';
import type { OrderEvent } from './states.ts';

/** After this long a notice says that fills of a final order are missing, real ms. */
const reportAfterMs = 60_000;

const closedAs = { filled: ['humanFilled', 'filled'], canceled: ['humanCanceled', 'canceled'] } as const;

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
