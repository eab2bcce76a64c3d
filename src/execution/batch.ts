/** Sends several orders of one symbol in one request. Each is journalled, sent once, and verified by a query. */
import type { OrderReport, Sent } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { BatchCreated, Batches } from '../venue/venue.ts';
import type { Execution } from './context.ts';
import { accepted, diskFull, execute, giveUp, type LastHop, lost, markSent, objection, settle } from './executor.ts';
import { pairsOf } from './reconcile/match-orders.ts';
import type { Sweeps } from './sweep.ts';

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
): Promise<readonly Sent[]> {
  const { journal, portfolio } = execution;
  const admitted = await batches.admit(Math.min(...orders.map(({ intent }) => intent.expiresAt)));
  const against = ({ intent }: WorkingOrder): string | undefined =>
    admitted ? objection(execution, lastHop, intent) : 'no request weight until it expired';
  const results = new Map<WorkingOrder, Sent>();
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
): Promise<readonly Sent[]> {
  if (outcome.kind !== 'answered') return Promise.all(orders.map((order) => settle(execution, sweeps, order, outcome)));
  const { orderIds } = outcome;
  const pairs = pairsOf(orders, await reportsOf(execution, orders, orderIds));
  for (const [order, report] of pairs) accepted(execution, sweeps, order, report);
  const cause = `the answer to the batch names ${orderIds.length} orders for ${orders.length}, and none of them is provably this one`;
  return Promise.all(
    orders.map(async (order) => (pairs.has(order) ? 'placed' : lost(execution, sweeps, order, cause))),
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
