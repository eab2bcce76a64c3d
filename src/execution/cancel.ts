/** Cancels orders, alone and several in one request. */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type CancelOutcome, maxInBatch } from '../venue/venue.ts';
import { type Cancelling, cancelUntilFinal } from './cancel-until-final.ts';
import type { Execution } from './context.ts';
import type { Sweeps } from './sweep.ts';

/** Cancels an order and waits until it is final. An order without an exchange id cannot be cancelled: it must be found first. */
export async function cancel(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  lane: Cancelling['lane'] = 'cancel',
  first?: Promise<CancelOutcome>,
): Promise<void> {
  const { orderId, intent } = order;
  if (order.cancelRequested || orderId === undefined) return;
  order.cancelRequested = true;
  const { clientOrderId, symbol } = intent;
  if (order.state === 'open')
    await cancelUntilFinal(execution, {
      clientOrderId,
      order: { symbol, orderId },
      lane,
      first,
      async isOver() {
        await sweeps.query(order);
        return order.state !== 'open';
      },
    });
  await sweeps.sweep(symbol);
}

/**
 * Cancels several orders at once, those of one symbol in as few requests as the venue takes. The answer for each order is journalled,
 * and proves nothing.
 */
export function cancelTogether(
  execution: Execution,
  sweeps: Sweeps,
  orders: readonly WorkingOrder[],
  lane: Cancelling['lane'] = 'cancel',
): readonly Promise<void>[] {
  const bySymbol = Map.groupBy(
    orders.filter(
      ({ state, orderId, cancelRequested }) => state === 'open' && orderId !== undefined && !cancelRequested,
    ),
    ({ intent }) => intent.symbol,
  );
  const running: Promise<void>[] = [];
  for (const [symbol, ours] of bySymbol)
    for (let from = 0; from < ours.length; from += maxInBatch) {
      const batch = ours.slice(from, from + maxInBatch);
      const ids = batch.map(({ orderId = '' }) => orderId);
      const answers = batch.length > 1 ? execution.orders.batches?.cancel(symbol, ids, lane) : undefined;
      for (const order of batch) {
        const first = answers?.then((all) => all.get(order.orderId ?? '') ?? unnamed);
        // Journals the request before its answer can arrive.
        running.push(cancel(execution, sweeps, order, lane, first));
      }
    }
  return running;
}

const unnamed: CancelOutcome = { kind: 'unknown', cause: 'the answer to the batch does not name the order' };
