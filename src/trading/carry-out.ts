/** From an order that is reserved to what came of it, and what a kill in the meantime makes of that. */
import type { Intent, Sent } from '../domain/order.ts';
import { executeBatch } from '../execution/batch.ts';
import { cancel } from '../execution/cancel.ts';
import type { Execution } from '../execution/context.ts';
import { execute } from '../execution/executor.ts';
import type { Sweeps } from '../execution/sweep.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Book } from './components.ts';

/** Carries out an order that is reserved. */
export async function carryOut(
  book: Book,
  execution: Execution,
  sweeps: Sweeps,
  against: (intent: Intent) => string | undefined,
  intent: Intent,
): Promise<Sent> {
  const order = book.portfolio.order(intent.clientOrderId);
  if (order === undefined) return 'refused';
  const carried = await execute(execution, sweeps, against, order);
  await cancelIfKilled(book, execution, sweeps, order, carried);
  return carried;
}

/** Carries out several of one symbol in one request; what came of each, in their order. */
export async function carryOutAll(
  book: Book,
  execution: Execution,
  sweeps: Sweeps,
  against: (intent: Intent) => string | undefined,
  intents: readonly Intent[],
): Promise<readonly Sent[]> {
  const { batches } = execution.orders;
  const orders = intents.flatMap(({ clientOrderId }) => book.portfolio.order(clientOrderId) ?? []);
  if (batches === undefined) return [];
  const carried = await executeBatch(execution, sweeps, against, batches, orders);
  await Promise.all(
    orders.map((order, index) => cancelIfKilled(book, execution, sweeps, order, carried[index] ?? 'unknown')),
  );
  return carried;
}

async function cancelIfKilled(
  book: Book,
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  carried: Sent,
): Promise<void> {
  // Killed while its outcome was unknown: it could not be cancelled before it was found. A disk that filled up in the
  // meantime is no such reason: it keeps orders from being created, and this one is written down and wanted.
  if (carried === 'placed' && book.risk.switch.against(order.intent) !== undefined)
    await cancel(execution, sweeps, order, 'kill');
}
