/** Start-up is recovery: the same code runs after a clean stop and after kill -9. No order is created before it ends. */
import type { OrderState } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Execution } from './context.ts';
import { move } from './order-steps.ts';
import { keepResolving, resolve } from './reconcile/resolve.ts';
import type { Sweeps } from './sweep.ts';

/** Between sweeps while the exchange does not answer, and between two reports of that, whatever the causes, real ms. */
const retryMs = 2_000;
const reportEveryMs = 3_600_000;

/**
 * Brings the journal's open orders up to date. Orders that were never sent are closed; those that may have been sent are unknown and
 * resolved. Every symbol ever traded is swept, so that fills in between are booked.
 */
export async function recover(execution: Execution, sweeps: Sweeps, symbols: Iterable<string>): Promise<void> {
  for (const order of [...execution.portfolio.orders()]) restart(execution, order);
  const truncated = new Set<string>();
  for (const symbol of new Set(symbols))
    if (!(await sweepUntilAnswered(execution, sweeps, symbol))) truncated.add(symbol);
  for (const order of execution.portfolio.orders())
    if (order.state === 'quarantined') void execution.clock.track(keepResolving(execution, sweeps, order));
  const unknown = [...execution.portfolio.orders()].filter((order) => order.state === 'unknown');
  await Promise.all(
    unknown.map(async (order) => {
      const resolved = resolve(execution, sweeps, order);
      // With truncated lists no absence can be proven: the order may stay unknown, which blocks only its symbol.
      if (truncated.has(order.intent.symbol)) void execution.clock.track(resolved);
      else await resolved;
    }),
  );
}

/** The state in which the program ended, for the timeline. */
const causes: Readonly<Partial<Record<OrderState, string>>> = {
  sending: 'the program ended while the order was being sent',
  unknown: 'not known when the program ended',
  quarantined: 'quarantined before the program ended',
};

function restart(execution: Execution, order: WorkingOrder): void {
  const cause = causes[order.state];
  move(execution, order, 'restart', cause === undefined ? {} : { cause });
  // The plan requests the cancel again if it is still needed.
  if (order.state === 'open') order.cancelRequested = false;
}

/** Sweeps until every request was answered; false when lists are truncated even then. */
async function sweepUntilAnswered(execution: Execution, sweeps: Sweeps, symbol: string): Promise<boolean> {
  const { clock, notice } = execution;
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const before = sweeps.newestTrade(symbol);
    const { complete, cause, failed } = await sweeps.sweep(symbol);
    if (complete) return true;
    // Where only a part of the trades was read, the next sweep continues from there.
    if (!failed && sweeps.newestTrade(symbol) === before) {
      notice({
        level: 'warn',
        text: `the exchange returned incomplete data for ${symbol} (${cause}). Trading begins with these data. An order of unknown outcome stays unknown until they are complete`,
      });
      return false;
    }
    if (failed && clock.monotonic() - reportedAt >= clock.machine(reportEveryMs)) {
      reportedAt = clock.monotonic();
      notice({
        level: 'error',
        topic: 'exchangeAway',
        text: `start-up waits for the exchange to answer about ${symbol}: ${cause}. Nothing is traded until ${symbol} can be read. Retrying every ${retryMs / 1_000} s. Check whether the exchange is up, and run sluice doctor`,
      });
    }
    await clock.sleep(clock.machine(retryMs));
  }
}
