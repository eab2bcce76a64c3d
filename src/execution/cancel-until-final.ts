/** Repeats a cancel until the order is final. A cancel may be repeated, and its answer is never proof: only the order query is. */
import { isFinal } from '../domain/order.ts';
import type { EventEntry, EventKind } from '../journal/entries.ts';
import type { CancelOutcome, OrderRef } from '../venue/venue.ts';
import type { Execution } from './context.ts';
import { answerEvent, type CancelState, cancelStep } from './states.ts';

/** Between polls of an order that is being cancelled, ms; doubles up to the longest. */
const firstWaitMs = 200;
const longestWaitMs = 5_000;
/** Polls after which a cancel without effect is sent again. */
const pollsPerCancel = 4;
/** How long the exchange may act on a cancel, real ms: the receive window that it assumes. */
const windowMs = 5_000;

export interface Cancelling {
  readonly clientOrderId: string;
  readonly order: OrderRef;
  readonly lane: 'kill' | 'cancel';
  /** Queries the order; true when it is final. A query that fails proves nothing. */
  readonly isOver: () => Promise<boolean>;
  /** The answer to a first cancel that left in a batch. */
  readonly first?: Promise<CancelOutcome> | undefined;
}

export async function cancelUntilFinal(execution: Execution, cancelling: Cancelling): Promise<void> {
  const { orders, journal, clock, horizon, notice } = execution;
  const { clientOrderId, order, lane, isOver, first } = cancelling;
  const note = (event: EventKind, detail: EventEntry['detail']): void =>
    journal.append({ kind: 'event', at: clock.now(), clientOrderId, event, detail });
  const askedAt = clock.now();
  let isReported = false;
  let state: CancelState = cancelStep('none', 'ask').to;
  for (let round = 1; ; round++) {
    const inBatch = round === 1 ? first : undefined;
    note('cancelSent', { round, ...(inBatch === undefined ? {} : { batch: true }) });
    const answer = await (inBatch ?? orders.cancel(order, lane));
    note('cancelAnswer', answer);
    state = cancelStep(state, answerEvent(answer)).to;
    const isEnded = await untilOver(execution, isOver);
    if (!isEnded && !isReported && clock.now() > askedAt + clock.machine(windowMs) + horizon.ms) {
      state = cancelStep(state, 'overdue').to;
      isReported = true;
      notice({
        level: 'warn',
        text: `the cancel of order ${clientOrderId} (${order.orderId}) has not applied after ${Math.round((clock.now() - askedAt) / 1_000)} s and ${round} attempts; retrying until the order is final`,
      });
    }
    const step = cancelStep(state, isEnded ? 'over' : 'stillOpen');
    if (step.then === 'end') return;
    state = step.to;
  }
}

/** Polls at growing distances; false when the order was still open at the last poll. */
async function untilOver({ clock }: Execution, isOver: () => Promise<boolean>): Promise<boolean> {
  let waitMs = firstWaitMs;
  for (let polls = 1; polls <= pollsPerCancel; polls++) {
    if (await isOver()) return true;
    await clock.sleep(waitMs);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
  return false;
}

/** Cancels the rest of an order that was found although it had been given up: nothing counts its exposure. */
export const cancelLate = (execution: Execution, clientOrderId: string, order: OrderRef): Promise<void> =>
  cancelUntilFinal(execution, {
    clientOrderId,
    order,
    lane: 'cancel',
    async isOver() {
      const answer = await execution.orders.query(order);
      return answer.kind === 'ok' && isFinal(answer.value.status);
    },
  });
