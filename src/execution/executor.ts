/** Carries out one intent: weight, journal, one attempt, and what came of it. */
import type { Intent, Outcome } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { bind, close, type Execution, record } from './desk.ts';
import { resolve } from './resolve.ts';
import type { Sweeps } from './sweep.ts';

/** What an intent came to: an order at the exchange, or none. */
export type Carried = 'placed' | 'refused' | 'unknown';

/** Asked at the last moment before the journal: may this still be sent? Gives the reason against it. */
export type LastHop = (intent: Intent) => string | undefined;

/**
 * Sends an order that is reserved already. Nothing leaves before the intent is on disk (R1); nothing is ever sent twice (R2);
 * whatever is not provably accepted, rejected or not sent is unknown until the exchange shows it.
 */
export async function execute(
  execution: Execution,
  sweeps: Sweeps,
  lastHop: LastHop,
  order: WorkingOrder,
): Promise<Carried> {
  const { clock, journal, orders, portfolio } = execution;
  const { intent } = order;
  const askedAt = clock.now();
  const admitted = await orders.admit(intent.expiresAt);
  const waitedMs = clock.now() - askedAt;
  if (!admitted)
    return giveUp(execution, order, `no request weight until it expired, after ${Math.round(waitedMs)} ms`);
  const against = (): string | undefined =>
    lastHop(intent) ?? (clock.now() > intent.expiresAt ? 'it expired before it could be sent' : undefined);
  const early = against();
  if (early !== undefined) return giveUp(execution, order, early);
  const prepared = orders.prepare(intent, portfolio.instrument(intent.symbol));
  order.state = 'sending';
  order.signedAt = prepared.signedAt;
  order.recvWindowMs = prepared.recvWindowMs;
  order.bodyHash = prepared.bodyHash;
  order.tradeFloor = sweeps.newestTrade(intent.symbol);
  record(execution, order, 'sending', {
    waitedMs: Math.round(waitedMs),
    signedAt: prepared.signedAt,
    recvWindowMs: prepared.recvWindowMs,
  });
  const gate = journal
    .durable()
    .then((onDisk) => (onDisk ? against() : 'the disk is full: an order that cannot be journalled is not sent'));
  const outcome = await prepared.send(gate);
  // A journal that broke is not an outcome: its error goes on from here.
  await gate;
  return settle(execution, sweeps, order, outcome);
}

/** Not one byte left: the reservation ends. */
function giveUp(execution: Execution, order: WorkingOrder, cause: string): Carried {
  record(execution, order, 'notSent', { cause });
  close(execution, order, 'notSent');
  return 'refused';
}

async function settle(execution: Execution, sweeps: Sweeps, order: WorkingOrder, outcome: Outcome): Promise<Carried> {
  // A sweep that found the order while its answer was on its way is evidence; an answer that denies it is not.
  if (order.state !== 'sending' && outcome.kind !== 'accepted') {
    if (outcome.kind !== 'unknown')
      execution.notice({
        level: 'error',
        text: `order ${order.intent.clientOrderId} is at the exchange although its answer was ${outcome.kind}`,
      });
    return 'placed';
  }
  switch (outcome.kind) {
    case 'accepted':
      // A sweep may have found it while the answer was on its way.
      if (order.state === 'sending') order.state = 'open';
      bind(execution, order, outcome.report);
      record(execution, order, 'accepted', { orderId: outcome.report.orderId, status: outcome.report.status });
      sweeps.noteReport(order, outcome.report);
      sweeps.nudge(order.intent.symbol);
      return 'placed';
    case 'rejected':
      record(execution, order, 'rejected', { code: outcome.code, message: outcome.message });
      close(execution, order, 'rejected');
      return 'refused';
    case 'notSent':
      return giveUp(execution, order, outcome.cause);
    case 'unknown':
      order.state = 'unknown';
      record(execution, order, 'unknown', { cause: outcome.cause });
      return (await resolve(execution, sweeps, order)) === 'found' ? 'placed' : 'unknown';
  }
}
