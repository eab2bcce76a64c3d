/** Start-up is recovery: the same code after a clean stop and after kill -9. Nothing is created before it is through. */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { close, type Execution, record } from './desk.ts';
import { resolve } from './resolve.ts';
import type { Sweeps } from './sweep.ts';

/** Between tries to look at a symbol while the exchange does not answer, ms. */
const retryMs = 2_000;

/**
 * Brings the orders that a journal left open up to date: what was never sent is closed, what may have been sent is unknown
 * and looked for, and every symbol ever traded is swept, so that fills of the meantime become rows.
 */
export async function recover(execution: Execution, sweeps: Sweeps, symbols: Iterable<string>): Promise<void> {
  for (const order of [...execution.portfolio.orders()]) beginAgain(execution, order);
  for (const symbol of new Set(symbols)) await sweepUntilAnswered(execution, sweeps, symbol);
  const unknown = [...execution.portfolio.orders()].filter((order) => order.state === 'unknown');
  await Promise.all(unknown.map((order) => resolve(execution, sweeps, order)));
}

function beginAgain(execution: Execution, order: WorkingOrder): void {
  if (order.state === 'intended') close(execution, order, 'notSent');
  else if (order.state === 'sending') {
    order.state = 'unknown';
    record(execution, order, 'unknown', { cause: 'the program ended while the order was being sent' });
  } else if (order.state === 'unknown') {
    record(execution, order, 'unknown', { cause: 'not known when the program ended' });
  } else if (order.state === 'open') {
    // Whoever asked for the cancel is gone; the plan asks again if it is still wished.
    order.cancelRequested = false;
  }
}

async function sweepUntilAnswered(execution: Execution, sweeps: Sweeps, symbol: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { cause } = await sweeps.sweep(symbol);
    if (cause === undefined) return;
    if (tries % 10 === 1)
      execution.notice({ level: 'warn', text: `start-up waits for the exchange to answer about ${symbol}: ${cause}` });
    await execution.clock.sleep(execution.clock.machine(retryMs));
  }
}
