/**
 * Resolves an unknown create by evidence of the exchange, never by waiting alone. A failed query proves nothing. A missing order proves
 * nothing before the horizon, and afterwards only together with a second complete sweep and the balances.
 */
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Answer, ok, queryFailure } from '../../venue/venue.ts';
import type { Execution } from '../context.ts';
import { move, quarantine, record } from '../order-steps.ts';
import type { Sweeps } from '../sweep.ts';
import { prove } from './balance-proof.ts';
import { horizonOf } from './creation-window.ts';
import { actOn, afterSweep, type CleanSweeps, isMissed, mayBeAbsent, nothingWeighed, weigh } from './evidence.ts';

/** Between searches for an unknown order, ms; doubles up to the longest. */
const firstWaitMs = 250;
const longestWaitMs = 5_000;
/** Between searches for a quarantined order, ms. */
const quarantineWaitMs = 30_000;
/** After this long an unknown outcome is reported as a warning, and then as an error, real ms. */
const warnAfterMs = 30_000;
const urgeAfterMs = 300_000;

export type Resolution = 'found' | 'absent' | 'quarantined';

/**
 * Searches for an order until it is found, proven absent, or nothing can prove either. Then it is quarantined: it keeps its reservation,
 * blocks its symbol, and the search goes on in the background. Time alone decides nothing.
 */
export async function resolve(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<Resolution> {
  const { clock, timing } = execution;
  const report = alarms(execution, order);
  const search = searchFor(execution, sweeps, order);
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const { cause, cleanAt } = await search();
    if (order.state !== 'unknown') return endOf(execution, order, search);
    report(cause);
    await clock.sleep(cleanAt === undefined ? waitMs : timing.sweepGapMs);
  }
}

/** Searches once, and proves by the balances once sweeps have missed the order often enough. The result is the order's state. */
type Search = () => Promise<Searched>;

function searchFor(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Search {
  let clean: CleanSweeps | undefined;
  let weighed = nothingWeighed;
  let tries = 0;
  return async () => {
    const was = order.state;
    const horizon = horizonOf(execution, order);
    const searched = await searchOnce(execution, sweeps, order, horizon);
    if (order.state !== was) return searched;
    clean = afterSweep(clean, searched.cleanAt);
    if (was === 'unknown')
      record(execution, order, 'resolving', { try: ++tries, sweep: searched.cause ?? 'complete', horizon });
    if (searched.cleanAt === undefined || !isMissed(clean, execution.timing.sweepGapMs)) return searched;
    if (was === 'quarantined' && !mayBeAbsent(order)) return searched;
    const proof = await prove(execution, sweeps, order);
    if (order.state !== was) return searched;
    const { now, verdict } = weigh(weighed, proof);
    weighed = now;
    if (was === 'unknown' && proof.kind !== 'explained')
      record(execution, order, 'resolving', { balances: proof.text });
    const act = actOn(verdict, was);
    if (act === 'absence') giveUp(execution, order, proof.text);
    else if (act === 'doubt')
      quarantine(execution, order, 'unproven', `two complete sweeps missed it, but ${proof.text}`);
    return searched;
  };
}

function endOf(execution: Execution, order: WorkingOrder, search: Search): Resolution {
  if (order.state === 'absent') return 'absent';
  if (order.state !== 'quarantined') return 'found';
  void execution.clock.track(searchOn(execution, order, search));
  return 'quarantined';
}

function giveUp(execution: Execution, order: WorkingOrder, proof: string): void {
  const { clientOrderId, symbol } = order.intent;
  move(execution, order, 'absence', { proof });
  execution.notice({
    level: 'warn',
    text: `order ${clientOrderId} did not take effect: two complete sweeps missed it and the balances are explained without it; ${symbol} goes on`,
  });
}

/** Reports an outcome that is unknown for long once as a warning and once as an error. */
function alarms({ clock, notice }: Execution, { intent, signedAt }: WorkingOrder): (cause: string | undefined) => void {
  const since = signedAt ?? clock.now();
  let reported = 0;
  return (cause) => {
    const age = clock.now() - since;
    const due = age >= clock.machine(urgeAfterMs) ? 2 : age >= clock.machine(warnAfterMs) ? 1 : 0;
    if (due <= reported) return;
    reported = due;
    const why =
      cause === undefined ? 'it has not appeared yet, and may still do so' : `the last query failed: ${cause}`;
    notice({
      level: due === 2 ? 'error' : 'warn',
      text: `the outcome of order ${intent.clientOrderId} has been unknown for more than ${due === 2 ? '5 minutes' : '30 s'} (${why}); ${intent.symbol} is blocked until it is known`,
    });
  };
}

/**
 * Searches for a quarantined order every 30 s. Its quarantine ends when the exchange shows it, or when a proof becomes possible, for
 * example after a deposit was explained.
 */
export const keepResolving = (execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> =>
  searchOn(execution, order, searchFor(execution, sweeps, order));

async function searchOn(execution: Execution, order: WorkingOrder, search: Search): Promise<void> {
  while (order.state === 'quarantined') {
    await execution.clock.sleep(quarantineWaitMs);
    if (order.state === 'quarantined') await search();
  }
}

interface Searched {
  /** Why the sweep was incomplete. */
  readonly cause: string | undefined;
  /** When the sweep began, by our clock, if it was complete and all of it after the horizon. */
  readonly cleanAt: number | undefined;
}

/** One query by client id where the venue has it, then one sweep. A found order changes its state. */
async function searchOnce(
  execution: Execution,
  sweeps: Sweeps,
  order: WorkingOrder,
  horizon: number,
): Promise<Searched> {
  const was = order.state;
  await queryByClientId(execution, sweeps, order);
  if (order.state !== was) return { cause: undefined, cleanAt: undefined };
  // Before the horizon a missing order proves nothing, so the exchange's time is not needed.
  const isNear = execution.clock.now() > horizon - longestWaitMs;
  const time: Answer<number> = isNear ? await execution.serverTime() : ok(Number.NEGATIVE_INFINITY);
  const startedAt = execution.clock.now();
  const { cause } = await sweeps.sweep(order.intent.symbol);
  if (time.kind === 'failed') return { cause: cause ?? queryFailure('time', time.cause), cleanAt: undefined };
  return { cause, cleanAt: cause === undefined && time.value > horizon ? startedAt : undefined };
}

/** Positive evidence only: a miss proves nothing. */
async function queryByClientId(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  const { clientOrderId, symbol } = order.intent;
  // An order of a batch has no client id at the exchange.
  if (order.batch !== undefined) return;
  const answer = await execution.orders.queryByClientId?.(symbol, clientOrderId);
  if (answer?.kind !== 'ok') return;
  sweeps.found(order, answer.value);
  await sweeps.sweep(symbol);
}
