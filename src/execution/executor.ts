/** Sends orders, alone or several in one request: request weight, journal, one attempt, and the outcome. */
import { type Intent, isClosed, type OrderReport, type Outcome, type SubmitResult } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { BatchCreated, Batches, PreparedOrder } from '../venue/venue.ts';
import type { Execution } from './context.ts';
import { bind, move, quarantine } from './order-steps.ts';
import { pairsOf } from './reconcile/match-orders.ts';
import { resolve } from './reconcile/resolve.ts';
import type { Sweeps } from './sweep.ts';

/** The risk check just before an order leaves: the reason why it may not be sent, or undefined. */
type LastHop = (intent: Intent) => string | undefined;

/** A wait, real ms, too short for anything to change that the risk rules judged by. */
const shortWaitMs = 5;

const diskFull = 'the disk is full: an order that cannot be journalled is not sent';

/** Why an intent may not be sent now, or undefined. */
const objection = ({ clock }: Execution, lastHop: LastHop, intent: Intent): string | undefined =>
  lastHop(intent) ?? (clock.now() > intent.expiresAt ? 'it expired before it could be sent' : undefined);

/**
 * Sends an order that is reserved already. Nothing leaves before the intent is on disk (R1), and nothing is sent twice (R2). Every
 * outcome that is not provably accepted, rejected or not sent is unknown until the exchange shows it; `onLost` is called when it becomes so.
 */
export async function execute(
  execution: Execution,
  sweeps: Sweeps,
  lastHop: LastHop,
  order: WorkingOrder,
  onLost?: () => void,
): Promise<SubmitResult> {
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
  if (outcome.kind === 'unknown') return lost(execution, sweeps, order, outcome.cause, onLost);
  return settle(execution, sweeps, order, outcome);
}

/** Notes what is about to be sent. */
function markSent(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  { signedAt, recvWindowMs, bodyHash }: Pick<PreparedOrder, 'signedAt' | 'recvWindowMs' | 'bodyHash'>,
  detail: { readonly waitedMs: number } | { readonly batch: string },
): void {
  order.signedAt = signedAt;
  order.recvWindowMs = recvWindowMs;
  order.bodyHash = bodyHash;
  order.tradeFloor = sweeps.newestTrade(order.intent.symbol);
  if ('batch' in detail) order.batch = detail.batch;
  move(execution, order, 'send', { ...detail, signedAt, recvWindowMs });
}

/** The outcome is not known: resolves it by asking the exchange. */
async function lost(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  cause: string,
  onLost?: () => void,
): Promise<SubmitResult> {
  if (move(execution, order, 'lose', { cause }) !== 'resolve') return 'accepted';
  onLost?.();
  const resolution = await resolve(execution, sweeps, order);
  return resolution === 'found' ? 'accepted' : resolution === 'absent' ? 'absent' : 'unknown';
}

/** Not one byte left: the reservation ends. */
const giveUp = (execution: Execution, order: WorkingOrder, cause: string): SubmitResult =>
  move(execution, order, 'notSent', { cause }) === 'release' ? 'notSent' : 'accepted';

async function settle(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  outcome: Outcome | Exclude<BatchCreated, { readonly kind: 'answered' }>,
): Promise<SubmitResult> {
  switch (outcome.kind) {
    case 'accepted':
      accepted(execution, sweeps, order, outcome.report);
      return 'accepted';
    case 'rejected': {
      const { code, message } = outcome;
      // If a sweep found the order before its answer came, the sweep is evidence and the answer is not.
      return move(execution, order, 'reject', { code, message }) === 'release' ? 'rejected' : 'accepted';
    }
    case 'notSent':
      return giveUp(execution, order, outcome.cause);
    case 'unknown':
      return lost(execution, sweeps, order, outcome.cause);
  }
}

/** The exchange shows the order as accepted, by an id. */
function accepted(execution: Execution, sweeps: Sweeps, order: WorkingOrder, report: OrderReport): void {
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

/**
 * Sends reserved orders of one symbol, of which no two are alike. Nothing leaves before every intent is on disk, and nothing is sent
 * twice. The answer lists ids without saying which order each belongs to. So each id is queried and matched by what the order is.
 */
export async function executeBatch(
  execution: Execution,
  sweeps: Sweeps,
  lastHop: LastHop,
  batches: Batches,
  orders: readonly WorkingOrder[],
): Promise<readonly SubmitResult[]> {
  const { journal, portfolio } = execution;
  const admitted = await batches.admit(Math.min(...orders.map(({ intent }) => intent.expiresAt)));
  const against = ({ intent }: WorkingOrder): string | undefined =>
    admitted ? objection(execution, lastHop, intent) : 'no request weight until it expired';
  const results = new Map<WorkingOrder, SubmitResult>();
  for (const order of orders) {
    const why = against(order);
    if (why !== undefined) results.set(order, giveUp(execution, order, why));
  }
  const left = orders.filter((order) => !results.has(order));
  const [first] = left;
  if (left.length === 1 && first !== undefined) results.set(first, await execute(execution, sweeps, lastHop, first));
  else if (first !== undefined) {
    const intents = left.map(({ intent }) => intent);
    const prepared = batches.prepare(intents, portfolio.instrument(first.intent.symbol));
    for (const order of left) markSent(execution, sweeps, order, prepared, { batch: first.intent.clientOrderId });
    const gate = journal
      .durable()
      .then((onDisk) => (onDisk ? left.map(against).find((why) => why !== undefined) : diskFull));
    const outcome = await prepared.send(gate);
    await gate;
    const settled = await settleBatch(execution, sweeps, left, outcome);
    for (const [index, order] of left.entries()) results.set(order, settled[index] ?? 'unknown');
  }
  return orders.map((order) => results.get(order) ?? 'unknown');
}

async function settleBatch(
  execution: Execution,
  sweeps: Sweeps,
  orders: readonly WorkingOrder[],
  outcome: BatchCreated,
): Promise<readonly SubmitResult[]> {
  if (outcome.kind !== 'answered') return Promise.all(orders.map((order) => settle(execution, sweeps, order, outcome)));
  const { orderIds } = outcome;
  const pairs = pairsOf(orders, await reportsOf(execution, orders, orderIds));
  for (const [order, report] of pairs) accepted(execution, sweeps, order, report);
  const cause = `the answer to the batch names ${orderIds.length} orders for ${orders.length}, and none of them is provably this one`;
  return Promise.all(
    orders.map(async (order) => (pairs.has(order) ? 'accepted' : lost(execution, sweeps, order, cause))),
  );
}

/** The orders under these ids. One whose query fails is left to the sweeps. */
async function reportsOf(
  { orders }: Execution,
  [first]: readonly WorkingOrder[],
  orderIds: readonly string[],
): Promise<readonly OrderReport[]> {
  const symbol = first?.intent.symbol ?? '';
  const answers = await Promise.all([...new Set(orderIds)].map((orderId) => orders.query({ symbol, orderId })));
  return answers.flatMap((answer) => (answer.kind === 'ok' ? [answer.value] : []));
}
