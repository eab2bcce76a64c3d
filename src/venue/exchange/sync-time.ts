/** Setting our clock by the exchange's. */
import type { ScaledClock } from '../../clock/clock.ts';
import { type Answer, failed, ok } from '../venue.ts';
import { failure } from './answer.ts';
import { endpoints } from './endpoints.ts';
import { readTime } from './read-market.ts';
import type { Rest } from './rest.ts';

export interface TimeSync {
  /** How far our clock was behind the exchange's, ms of the clock; it has been moved by this. */
  readonly offsetMs: number;
  /** The exchange's time lies within this of ours, ms of the clock. */
  readonly uncertaintyMs: number;
}

interface Sample {
  readonly offsetMs: number;
  readonly errorMs: number;
}

/** The fastest of a few round trips is the most exact; more would only spend weight. */
const samples = 5;

/**
 * Asks for the time a few times. The answer's time belongs to somewhere within the round trip; taking its middle, the error is
 * at most half of it. The quickest sample sets the clock; where another one contradicts it, the uncertainty covers both.
 */
export async function syncTime(rest: Rest, clock: ScaledClock): Promise<Answer<TimeSync>> {
  const taken: Sample[] = [];
  for (let index = 0; index < samples; index++) {
    const sentAt = clock.monotonic();
    const reply = await rest.call({ endpoint: endpoints.time, lane: 'reconcile' });
    const tripMs = clock.monotonic() - sentAt;
    if (reply.kind !== 'ok') return failure(endpoints.time, reply);
    const serverTime = readTime(reply.value);
    if (serverTime === undefined) return failed(`${endpoints.time.name}: the answer holds no serverTime`);
    taken.push({ offsetMs: serverTime + tripMs / 2 - clock.exact(), errorMs: tripMs / 2 });
  }
  const best = taken.reduce((a, b) => (b.errorMs < a.errorMs ? b : a));
  const uncertaintyMs = Math.max(
    ...taken.map((one) => Math.abs(one.offsetMs - best.offsetMs) - one.errorMs),
    best.errorMs,
  );
  clock.set(clock.exact() + best.offsetMs);
  return ok({ offsetMs: best.offsetMs, uncertaintyMs });
}
