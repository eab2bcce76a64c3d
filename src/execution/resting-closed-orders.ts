/** Finds orders that are closed in the journal and still rest at the exchange: nothing counts their exposure. */
import { isFinal, type OrderReport } from '../domain/order.ts';
import { cancelLate } from './cancel-until-final.ts';
import type { Execution } from './context.ts';
import { contradicted } from './order-steps.ts';

/**
 * Checks the list of open orders for ours that are closed in the journal, for example by an operator's mistake. A list can lag. So an
 * order counts once it has been listed for the sweep gap and the order query agrees. Then it is reported and cancelled; its fills are
 * booked as usual.
 */
export function watchClosedOrders(
  execution: Execution,
): (symbol: string, open: readonly OrderReport[]) => Promise<void> | undefined {
  const { owners, portfolio, orders, clock, timing, notice } = execution;
  const seen = new Map<string, { readonly symbol: string; readonly since: number }>();
  const reported = new Set<string>();

  async function check(symbol: string, orderId: string, clientOrderId: string): Promise<void> {
    const answer = await orders.query({ symbol, orderId });
    if (answer.kind === 'failed' || isFinal(answer.value.status) || reported.has(orderId)) return;
    reported.add(orderId);
    const text = `order ${clientOrderId} (${orderId}) is closed in this journal, and the exchange has it as open`;
    contradicted(execution, clientOrderId, text);
    notice({ level: 'error', text: `${text}: the rest is being cancelled` });
    void clock.track(cancelLate(execution, clientOrderId, { symbol, orderId }));
  }

  async function watch(symbol: string, open: readonly OrderReport[]): Promise<void> {
    for (const { orderId } of open) {
      const owner = owners.get(orderId);
      if (owner === undefined || portfolio.order(owner.clientOrderId) !== undefined || reported.has(orderId)) continue;
      const first = seen.get(orderId) ?? { symbol, since: clock.now() };
      seen.set(orderId, first);
      if (clock.now() - first.since >= timing.sweepGapMs) await check(symbol, orderId, owner.clientOrderId);
    }
    if (seen.size === 0) return;
    const listed = new Set(open.map(({ orderId }) => orderId));
    for (const [orderId, { symbol: on }] of seen) if (on === symbol && !listed.has(orderId)) seen.delete(orderId);
  }

  return (symbol, open) => (open.length === 0 && seen.size === 0 ? undefined : watch(symbol, open));
}
