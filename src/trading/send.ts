/** Sends reserved orders, and cancels those that a kill meanwhile forbids. */
import type { Intent, Sent } from '../domain/order.ts';
import { executeBatch } from '../execution/batch.ts';
import { cancel } from '../execution/cancel.ts';
import type { Execution } from '../execution/context.ts';
import { execute } from '../execution/executor.ts';
import type { Sweeps } from '../execution/sweep.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { TradingComponents } from './components.ts';

/** Sends an order that is reserved; what became of it. */
export async function send(
  book: TradingComponents,
  execution: Execution,
  sweeps: Sweeps,
  against: (intent: Intent) => string | undefined,
  intent: Intent,
): Promise<Sent> {
  const order = book.portfolio.order(intent.clientOrderId);
  if (order === undefined) return 'refused';
  const sent = await execute(execution, sweeps, against, order);
  await cancelIfKilled(book, execution, sweeps, order, sent);
  return sent;
}

/** Sends several of one symbol in one request; what became of each, in their order. */
export async function sendAll(
  book: TradingComponents,
  execution: Execution,
  sweeps: Sweeps,
  against: (intent: Intent) => string | undefined,
  intents: readonly Intent[],
): Promise<readonly Sent[]> {
  const { batches } = execution.orders;
  const orders = intents.flatMap(({ clientOrderId }) => book.portfolio.order(clientOrderId) ?? []);
  if (batches === undefined) return [];
  const sent = await executeBatch(execution, sweeps, against, batches, orders);
  await Promise.all(
    orders.map((order, index) => cancelIfKilled(book, execution, sweeps, order, sent[index] ?? 'unknown')),
  );
  return sent;
}

async function cancelIfKilled(
  book: TradingComponents,
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  sent: Sent,
): Promise<void> {
  // Killed while its outcome was unknown: it could not be cancelled before it was found. A disk that filled up in the
  // meantime is no such reason: it keeps orders from being created, and this one is written down and wanted.
  if (sent === 'placed' && book.risk.switch.against(order.intent) !== undefined)
    await cancel(execution, sweeps, order, 'kill');
}
