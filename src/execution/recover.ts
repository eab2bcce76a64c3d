/** Start-up is recovery: the same code after a clean stop and after kill -9. Nothing is created before it is through. */
import type { OrderState } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Execution, move } from './context.ts';
import { keepLooking, resolve } from './reconcile/resolve.ts';
import type { Sweeps } from './sweep.ts';

/** Between tries to look at a symbol while the exchange does not answer, real ms, and after how many failures it is reported again. */
const retryMs = 2_000;
const failuresBetween = 30;

/**
 * Brings the orders that a journal left open up to date: what was never sent is closed, what may have been sent is unknown
 * and looked for, and every symbol ever traded is swept, so that fills of the meantime become rows.
 */
export async function recover(execution: Execution, sweeps: Sweeps, symbols: Iterable<string>): Promise<void> {
  for (const order of [...execution.portfolio.orders()]) beginAgain(execution, order);
  const cut = new Set<string>();
  for (const symbol of new Set(symbols)) if (!(await sweepUntilAnswered(execution, sweeps, symbol))) cut.add(symbol);
  for (const order of execution.portfolio.orders())
    if (order.state === 'quarantined') void execution.clock.track(keepLooking(execution, sweeps, order));
  const unknown = [...execution.portfolio.orders()].filter((order) => order.state === 'unknown');
  await Promise.all(
    unknown.map(async (order) => {
      const resolved = resolve(execution, sweeps, order);
      // While lists are cut no absence can be proven: it may stay unknown for ever, which blocks its symbol and nothing else.
      if (cut.has(order.intent.symbol)) void execution.clock.track(resolved);
      else await resolved;
    }),
  );
}

/** What an order's last words were when the program ended, for its timeline. */
const causes: Readonly<Partial<Record<OrderState, string>>> = {
  sending: 'the program ended while the order was being sent',
  unknown: 'not known when the program ended',
  quarantined: 'quarantined before the program ended',
};

function beginAgain(execution: Execution, order: WorkingOrder): void {
  const cause = causes[order.state];
  move(execution, order, 'restart', cause === undefined ? {} : { cause });
  // Whoever asked for the cancel is gone; the plan asks again if it is still wished.
  if (order.state === 'open') order.cancelRequested = false;
}

/** Looks until every request was answered; false when even then something stays unseen, which is said. */
async function sweepUntilAnswered(execution: Execution, sweeps: Sweeps, symbol: string): Promise<boolean> {
  const { clock, notice } = execution;
  for (let failures = 0; ; ) {
    const before = sweeps.newestTrade(symbol);
    const { complete, cause, failed } = await sweeps.sweep(symbol);
    if (complete) return true;
    // Where trades were read in part the next look goes on from there.
    if (!failed && sweeps.newestTrade(symbol) === before) {
      notice({
        level: 'warn',
        text: `not everything on ${symbol} can be seen (${cause}): trading begins with what the exchange shows; an order whose outcome is unknown stays unknown while it is so`,
      });
      return false;
    }
    if (failed && failures++ % failuresBetween === 0)
      notice({
        level: 'error',
        text: `start-up waits for the exchange to answer about ${symbol}: ${cause}. Nothing is traded until ${symbol} can be read, and it is asked again every ${retryMs / 1_000} s: see whether the exchange works, and run sluice doctor`,
      });
    await clock.sleep(clock.machine(retryMs));
  }
}
