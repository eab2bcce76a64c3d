/**
 * Cancelling (order-protocol §3.5). A cancel may be repeated, and its answer is never the truth: the order query is, until
 * the order is final.
 */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Execution, record } from './desk.ts';
import type { Sweeps } from './sweep.ts';

/** Between asking again whether an order is final, ms; doubles up to the most. */
const firstWaitMs = 200;
const mostWaitMs = 5_000;
/** Looks after which a cancel that did not apply is sent again. */
const looksBeforeAgain = 4;

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
    await untilFinal(execution, sweeps, order);
  }
  await sweeps.sweep(order.intent.symbol);
}

async function untilFinal(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  for (
    let look = 1, waitMs = firstWaitMs;
    look <= looksBeforeAgain;
    look++, waitMs = Math.min(waitMs * 2, mostWaitMs)
  ) {
    await sweeps.look(order);
    if (order.state !== 'open') return;
    await execution.clock.sleep(waitMs);
  }
}
