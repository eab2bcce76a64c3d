/**
 * Orders of a batch whose answer was lost (order-protocol §3.6). The exchange has no client id of them, so that they are found by
 * what they are: where exactly one order that is nobody's is like exactly one that is looked for. Otherwise nobody can say.
 */
import type { OrderReport } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { bind, type Execution, move, quarantine } from './desk.ts';
import { likenessIn, likenessOf } from './likeness.ts';

export class Alike {
  readonly #execution: Execution;
  readonly #noteReport: (order: WorkingOrder, report: OrderReport) => void;
  /** What was seen that is like an order, by the exchange's id; entries end with their orders. */
  readonly #seen = new Map<WorkingOrder, Map<string, OrderReport>>();

  constructor(execution: Execution, noteReport: (order: WorkingOrder, report: OrderReport) => void) {
    this.#execution = execution;
    this.#noteReport = noteReport;
  }

  /** Takes note of an order without an id of ours; false when it is like none of a batch. */
  note(report: OrderReport): boolean {
    const { portfolio, givenUp } = this.#execution;
    const likeness = likenessIn(report);
    if (likeness === undefined) return false;
    for (const order of [...portfolio.orders(), ...givenUp.values()]) {
      if (order.batch === undefined || order.orderId !== undefined || likenessOf(order.intent) !== likeness) continue;
      if (
        order.state !== 'sending' &&
        order.state !== 'unknown' &&
        order.state !== 'quarantined' &&
        order.state !== 'absent'
      )
        continue;
      const seen = this.#seen.get(order) ?? new Map<string, OrderReport>();
      this.#seen.set(order, seen.set(report.orderId, report));
      return true;
    }
    return false;
  }

  /** Binds what is beyond doubt; gives the ids of those orders of which nobody can say whose they are. */
  decide(): readonly string[] {
    const aside: string[] = [];
    for (const [order, seen] of this.#seen) {
      // While its own answer is on its way it is that which tells.
      if (order.state === 'sending') continue;
      this.#seen.delete(order);
      // Bound meanwhile, by its answer: what is like it is asked for again by the next look.
      if (order.orderId !== undefined) continue;
      const [report] = seen.values();
      const ids = [...seen.keys()];
      const isOpen = order.state === 'unknown' || (order.state === 'quarantined' && order.doubt !== 'alike');
      if (isOpen && ids.length === 1 && report !== undefined) this.#find(order, report);
      else {
        aside.push(...ids);
        if (order.state !== 'quarantined') this.#doubt(order, ids);
      }
    }
    return aside;
  }

  #find(order: WorkingOrder, report: OrderReport): void {
    const { orderId, status } = report;
    move(this.#execution, order, 'find', { orderId, status, was: order.state, by: 'what it is: it left in a batch' });
    bind(this.#execution, order, report);
    order.doubt = undefined;
    this.#noteReport(order, report);
  }

  /** Never cancelled: it may be a human's. */
  #doubt(order: WorkingOrder, ids: readonly string[]): void {
    const text =
      order.state === 'absent'
        ? `order ${ids.join(' and ')} looks like it, although it counted as absent; nothing is cancelled, since it may be somebody else's`
        : `orders ${ids.join(' and ')} look like it, and it left in a batch without a client id: nobody can say which it is`;
    quarantine(this.#execution, order, 'alike', text);
  }
}
