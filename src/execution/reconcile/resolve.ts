/**
 * An unknown create becomes a fact: by the exchange's evidence, never by waiting alone. A failed query
 * proves nothing; not being found proves nothing before the horizon, and after it only by two complete sweeps and the balances.
 */
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Answer, ok } from '../../venue/venue.ts';
import { type Execution, move, quarantine, record } from '../context.ts';
import type { Sweeps } from '../sweep.ts';
import { prove } from './balance-proof.ts';
import { actOn, afterLook, type Clean, isMissed, mayHeal, nothingWeighed, weigh } from './evidence.ts';

/** Between tries while an answer is awaited, ms; doubles up to the most. */
const firstWaitMs = 250;
const mostWaitMs = 5_000;
/** Between looks for an order that is quarantined, ms. */
const parkedWaitMs = 30_000;
/** How long an outcome may be unknown before somebody is told, and before it is urgent, real ms: they are about people. */
const warnAfterMs = 30_000;
const urgeAfterMs = 300_000;

export type Resolution = 'found' | 'absent' | 'quarantined';

/**
 * Looks for an order until it is found, proven absent, or until nothing can prove either. Then it is quarantined: it keeps its
 * reservation, blocks its symbol, and is looked for further on in the background. No length of time decides anything.
 */
export async function resolve(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<Resolution> {
  const { clock, timing } = execution;
  const tell = alarms(execution, order);
  const search = searchFor(execution, sweeps, order);
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, mostWaitMs)) {
    const { cause, cleanAt } = await search();
    if (order.state !== 'unknown') return endOf(execution, order, search);
    tell(cause);
    await clock.sleep(cleanAt === undefined ? waitMs : timing.sweepGapMs);
  }
}

/** Looks once, and asks the balances when looks have missed the order often enough. What came of it shows in the order's state. */
type Search = () => Promise<Look>;

function searchFor(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Search {
  let clean: Clean | undefined;
  let weighed = nothingWeighed;
  let tries = 0;
  return async () => {
    const was = order.state;
    const horizon = horizonOf(execution, order);
    const look = await lookOnce(execution, sweeps, order, horizon);
    if (order.state !== was) return look;
    clean = afterLook(clean, look.cleanAt);
    if (was === 'unknown')
      record(execution, order, 'resolving', { try: ++tries, sweep: look.cause ?? 'complete', horizon });
    if (look.cleanAt === undefined || !isMissed(clean, execution.timing.sweepGapMs)) return look;
    if (was === 'quarantined' && !mayHeal(order)) return look;
    const proof = await prove(execution, sweeps, order);
    if (order.state !== was) return look;
    const { now, verdict } = weigh(weighed, proof);
    weighed = now;
    if (was === 'unknown' && proof.kind !== 'explained')
      record(execution, order, 'resolving', { balances: proof.text });
    const act = actOn(verdict, was);
    if (act === 'absence') giveUp(execution, order, proof.text);
    else if (act === 'doubt')
      quarantine(execution, order, 'unproven', `two complete sweeps missed it, but ${proof.text}`);
    return look;
  };
}

/** When an order can no more appear, by the exchange's clock. */
const horizonOf = ({ clock, horizon }: Execution, { signedAt, recvWindowMs }: WorkingOrder): number =>
  (signedAt ?? clock.now()) + (recvWindowMs ?? 0) + horizon.ms;

function endOf(execution: Execution, order: WorkingOrder, search: Search): Resolution {
  if (order.state === 'absent') return 'absent';
  if (order.state !== 'quarantined') return 'found';
  void execution.clock.track(goOn(execution, order, search));
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

/** Says once that an outcome has been unknown for long, and once more when it is urgent. */
function alarms({ clock, notice }: Execution, { intent, signedAt }: WorkingOrder): (cause: string | undefined) => void {
  const since = signedAt ?? clock.now();
  let told = 0;
  return (cause) => {
    const age = clock.now() - since;
    const due = age >= clock.machine(urgeAfterMs) ? 2 : age >= clock.machine(warnAfterMs) ? 1 : 0;
    if (due <= told) return;
    told = due;
    const why =
      cause === undefined ? 'it is not there so far, and may still appear' : `the last query failed: ${cause}`;
    notice({
      level: due === 2 ? 'error' : 'warn',
      text: `the outcome of order ${intent.clientOrderId} has been unknown for more than ${due === 2 ? '5 minutes' : '30 s'} (${why}); ${intent.symbol} is blocked until it is known`,
    });
  };
}

/**
 * Looks for a quarantined order now and then: what the exchange shows ends its quarantine. So does a proof that could not be had
 * before, such as after a deposit was explained, or an order that may have been it turned out to be somebody else's.
 */
export const keepLooking = (execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> =>
  goOn(execution, order, searchFor(execution, sweeps, order));

async function goOn(execution: Execution, order: WorkingOrder, search: Search): Promise<void> {
  while (order.state === 'quarantined') {
    await execution.clock.sleep(parkedWaitMs);
    if (order.state === 'quarantined') await search();
  }
}

interface Look {
  /** Why the sweep was incomplete. */
  readonly cause: string | undefined;
  /** When the sweep began, by our clock, if it was complete and all of it after the horizon. */
  readonly cleanAt: number | undefined;
}

/** One query by client id where the venue has it, then one sweep. Finding shows in the order's state. */
async function lookOnce(execution: Execution, sweeps: Sweeps, order: WorkingOrder, horizon: number): Promise<Look> {
  const was = order.state;
  await shortcut(execution, sweeps, order);
  if (order.state !== was) return { cause: undefined, cleanAt: undefined };
  // Before the horizon nobody needs to ask for the time: that a sweep misses it then means nothing.
  const isNear = execution.clock.now() > horizon - mostWaitMs;
  const time: Answer<number> = isNear ? await execution.serverTime() : ok(Number.NEGATIVE_INFINITY);
  const startedAt = execution.clock.now();
  const { cause } = await sweeps.sweep(order.intent.symbol);
  if (time.kind === 'failed') return { cause: cause ?? `time: ${time.cause}`, cleanAt: undefined };
  return { cause, cleanAt: cause === undefined && time.value > horizon ? startedAt : undefined };
}

/** Positive evidence only: a miss means nothing, and an order found must be the one that was sent. */
async function shortcut(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  const { clientOrderId, symbol } = order.intent;
  // The exchange has no client id of an order that left in a batch.
  if (order.batch !== undefined) return;
  const answer = await execution.orders.queryByClientId?.(symbol, clientOrderId);
  if (answer?.kind !== 'ok') return;
  sweeps.found(order, answer.value);
  await sweeps.sweep(symbol);
}
