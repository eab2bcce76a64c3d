/** Looking until an order is final, and cancelling one that turned up after it was given up. */
import { isFinal } from '../domain/order.ts';
import type { EventEntry, EventKind } from '../journal/entries.ts';
import type { OrderRef } from '../venue/venue.ts';
import type { Execution } from './desk.ts';

/** Between asking again whether an order is final, ms; doubles up to the most. */
const firstWaitMs = 200;
const mostWaitMs = 5_000;
/** Looks after which a cancel that did not apply is sent again. */
const looksBeforeAgain = 4;

/**
 * Cancels what is left of an order of ours that was found although it had been given up (order-protocol §3.4): nothing
 * counts its exposure and nobody wishes it any more.
 */
export async function cancelLate(execution: Execution, clientOrderId: string, order: OrderRef): Promise<void> {
  const { orders, journal, clock } = execution;
  const note = (event: EventKind, detail: EventEntry['detail']): void =>
    journal.append({ kind: 'event', at: clock.now(), clientOrderId, event, detail });
  let ended = false;
  for (let round = 1; !ended; round++) {
    note('cancelSent', { round });
    note('cancelAnswer', await orders.cancel(order));
    ended = await untilFinal(execution, async () => {
      const answer = await orders.query(order);
      return answer.kind === 'ok' && isFinal(answer.value.status);
    });
  }
}

/** Looks some times, further and further apart; false when the order was not final by then. */
export async function untilFinal({ clock }: Execution, look: () => Promise<boolean>): Promise<boolean> {
  for (
    let looks = 1, waitMs = firstWaitMs;
    looks <= looksBeforeAgain;
    looks++, waitMs = Math.min(waitMs * 2, mostWaitMs)
  ) {
    if (await look()) return true;
    await clock.sleep(waitMs);
  }
  return false;
}
