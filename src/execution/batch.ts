/** Several orders of one symbol in one request: journalled each, sent once, and each verified by asking for it. */
import type { OrderReport, Sent } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { BatchCreated, Batches } from '../venue/venue.ts';
import { type Execution, move } from './context.ts';
import { accepted, execute, giveUp, type LastHop, lost } from './executor.ts';
import { pairsOf } from './reconcile/match-orders.ts';
import type { Sweeps } from './sweep.ts';

/**
 * Sends orders that are reserved already, all of one symbol and none like another. As with one, nothing leaves before every intent
 * is on disk, and nothing is sent twice. The answer names ids without saying which is whose: each is asked for, and is the order
 * that it is like. What comes of each, in their order.
 */
export async function executeBatch(
  execution: Execution,
  sweeps: Sweeps,
  lastHop: LastHop,
  batches: Batches,
  orders: readonly WorkingOrder[],
): Promise<readonly Sent[]> {
  const { clock, journal, portfolio } = execution;
  const until = Math.min(...orders.map(({ intent }) => intent.expiresAt));
  const admitted = await batches.admit(until);
  const against = ({ intent }: WorkingOrder): string | undefined =>
    admitted
      ? (lastHop(intent) ?? (clock.now() > intent.expiresAt ? 'it expired before it could be sent' : undefined))
      : 'no request weight until it expired';
  const came = new Map<WorkingOrder, Sent>();
  for (const order of orders) {
    const why = against(order);
    if (why !== undefined) came.set(order, giveUp(execution, order, why));
  }
  const left = orders.filter((order) => !came.has(order));
  const [first] = left;
  if (left.length === 1 && first !== undefined) came.set(first, await execute(execution, sweeps, lastHop, first));
  else if (first !== undefined) {
    const at = portfolio.instrument(first.intent.symbol);
    const prepared = batches.prepare(
      left.map(({ intent }) => intent),
      at,
    );
    const { signedAt, recvWindowMs, bodyHash } = prepared;
    for (const order of left) {
      const tradeFloor = sweeps.newestTrade(at.symbol);
      Object.assign(order, { signedAt, recvWindowMs, bodyHash, tradeFloor, batch: first.intent.clientOrderId });
      move(execution, order, 'send', { signedAt, recvWindowMs, batch: first.intent.clientOrderId });
    }
    const gate = journal.durable().then((onDisk) => {
      if (!onDisk) return 'the disk is full: an order that cannot be journalled is not sent';
      return left.map(against).find((why) => why !== undefined);
    });
    const outcome = await prepared.send(gate);
    await gate;
    for (const [order, carried] of await settle(execution, sweeps, left, outcome)) came.set(order, carried);
  }
  return orders.map((order) => came.get(order) ?? 'unknown');
}

async function settle(
  execution: Execution,
  sweeps: Sweeps,
  orders: readonly WorkingOrder[],
  outcome: BatchCreated,
): Promise<readonly (readonly [WorkingOrder, Sent])[]> {
  switch (outcome.kind) {
    case 'rejected':
      return orders.map((order) => {
        const { code, message } = outcome;
        return [order, move(execution, order, 'reject', { code, message }) === 'release' ? 'refused' : 'placed'];
      });
    case 'notSent':
      return orders.map((order) => [order, giveUp(execution, order, outcome.cause)]);
    case 'unknown':
      return allLost(execution, sweeps, orders, outcome.cause);
    case 'answered': {
      const pairs = pairsOf(orders, await reportsOf(execution, orders, outcome.orderIds));
      const found = orders.filter((order) => pairs.has(order));
      for (const order of found) accepted(execution, sweeps, order, pairs.get(order) as OrderReport);
      const cause = `the answer to the batch names ${outcome.orderIds.length} orders for ${orders.length}, and none of them is provably this one`;
      const others = await allLost(
        execution,
        sweeps,
        orders.filter((order) => !pairs.has(order)),
        cause,
      );
      return [...found.map((order) => [order, 'placed'] as const), ...others];
    }
  }
}

/** Never by position: an id means the order that the exchange shows under it. One that cannot be asked for is left to the looks. */
async function reportsOf(
  { orders }: Execution,
  [first]: readonly WorkingOrder[],
  orderIds: readonly string[],
): Promise<readonly OrderReport[]> {
  const symbol = first?.intent.symbol ?? '';
  const answers = await Promise.all([...new Set(orderIds)].map((orderId) => orders.query({ symbol, orderId })));
  return answers.flatMap((answer) => (answer.kind === 'ok' ? [answer.value] : []));
}

async function allLost(
  execution: Execution,
  sweeps: Sweeps,
  orders: readonly WorkingOrder[],
  cause: string,
): Promise<readonly (readonly [WorkingOrder, Sent])[]> {
  // All of them first: which order is which is decided among all that are looked for.
  const work = orders.map((order) => [order, lost(execution, sweeps, order, cause)] as const);
  return Promise.all(work.map(async ([order, carried]) => [order, await carried] as const));
}
