/** Carries out one intent: request weight, journal, one attempt, and its outcome. */
import { type Intent, isClosed, type OrderReport, type Outcome, type Sent } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { BatchCreated, PreparedOrder } from '../venue/venue.ts';
import { bind, type Execution, move, quarantine } from './context.ts';
import { resolve } from './reconcile/resolve.ts';
import type { Sweeps } from './sweep.ts';

/** The risk check just before an order leaves: the reason why it may not be sent, or undefined. */
export type LastHop = (intent: Intent) => string | undefined;

/** A wait, real ms, too short for anything to change that the risk rules judged by. */
const shortWaitMs = 5;

export const diskFull = 'the disk is full: an order that cannot be journalled is not sent';

/** Why an intent may not be sent now, or undefined. */
export const objection = ({ clock }: Execution, lastHop: LastHop, intent: Intent): string | undefined =>
  lastHop(intent) ?? (clock.now() > intent.expiresAt ? 'it expired before it could be sent' : undefined);

/**
 * Sends an order that is reserved already. Nothing leaves before the intent is on disk (R1), and nothing is sent twice (R2). Every
 * outcome that is not provably accepted, rejected or not sent is unknown until the exchange shows it.
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
  // While there is room, weight is taken during the disk write, which saves time.
  const hasRoom = orders.isRoom?.() === true;
  const admitted = hasRoom || (await orders.admit(intent.expiresAt));
  const waited = clock.now() - askedAt;
  const waitedMs = Math.round(waited);
  if (!admitted) return giveUp(execution, order, `no request weight until it expired, after ${waitedMs} ms`);
  const against = (): string | undefined => objection(execution, lastHop, intent);
  // The gate checks every order at the last moment. One that waited is also checked before it is prepared.
  const early = journal.full || waited > clock.machine(shortWaitMs) ? against() : undefined;
  if (early !== undefined) return giveUp(execution, order, early);
  const prepared = orders.prepare(intent, portfolio.instrument(intent.symbol));
  markSent(execution, sweeps, order, prepared, { waitedMs });
  const onDisk = journal.durable();
  const gated = (isOnDisk: boolean, isWeighed: boolean): string | undefined => {
    if (!isOnDisk) return diskFull;
    return isWeighed ? against() : 'another process took its request weight in the same moment';
  };
  // Weight that was taken for an order which does not leave is lost, on the safe side. The deadline is a few ms away: with this very
  // millisecond as the deadline, one order in fifty is refused although there is room.
  const gate = hasRoom
    ? Promise.all([onDisk, orders.admit(clock.now() + clock.machine(shortWaitMs))]).then((both) => gated(...both))
    : onDisk.then((isOnDisk) => gated(isOnDisk, true));
  const outcome = await prepared.send(gate);
  // An error of the journal is not an outcome: it is thrown here.
  await gate;
  return settle(execution, sweeps, order, outcome);
}

/** Notes what is about to be sent. */
export function markSent(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  { signedAt, recvWindowMs, bodyHash }: Pick<PreparedOrder, 'signedAt' | 'recvWindowMs' | 'bodyHash'>,
  detail: { readonly waitedMs: number } | { readonly batch: string },
): void {
  Object.assign(order, { signedAt, recvWindowMs, bodyHash, tradeFloor: sweeps.newestTrade(order.intent.symbol) });
  if ('batch' in detail) order.batch = detail.batch;
  move(execution, order, 'send', { ...detail, signedAt, recvWindowMs });
}

/** The outcome is not known: resolves it by asking the exchange. */
export async function lost(execution: Execution, sweeps: Sweeps, order: WorkingOrder, cause: string): Promise<Sent> {
  if (move(execution, order, 'lose', { cause }) !== 'resolve') return 'placed';
  const resolution = await resolve(execution, sweeps, order);
  return resolution === 'found' ? 'placed' : resolution === 'absent' ? 'refused' : 'unknown';
}

/** Not one byte left: the reservation ends. */
export const giveUp = (execution: Execution, order: WorkingOrder, cause: string): Sent =>
  move(execution, order, 'notSent', { cause }) === 'release' ? 'refused' : 'placed';

export async function settle(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  outcome: Outcome | Exclude<BatchCreated, { readonly kind: 'answered' }>,
): Promise<Sent> {
  switch (outcome.kind) {
    case 'accepted':
      accepted(execution, sweeps, order, outcome.report);
      return 'placed';
    case 'rejected': {
      const { code, message } = outcome;
      // If a sweep found the order before its answer came, the sweep is evidence and the answer is not.
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
    quarantine(execution, order, 'copied', `orders ${orderId} and ${report.orderId} both have its id`);
    return;
  }
  move(execution, order, 'accept', { orderId: report.orderId, status: report.status });
  bind(execution, order, report);
  sweeps.noteReport(order, report);
  sweeps.nudge(intent.symbol);
}
