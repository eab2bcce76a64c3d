/** Carries out one intent: weight, journal, one attempt, and what came of it. */
import { type Intent, isClosed, type OrderReport, type Outcome, type Sent } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { bind, type Execution, move, quarantine } from './context.ts';
import { resolve } from './reconcile/resolve.ts';
import type { Sweeps } from './sweep.ts';

/** Asked at the last moment before the journal: may this still be sent? Gives the reason against it. */
export type LastHop = (intent: Intent) => string | undefined;

/** A wait, real ms, in which nothing can have changed that the rules did not see when the order was judged. */
const shortWaitMs = 5;

/**
 * Sends an order that is reserved already. Nothing leaves before the intent is on disk (R1); nothing is ever sent twice (R2);
 * whatever is not provably accepted, rejected or not sent is unknown until the exchange shows it.
 */
export async function execute(
  execution: Execution,
  sweeps: Sweeps,
  lastHop: LastHop,
  order: WorkingOrder,
): Promise<Sent> {
  const { clock, journal, orders, portfolio } = execution;
  const { intent } = order;
  const askedAt = clock.now();
  // Where there is room its weight is taken while the disk writes: an order's way is that much shorter.
  const isRoom = orders.isRoom?.() === true;
  const admitted = isRoom || (await orders.admit(intent.expiresAt));
  const waitedMs = clock.now() - askedAt;
  if (!admitted)
    return giveUp(execution, order, `no request weight until it expired, after ${Math.round(waitedMs)} ms`);
  const against = (): string | undefined =>
    lastHop(intent) ?? (clock.now() > intent.expiresAt ? 'it expired before it could be sent' : undefined);
  // Who had to wait for weight is asked before anything is prepared, too; all are asked at the last moment, by the gate.
  const early = journal.full || waitedMs > clock.machine(shortWaitMs) ? against() : undefined;
  if (early !== undefined) return giveUp(execution, order, early);
  const prepared = orders.prepare(intent, portfolio.instrument(intent.symbol));
  order.signedAt = prepared.signedAt;
  order.recvWindowMs = prepared.recvWindowMs;
  order.bodyHash = prepared.bodyHash;
  order.tradeFloor = sweeps.newestTrade(intent.symbol);
  move(execution, order, 'send', {
    waitedMs: Math.round(waitedMs),
    signedAt: prepared.signedAt,
    recvWindowMs: prepared.recvWindowMs,
  });
  const onDisk = journal.durable();
  const gated = (isOnDisk: boolean, isWeighed: boolean): string | undefined => {
    if (!isOnDisk) return 'the disk is full: an order that cannot be journalled is not sent';
    return isWeighed ? against() : 'another process took its request weight in the same moment';
  };
  // What is taken for an order that does not leave is lost, which errs on the safe side.
  // The millisecond can end on the way: until now alone, one order in fifty was refused its weight where there was room.
  const gate = isRoom
    ? Promise.all([onDisk, orders.admit(clock.now() + clock.machine(shortWaitMs))]).then((both) => gated(...both))
    : onDisk.then((isOnDisk) => gated(isOnDisk, true));
  const outcome = await prepared.send(gate);
  // A journal that broke is not an outcome: its error goes on from here.
  await gate;
  return settle(execution, sweeps, order, outcome);
}

/** Nobody knows what came of it: it is looked for until that is known. */
export async function lost(execution: Execution, sweeps: Sweeps, order: WorkingOrder, cause: string): Promise<Sent> {
  if (move(execution, order, 'lose', { cause }) !== 'look') return 'placed';
  const resolution = await resolve(execution, sweeps, order);
  return resolution === 'found' ? 'placed' : resolution === 'absent' ? 'refused' : 'unknown';
}

/** Not one byte left: the reservation ends. */
export function giveUp(execution: Execution, order: WorkingOrder, cause: string): Sent {
  return move(execution, order, 'notSent', { cause }) === 'release' ? 'refused' : 'placed';
}

async function settle(execution: Execution, sweeps: Sweeps, order: WorkingOrder, outcome: Outcome): Promise<Sent> {
  switch (outcome.kind) {
    case 'accepted':
      accepted(execution, sweeps, order, outcome.report);
      return 'placed';
    // A sweep that found the order while its answer was on its way is evidence; an answer that denies it is not.
    case 'rejected': {
      const { code, message } = outcome;
      return move(execution, order, 'reject', { code, message }) === 'release' ? 'refused' : 'placed';
    }
    case 'notSent':
      return giveUp(execution, order, outcome.cause);
    case 'unknown':
      return lost(execution, sweeps, order, outcome.cause);
  }
}

/** The exchange shows the order as accepted, by an id. */
export function accepted(execution: Execution, sweeps: Sweeps, order: WorkingOrder, report: OrderReport): void {
  const { orderId, intent } = order;
  if (orderId !== undefined && orderId !== report.orderId && !isClosed(order.state)) {
    quarantine(execution, order, 'copied', `orders ${orderId} and ${report.orderId} both bear its id`);
    return;
  }
  move(execution, order, 'accept', { orderId: report.orderId, status: report.status });
  bind(execution, order, report);
  sweeps.noteReport(order, report);
  sweeps.nudge(intent.symbol);
}
