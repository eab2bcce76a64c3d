/**
 * An unknown create becomes a fact (order-protocol §3.4): by the exchange's evidence, never by waiting alone. A failed query
 * proves nothing; not being found proves nothing before the horizon, and after it only by two complete sweeps.
 */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { bind, type Execution, record } from './desk.ts';
import type { Sweeps } from './sweep.ts';

/** Between tries while an answer is awaited, ms; doubles up to the most. */
const firstWaitMs = 250;
const mostWaitMs = 5_000;
/** Between looks for an order that two sweeps did not find, ms. */
const parkedWaitMs = 30_000;

/** How long an outcome may be unknown before somebody is told, and before it is urgent, real ms: they are about people. */
const warnAfterMs = 30_000;
const urgeAfterMs = 300_000;

export type Resolution = 'found' | 'notFound';

/**
 * Looks for an order until it is found, or until two complete sweeps after the horizon have not found it. In that case it
 * stays unknown, keeps its reservation, blocks its symbol, and is looked for further on in the background.
 */
export async function resolve(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<Resolution> {
  const { clock, timing, notice } = execution;
  const tell = alarms(execution, order);
  const horizon = (order.signedAt ?? clock.now()) + (order.recvWindowMs ?? 0) + timing.horizonMs;
  let clean = 0;
  for (let tries = 1, waitMs = firstWaitMs; ; tries++, waitMs = Math.min(waitMs * 2, mostWaitMs)) {
    const startedAt = clock.now();
    const cause = await lookOnce(execution, sweeps, order);
    if (order.state !== 'unknown') return 'found';
    if (cause === undefined && startedAt > horizon) clean++;
    record(execution, order, 'resolving', {
      try: tries,
      ...(cause === undefined ? { sweep: 'complete' } : { sweep: cause }),
      horizon,
    });
    if (clean >= 2) break;
    tell(cause);
    await clock.sleep(clean === 1 ? timing.sweepGapMs : waitMs);
  }
  record(execution, order, 'notFound', { horizon });
  notice({
    level: 'error',
    text: `order ${order.intent.clientOrderId} stays unknown: two complete sweeps after its horizon did not find it. ${order.intent.symbol} is blocked until the exchange shows it`,
  });
  void clock.track(keepLooking(execution, sweeps, order));
  return 'notFound';
}

/** Says once that an outcome has been unknown for long, and once more when it is urgent. */
function alarms({ clock, notice }: Execution, { intent, signedAt }: WorkingOrder): (cause: string | undefined) => void {
  const since = signedAt ?? clock.now();
  let told = 0;
  return (cause) => {
    const age = clock.now() - since;
    const due = age >= clock.machine(urgeAfterMs) ? 2 : age >= clock.machine(warnAfterMs) ? 1 : 0;
    if (due <= told) return;
    told = due;
    const why = cause === undefined ? 'it is not there so far, and may still appear' : `the last look failed: ${cause}`;
    notice({
      level: due === 2 ? 'error' : 'warn',
      text: `the outcome of order ${intent.clientOrderId} has been unknown for more than ${due === 2 ? '5 minutes' : '30 s'} (${why}); ${intent.symbol} is blocked until it is known`,
    });
  };
}

async function keepLooking(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  while (order.state === 'unknown') {
    await execution.clock.sleep(parkedWaitMs);
    await lookOnce(execution, sweeps, order);
  }
}

/** One query by client id where the venue has it, then one sweep. Returns why it was incomplete; finding shows in the order's state. */
async function lookOnce(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<string | undefined> {
  await shortcut(execution, sweeps, order);
  if (order.state !== 'unknown') return undefined;
  const { cause } = await sweeps.sweep(order.intent.symbol);
  return cause;
}

/** Positive evidence only: a miss means nothing, and an order found must be the one that was sent. */
async function shortcut(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  const { clientOrderId, symbol, side, type } = order.intent;
  const answer = await execution.orders.queryByClientId?.(symbol, clientOrderId);
  if (answer?.kind !== 'ok' || order.state !== 'unknown') return;
  const report = answer.value;
  if (report.clientOrderId?.toLowerCase() !== clientOrderId || report.side !== side || report.type !== type) return;
  bind(execution, order, report);
  order.state = 'open';
  record(execution, order, 'found', { orderId: report.orderId, status: report.status, was: 'unknown' });
  sweeps.noteReport(order, report);
  await sweeps.sweep(symbol);
}
