/**
 * Attributes orders that the exchange shows without a client id: those of a batch, and all orders on a deployment that does not return
 * ids. On a dedicated account they are matched by what they are: an order at the exchange is bound to ours if each is the only match of
 * the other. In every other case our order is quarantined. The other one is not cancelled: it may be a human's.
 */
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Execution } from '../context.ts';
import { quarantine } from '../order-steps.ts';
import { isInWindow } from './creation-window.ts';
import { likenessIn, likenessOf } from './match-orders.ts';

/** Our orders that an order at the exchange may be: without an exchange id, alike, and of its time. */
export function candidatesFor(execution: Execution, report: OrderReport): readonly WorkingOrder[] {
  const likeness = likenessIn(report);
  if (likeness === undefined || !execution.dedicated) return [];
  // An order that was sent with a client id is not shown with another one. Orders of a batch may be shown with any.
  return mayAppear(execution, report.symbol).filter(
    (order) =>
      (order.batch !== undefined || report.clientOrderId === undefined) &&
      likenessOf(order.intent) === likeness &&
      isInWindow(execution, order, report),
  );
}

/** Our orders of a symbol that the exchange may still show for the first time: of open outcome, or absent. */
function mayAppear({ portfolio, givenUp }: Execution, symbol: string): readonly WorkingOrder[] {
  return [...portfolio.orders(), ...givenUp.values()].filter(
    ({ intent, state, orderId }) =>
      intent.symbol === symbol &&
      orderId === undefined &&
      (state === 'sending' || state === 'unknown' || state === 'quarantined' || state === 'absent'),
  );
}

/** Keys that a new order on a symbol must not have, as orders with them may still appear. */
export const takenLikenesses = (execution: Execution, symbol: string): Set<string> =>
  new Set(mayAppear(execution, symbol).flatMap(({ intent }) => likenessOf(intent) ?? []));

/** Binds the orders of one complete read that match beyond doubt; returns the ids of the others. */
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
    // While an order's answer may still come, that answer decides.
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
