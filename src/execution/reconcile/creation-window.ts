/** Whether an order at the exchange can be ours by its creation time (specification §5.3). */
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Execution } from '../context.ts';

/** After this time, by the exchange's clock, an order cannot appear any more. */
export const horizonOf = ({ clock, horizon }: Execution, { signedAt, recvWindowMs }: WorkingOrder): number =>
  (signedAt ?? clock.now()) + (recvWindowMs ?? 0) + horizon.ms;

/** Largest difference between the exchange's times and ours, real ms. */
export const clocksApartMs = 60_000;

/** True if it was created before our order. Without a creation time it may be ours. */
export function isTooOld({ clock }: Pick<Execution, 'clock'>, { intent }: WorkingOrder, report: OrderReport): boolean {
  return report.createdAt !== undefined && report.createdAt < intent.createdAt - clock.machine(clocksApartMs);
}

/**
 * True if it was created while our order could be accepted: from its signature to the horizon after its receive window. An order that
 * counts as absent can only appear later.
 */
export function isInWindow(execution: Execution, order: WorkingOrder, report: OrderReport): boolean {
  if (isTooOld(execution, order, report)) return false;
  if (order.state === 'absent' || report.createdAt === undefined) return true;
  const { clock, horizon } = execution;
  const { signedAt = order.intent.createdAt, recvWindowMs = 0 } = order;
  return report.createdAt <= signedAt + recvWindowMs + horizon.ms + clock.machine(clocksApartMs);
}
