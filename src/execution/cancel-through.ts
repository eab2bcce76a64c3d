/** Carries a cancel through its side machine: sends, looks, and sends again, until the order is over. */
import type { EventEntry, EventKind } from '../journal/entries.ts';
import type { CancelOutcome, OrderRef } from '../venue/venue.ts';
import { answerEvent, type CancelAction, type CancelEvent, type CancelState, cancelStep } from './cancel-states.ts';
import type { Execution } from './context.ts';

/** Between asking again whether an order is final, ms; doubles up to the most. */
const firstWaitMs = 200;
const mostWaitMs = 5_000;
/** Looks after which a cancel that did not apply is sent again. */
const looksBeforeAgain = 4;
/** How long the exchange may act on a cancel, real ms: it has no window of its own, so this is the one the exchange assumes (§3.5). */
const windowMs = 5_000;

export interface CancelWork {
  readonly clientOrderId: string;
  readonly order: OrderRef;
  readonly lane: 'kill' | 'cancel';
  /** Asks the exchange for the order; true when it is over. A query that fails says nothing. */
  readonly isOver: () => Promise<boolean>;
  /** The answer to a first cancel that left with others in a batch. */
  readonly first?: Promise<CancelOutcome> | undefined;
}

export async function cancelThrough(execution: Execution, work: CancelWork): Promise<void> {
  const { orders, journal, clock, horizon, notice } = execution;
  const { clientOrderId, order, lane, isOver, first } = work;
  const note = (event: EventKind, detail: EventEntry['detail']): void =>
    journal.append({ kind: 'event', at: clock.now(), clientOrderId, event, detail });
  let state: CancelState = 'none';
  const step = (event: CancelEvent): CancelAction => {
    const { to, then } = cancelStep(state, event);
    state = to;
    return then;
  };
  const askedAt = clock.now();
  let told = false;
  let then = step('ask');
  for (let round = 1; then === 'send'; round++) {
    note('cancelSent', { round, ...(round === 1 && first !== undefined ? { batch: true } : {}) });
    const answer = await (round === 1 && first !== undefined ? first : orders.cancel(order, lane));
    note('cancelAnswer', answer);
    step(answerEvent(answer));
    const isEnded = await untilOver(execution, isOver);
    if (!isEnded && !told && clock.now() > askedAt + clock.machine(windowMs) + horizon.ms) {
      told = step('overdue') === 'tell';
      notice({
        level: 'warn',
        text: `the cancel of order ${clientOrderId} (${order.orderId}) has not applied after ${Math.round((clock.now() - askedAt) / 1_000)} s and ${round} tries; it is sent again until the order is over`,
      });
    }
    then = step(isEnded ? 'over' : 'stillOpen');
  }
}

/** Looks some times, further and further apart; false when the order was not over by then. */
async function untilOver({ clock }: Execution, look: () => Promise<boolean>): Promise<boolean> {
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
