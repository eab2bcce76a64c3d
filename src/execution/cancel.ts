/**
 * Cancelling (order-protocol §3.5). A cancel may be repeated, and its answer is never the truth: the order query is, until
 * the order is final.
 */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Execution, record } from './desk.ts';
import { untilFinal } from './late.ts';
import type { Sweeps } from './sweep.ts';

/** Asks for a cancel and stays with it until the order is final. An order without an id cannot be cancelled: it must be found first. */
export async function cancel(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  lane: 'kill' | 'cancel' = 'cancel',
): Promise<void> {
  if (order.cancelRequested || order.orderId === undefined) return;
  order.cancelRequested = true;
  for (let round = 1; order.state === 'open'; round++) {
    record(execution, order, 'cancelSent', { round });
    const answer = await execution.orders.cancel({ symbol: order.intent.symbol, orderId: order.orderId }, lane);
    record(execution, order, 'cancelAnswer', answer);
    await untilFinal(execution, async () => {
      await sweeps.look(order);
      return order.state !== 'open';
    });
  }
  await sweeps.sweep(order.intent.symbol);
}
