/** `sluice resolve --adopt`: an operator assigns an order at the exchange to ours, where the exchange does not show client ids. */
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Execution } from '../context.ts';
import { record } from '../order-steps.ts';
import { transitions } from '../states.ts';
import type { Sweeps } from '../sweep.ts';
import { isTheSame } from './attribute.ts';
import { isTooOld } from './creation-window.ts';
import { likenessIn, likenessOf } from './match-orders.ts';

export interface Adoption {
  readonly clientOrderId: string;
  /** The exchange's id. */
  readonly orderId: string;
  readonly by: string;
  readonly reason: string;
}

/**
 * Binds our order, of open outcome or given up, to an order at the exchange, and books its fills. Returns why that is not possible: our
 * order is bound already, or the exchange does not show the other one, or that one differs from what was sent, is older, or is taken.
 */
export async function adoptByHand(
  execution: Execution,
  sweeps: Sweeps,
  { clientOrderId, orderId, by, reason }: Adoption,
): Promise<string | undefined> {
  const { portfolio, givenUp, owners, orders, journal } = execution;
  const order = portfolio.order(clientOrderId) ?? givenUp.get(clientOrderId);
  const mayAdopt = (): string | undefined =>
    whyNotBound(order, clientOrderId) ?? whyTaken(owners.get(orderId), orderId);
  const early = mayAdopt();
  if (early !== undefined || order === undefined) return early;
  const { symbol } = order.intent;
  const answer = await orders.query({ symbol, orderId });
  if (answer.kind === 'failed') return `the exchange does not show order ${orderId} on ${symbol}: ${answer.cause}`;
  // During the query, either may have been bound.
  const against = mayAdopt() ?? whyAnother(execution, order, answer.value);
  if (against !== undefined) return against;
  record(execution, order, 'resolved', { as: 'adopted', orderId, by, reason });
  sweeps.adopt(order, answer.value);
  await sweeps.sweep(symbol);
  await journal.durable();
  return undefined;
}

function whyNotBound(order: WorkingOrder | undefined, clientOrderId: string): string | undefined {
  if (order === undefined) return `order ${clientOrderId} is not open or unresolved; it cannot adopt an exchange order`;
  if (order.orderId !== undefined) return `order ${clientOrderId} is order ${order.orderId} at the exchange already`;
  const { state } = order;
  return state === 'sending' || transitions[state].find === undefined
    ? `order ${clientOrderId} is ${state}: wait for its reply, then try again`
    : undefined;
}

const whyTaken = (owner: { readonly clientOrderId: string } | undefined, orderId: string): string | undefined =>
  owner === undefined ? undefined : `order ${orderId} at the exchange is our order ${owner.clientOrderId}`;

function whyAnother(execution: Execution, order: WorkingOrder, report: OrderReport): string | undefined {
  const { orderId, clientOrderId } = report;
  const { intent } = order;
  if (clientOrderId !== undefined && clientOrderId.toLowerCase() !== intent.clientOrderId)
    return `order ${orderId} at the exchange has the client id ${clientOrderId}, and ${intent.clientOrderId} was sent`;
  // Deployments may show a MARKET BUY with another volume than the amount that was sent.
  const there = 'lots' in intent.volume ? likenessIn(report) : undefined;
  if (!isTheSame(order, report) || (there !== undefined && there !== likenessOf(intent)))
    return `order ${orderId} at the exchange is another order: its symbol, side, type, price or quantity is not what was sent`;
  return isTooOld(execution, order, report)
    ? `order ${orderId} was created at the exchange before order ${intent.clientOrderId} was decided`
    : undefined;
}
