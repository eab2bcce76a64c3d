/**
 * Cancelling. A cancel may be repeated, and its answer is never the truth: the order query is, until
 * the order is final.
 */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type CancelOutcome, mostInBatch } from '../venue/venue.ts';
import { cancelThrough } from './cancel-through.ts';
import type { Execution } from './context.ts';
import type { Sweeps } from './sweep.ts';

type CancelLane = 'kill' | 'cancel';

/** Asks for a cancel and stays with it until the order is final. An order without an id cannot be cancelled: it must be found first. */
export async function cancel(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  lane: CancelLane = 'cancel',
  first?: Promise<CancelOutcome>,
): Promise<void> {
  const { orderId, intent } = order;
  if (order.cancelRequested || orderId === undefined) return;
  order.cancelRequested = true;
  const { clientOrderId, symbol } = intent;
  if (order.state === 'open')
    await cancelThrough(execution, {
      clientOrderId,
      order: { symbol, orderId },
      lane,
      first,
      async isOver() {
        await sweeps.look(order);
        return order.state !== 'open';
      },
    });
  await sweeps.sweep(symbol);
}

/**
 * Cancels several orders, those of one symbol in as few requests as the venue takes, all at once. What an answer says of each,
 * success or failure, is noted and not believed (§3.6).
 */
export function cancelTogether(
  execution: Execution,
  sweeps: Sweeps,
  orders: readonly WorkingOrder[],
  lane: CancelLane = 'cancel',
): readonly Promise<void>[] {
  const bySymbol = Map.groupBy(
    orders.filter(
      ({ state, orderId, cancelRequested }) => state === 'open' && orderId !== undefined && !cancelRequested,
    ),
    ({ intent }) => intent.symbol,
  );
  const running: Promise<void>[] = [];
  for (const [symbol, ours] of bySymbol)
    for (let from = 0; from < ours.length; from += mostInBatch) {
      const some = ours.slice(from, from + mostInBatch);
      const ids = some.map(({ orderId = '' }) => orderId);
      const answers = some.length > 1 ? execution.orders.batches?.cancel(symbol, ids, lane) : undefined;
      for (const order of some) {
        const first = answers?.then((all) => all.get(order.orderId ?? '') ?? unnamed);
        // Written down before anything can be heard of it.
        running.push(cancel(execution, sweeps, order, lane, first));
      }
    }
  return running;
}

const unnamed: CancelOutcome = { kind: 'unknown', cause: 'the answer to the batch does not name the order' };
