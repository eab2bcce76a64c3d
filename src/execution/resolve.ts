/**
 * An unknown create becomes a fact (order-protocol §3.4): by the exchange's evidence, never by waiting alone. A failed query
 * proves nothing; not being found proves nothing before the horizon, and after it only by two complete sweeps and the balances.
 */
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Answer, ok } from '../venue/venue.ts';
import { type Execution, move, quarantine, record } from './desk.ts';
import { prove } from './prove.ts';
import type { Sweeps } from './sweep.ts';

/** Between tries while an answer is awaited, ms; doubles up to the most. */
const firstWaitMs = 250;
const mostWaitMs = 5_000;
/** Between looks for an order that is quarantined, ms. */
const parkedWaitMs = 30_000;
/** Proofs that balances do not bear out, in a row and by the same facts, the sweep gap apart: the account may lag behind the lists. */
const mostUnexplained = 3;
/** Proofs for which there was no quiet moment: an account that never rests for so long needs a human. */
const mostMoving = 60;

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
  let firstCleanAt: number | undefined;
  const judge = judgement(execution, sweeps, order);
  for (let tries = 1, waitMs = firstWaitMs; ; tries++, waitMs = Math.min(waitMs * 2, mostWaitMs)) {
    const horizon = horizonOf(execution, order);
    const { cause, cleanAt } = await lookOnce(execution, sweeps, order, horizon);
    if (order.state !== 'unknown') return endOf(execution, sweeps, order);
    firstCleanAt ??= cleanAt;
    record(execution, order, 'resolving', { try: tries, sweep: cause ?? 'complete', horizon });
    const isDue = cleanAt !== undefined && firstCleanAt !== undefined && cleanAt >= firstCleanAt + timing.sweepGapMs;
    if (isDue) await judge();
    if (order.state !== 'unknown') return endOf(execution, sweeps, order);
    tell(cause);
    await clock.sleep(cleanAt === undefined ? waitMs : timing.sweepGapMs);
  }
}

/** When an order can no more appear, by the exchange's clock. */
const horizonOf = ({ clock, horizon }: Execution, { signedAt, recvWindowMs }: WorkingOrder): number =>
  (signedAt ?? clock.now()) + (recvWindowMs ?? 0) + horizon.ms;

function endOf(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Resolution {
  if (order.state === 'absent') return 'absent';
  if (order.state !== 'quarantined') return 'found';
  void execution.clock.track(keepLooking(execution, sweeps, order));
  return 'quarantined';
}

/**
 * Two complete sweeps after the horizon have missed it: now the balances say whether it can be there all the same. To be asked
 * again until the order is decided.
 */
function judgement(execution: Execution, sweeps: Sweeps, order: WorkingOrder): () => Promise<void> {
  const { symbol } = order.intent;
  let unexplained = { text: '', times: 0 };
  let moving = 0;
  return async () => {
    const proof = await prove(execution, sweeps, execution.portfolio.instrument(symbol));
    if (order.state !== 'unknown') return;
    if (proof.kind === 'explained') {
      giveUp(execution, order, proof.text);
      return;
    }
    record(execution, order, 'resolving', { balances: proof.text });
    if (proof.kind === 'unexplained')
      unexplained = { text: proof.text, times: proof.text === unexplained.text ? unexplained.times + 1 : 1 };
    if (proof.kind === 'moving') moving++;
    if (proof.kind === 'impossible' || unexplained.times >= mostUnexplained || moving >= mostMoving)
      quarantine(execution, order, 'unproven', `two complete sweeps missed it, but ${proof.text}`);
  };
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
    const why = cause === undefined ? 'it is not there so far, and may still appear' : `the last look failed: ${cause}`;
    notice({
      level: due === 2 ? 'error' : 'warn',
      text: `the outcome of order ${intent.clientOrderId} has been unknown for more than ${due === 2 ? '5 minutes' : '30 s'} (${why}); ${intent.symbol} is blocked until it is known`,
    });
  };
}

/**
 * Looks for a quarantined order now and then: what the exchange shows ends its quarantine. So does a proof that could not be had
 * before, such as after a deposit was explained: it has missed its two sweeps already.
 */
export async function keepLooking(execution: Execution, sweeps: Sweeps, order: WorkingOrder): Promise<void> {
  while (order.state === 'quarantined') {
    await execution.clock.sleep(parkedWaitMs);
    await shortcut(execution, sweeps, order);
    if (order.state === 'quarantined') await sweeps.sweep(order.intent.symbol);
    if (order.state !== 'quarantined' || order.doubt !== 'unproven') continue;
    const proof = await prove(execution, sweeps, execution.portfolio.instrument(order.intent.symbol));
    if (proof.kind === 'explained' && order.state === 'quarantined') giveUp(execution, order, proof.text);
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
  await shortcut(execution, sweeps, order);
  if (order.state !== 'unknown') return { cause: undefined, cleanAt: undefined };
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
  const answer = await execution.orders.queryByClientId?.(symbol, clientOrderId);
  if (answer?.kind !== 'ok') return;
  sweeps.found(order, answer.value);
  await sweeps.sweep(symbol);
}
