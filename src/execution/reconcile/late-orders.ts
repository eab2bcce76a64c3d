/** Cancelling an order that turned up after it was given up. */
import { isFinal } from '../../domain/order.ts';
import type { OrderRef } from '../../venue/venue.ts';
import { cancelThrough } from '../cancel-through.ts';
import type { Execution } from '../context.ts';

/**
 * Cancels what is left of an order of ours that was found although it had been given up: nothing
 * counts its exposure and nobody wishes it any more.
 */
export const cancelLate = (execution: Execution, clientOrderId: string, order: OrderRef): Promise<void> =>
  cancelThrough(execution, {
    clientOrderId,
    order,
    lane: 'cancel',
    async isOver() {
      const answer = await execution.orders.query(order);
      return answer.kind === 'ok' && isFinal(answer.value.status);
    },
  });
