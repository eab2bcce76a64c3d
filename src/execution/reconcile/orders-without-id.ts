/**
 * Orders that the exchange shows without their client id: those of a batch, and every order on a deployment
 * that does not return ids. Where nobody else trades on the account they are found by what they are: one order at the exchange that
 * nobody owns is bound to an order of ours when each is the only match of the other. In every other case nobody can say, and the
 * order is quarantined. Never cancelled: it may be a human's.
 */
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Execution, quarantine } from '../context.ts';
import { isInWindow } from './creation-window.ts';
import { likenessIn, likenessOf } from './match-orders.ts';

/** The orders of ours that an order at the exchange may be: without an id of the exchange, of the same likeness, and of its time. */
export function candidatesFor(execution: Execution, report: OrderReport): readonly WorkingOrder[] {
  const likeness = likenessIn(report);
  if (likeness === undefined || !execution.dedicated) return [];
  // An order that was sent with a client id must not be shown with another one. What is shown of a batch, which has none, nobody knows.
  return mayAppear(execution, report.symbol).filter(
    (order) =>
      (order.batch !== undefined || report.clientOrderId === undefined) &&
      likenessOf(order.intent) === likeness &&
      isInWindow(execution, order, report),
  );
}

/** Orders of a symbol that the exchange may still show as new ones: of open outcome, or given up as absent. */
function mayAppear({ portfolio, givenUp }: Execution, symbol: string): readonly WorkingOrder[] {
  return [...portfolio.orders(), ...givenUp.values()].filter(
    ({ intent, state, orderId }) =>
      intent.symbol === symbol &&
      orderId === undefined &&
      (state === 'sending' || state === 'unknown' || state === 'quarantined' || state === 'absent'),
  );
}

/** What a new order on a symbol must not look like, so that it can be told from those that may still appear. */
export const takenLikenesses = (execution: Execution, symbol: string): Set<string> =>
  new Set(mayAppear(execution, symbol).flatMap(({ intent }) => likenessOf(intent) ?? []));

/**
 * Binds what is beyond doubt among the orders of one complete reading; gives the ids of those of which nobody can say whose they are.
 */
export function decideByLikeness(
  execution: Execution,
  reports: readonly OrderReport[],
  bind: (order: WorkingOrder, report: OrderReport) => void,
): readonly string[] {
  const found = reports
    .filter(({ orderId }) => !execution.owners.has(orderId))
    .map((report) => ({ report, candidates: candidatesFor(execution, report) }));
  const aside: string[] = [];
  for (const { report, candidates } of found) {
    const [order] = candidates;
    // While an order's own answer may still come, it is that answer which decides.
    if (order === undefined || candidates.some(({ state }) => state === 'sending')) continue;
    const rivals = found.filter((other) => other.candidates.includes(order));
    const isOpen = order.state === 'unknown' || (order.state === 'quarantined' && order.quarantineReason !== 'alike');
    if (isOpen && candidates.length === 1 && rivals.length === 1) bind(order, report);
    else {
      aside.push(report.orderId);
      for (const one of candidates) doubt(execution, one, report.orderId);
    }
  }
  return aside;
}

function doubt(execution: Execution, order: WorkingOrder, orderId: string): void {
  if (order.state === 'quarantined') return;
  const text =
    order.state === 'absent'
      ? `order ${orderId} matches it, although it was resolved as absent. It is not cancelled: it may not be ours`
      : `order ${orderId} matches it, and so do others: without client ids none can be assigned`;
  quarantine(execution, order, 'alike', text);
}
