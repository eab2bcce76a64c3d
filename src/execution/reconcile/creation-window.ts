/** Whether an order at the exchange can be one of ours by the time at which it was created there (specification §5.3). */
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Execution } from '../context.ts';

/** How far the exchange's times may lie apart from ours, real ms. */
export const clocksApartMs = 60_000;

/** Created before our order was: then it cannot be ours. One of which the exchange says no time can be. */
export function isTooOld({ clock }: Pick<Execution, 'clock'>, { intent }: WorkingOrder, report: OrderReport): boolean {
  return report.createdAt !== undefined && report.createdAt < intent.createdAt - clock.machine(clocksApartMs);
}

/**
 * Created while our order could be accepted: from its signature to the end of its receive window and the horizon after it. One that
 * counts as absent can only be later than that.
 */
export function isInWindow(execution: Execution, order: WorkingOrder, report: OrderReport): boolean {
  if (isTooOld(execution, order, report)) return false;
  if (order.state === 'absent' || report.createdAt === undefined) return true;
  const { clock, horizon } = execution;
  const { signedAt = order.intent.createdAt, recvWindowMs = 0 } = order;
  return report.createdAt <= signedAt + recvWindowMs + horizon.ms + clock.machine(clocksApartMs);
}
