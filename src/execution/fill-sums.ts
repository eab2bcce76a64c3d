/** An order closes on sums: only when its fills come to what the exchange says was executed. */
import { noLots, quantityText } from '../domain/money.ts';
import { isClosed, isFinal, type OrderReport } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Execution, move } from './context.ts';
import type { OrderEvent } from './states.ts';

/** After this long somebody is told that an ended order's fills do not add up, real ms. */
const shortMs = 60_000;

const closedAs = { filled: ['humanFilled', 'filled'], canceled: ['humanCanceled', 'canceled'] } as const;

export class Sums {
  readonly #execution: Execution;
  /** Reads an order's trades again, from where they can begin. */
  readonly #readAgain: (order: WorkingOrder) => Promise<void>;
  /** Since when the fills of an order that ended have not added up; infinite once that was said. */
  readonly #shortSince = new Map<WorkingOrder, number>();

  constructor(execution: Execution, readAgain: (order: WorkingOrder) => Promise<void>) {
    this.#execution = execution;
    this.#readAgain = readAgain;
  }

  /** Takes a final status as such: the order closes once its fills add up to what was executed. */
  noteReport(order: WorkingOrder, report: OrderReport): void {
    // Answers can arrive out of order: one that is late must not open again what is closed.
    if (!isFinal(report.status) || order.state !== 'open') return;
    order.executed = report.executed;
    order.venueStatus = report.status;
    move(this.#execution, order, 'final', { status: report.status });
  }

  /** Closes the orders of a symbol that add up; a promise where one does not, and is asked about. */
  closeWhatAddsUp(symbol: string): Promise<void> | undefined {
    const { portfolio } = this.#execution;
    if (portfolio.isIdle) return undefined;
    let short: WorkingOrder[] | undefined;
    for (const order of portfolio.orders()) {
      if (order.intent.symbol !== symbol || order.state !== 'closing') continue;
      if (order.executed === order.filled) this.#close(order);
      // What a quarantined trade stands for cannot be read, and was reported with it.
      else if (this.#execution.quarantinedTrades.decisionFor(order.orderId) !== 'open')
        short = [...(short ?? []), order];
    }
    return short === undefined ? undefined : this.#reconcileAll(short);
  }

  async #reconcileAll(short: readonly WorkingOrder[]): Promise<void> {
    for (const order of short) {
      if (order.executed !== order.filled) await this.#reconcile(order);
      // Meanwhile a human may have closed it.
      if (isClosed(order.state) || order.executed !== order.filled) this.#closeIfDiscarded(order);
      else this.#close(order);
      if (isClosed(order.state)) this.#shortSince.delete(order);
    }
  }

  #close(order: WorkingOrder): void {
    move(this.#execution, order, sumOf(order), { state: order.venueStatus ?? '' });
    this.#shortSince.delete(order);
  }

  /** Our fills and what the exchange executed differ: whichever is less is behind, and asked for again. */
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

  /** Ends an order of which a human discarded a trade: its fills can never come to what was executed. */
  #closeIfDiscarded(order: WorkingOrder): void {
    if (order.state === 'closing' && this.#execution.quarantinedTrades.decisionFor(order.orderId) === 'discarded') {
      const [event, as] = order.venueStatus === 'FILLED' ? closedAs.filled : closedAs.canceled;
      move(this.#execution, order, event, { as, by: 'operator', reason: 'one of its trades was discarded' });
    } else this.#tellOfShort(order);
  }

  /** Says once of an order that its fills have not added up for a while: its strategy waits for it. */
  #tellOfShort(order: WorkingOrder): void {
    if (isClosed(order.state)) return;
    const { clock, notice, portfolio } = this.#execution;
    const since = this.#shortSince.get(order) ?? clock.now();
    const isDue = clock.now() - since >= clock.machine(shortMs);
    this.#shortSince.set(order, isDue ? Number.POSITIVE_INFINITY : since);
    if (!isDue) return;
    const { clientOrderId, strategy, symbol } = order.intent;
    const at = portfolio.instrument(symbol);
    const [executed, filled] = [order.executed ?? noLots, order.filled].map((lots) => quantityText(lots, at));
    notice({
      level: 'error',
      text: `order ${clientOrderId} ended at the exchange with ${executed} executed, but its own trades come to ${filled}: strategy ${strategy} waits on ${symbol} until both agree, see sluice why ${clientOrderId}`,
    });
  }
}

const sumOf = ({ venueStatus }: WorkingOrder): OrderEvent =>
  venueStatus === 'FILLED' ? 'sumFilled' : venueStatus === 'REJECTED' ? 'sumRejected' : 'sumCanceled';
