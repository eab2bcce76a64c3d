/** Orders that are closed here and rest at the exchange all the same: nothing counts what they may still do. */
import { isFinal, type OrderReport } from '../domain/order.ts';
import { type Execution, tellAgainst } from './context.ts';
import { cancelLate } from './reconcile/late-orders.ts';

/**
 * Looks for orders of ours on the list of open ones that are closed in the journal, as by a human who was wrong. A list can lag,
 * so that one counts once it is there for the sweep gap and the order query says so too; then it is told of and cancelled. Its
 * fills are booked as ever.
 */
export function closedWatch(
  execution: Execution,
): (symbol: string, open: readonly OrderReport[]) => Promise<void> | undefined {
  const { owners, portfolio, orders, clock, timing, notice } = execution;
  const seen = new Map<string, { readonly symbol: string; readonly since: number }>();
  const told = new Set<string>();

  async function ask(symbol: string, orderId: string, clientOrderId: string): Promise<void> {
    const answer = await orders.query({ symbol, orderId });
    if (answer.kind === 'failed' || isFinal(answer.value.status) || told.has(orderId)) return;
    told.add(orderId);
    const text = `order ${clientOrderId} (${orderId}) is closed in this journal, and the exchange has it as open`;
    tellAgainst(execution, clientOrderId, text);
    notice({ level: 'error', text: `${text}: the rest is being cancelled` });
    void clock.track(cancelLate(execution, clientOrderId, { symbol, orderId }));
  }

  async function watch(symbol: string, open: readonly OrderReport[]): Promise<void> {
    for (const { orderId } of open) {
      const owner = owners.get(orderId);
      if (owner === undefined || portfolio.order(owner.clientOrderId) !== undefined || told.has(orderId)) continue;
      const first = seen.get(orderId) ?? { symbol, since: clock.now() };
      seen.set(orderId, first);
      if (clock.now() - first.since >= timing.sweepGapMs) await ask(symbol, orderId, owner.clientOrderId);
    }
    if (seen.size === 0) return;
    const listed = new Set(open.map(({ orderId }) => orderId));
    for (const [orderId, { symbol: on }] of seen) if (on === symbol && !listed.has(orderId)) seen.delete(orderId);
  }

  return (symbol, open) => (open.length === 0 && seen.size === 0 ? undefined : watch(symbol, open));
}
