/** Answers to commands while nothing reaches the exchange: in a ban or an outage. */
import type { Clock } from '../../clock/clock.ts';

export interface Waits {
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'machine'>;
  /** Why nothing at all reaches the exchange; undefined where it takes requests. */
  readonly away: () => string | undefined;
}

/** Poll interval: does the exchange still answer? Real ms. */
const lookMs = 250;

/** Waits for work, and returns undefined; or returns early why nothing reaches the exchange. The work goes on then. */
export async function awayWhile({ clock, away }: Waits, work: Promise<unknown>): Promise<string | undefined> {
  const done = work.then(() => true as const);
  for (;;) {
    const why = away();
    if (why !== undefined) return why;
    if ((await Promise.race([done, clock.sleep(clock.machine(lookMs))])) === true) return undefined;
  }
}

/** A sentence to follow an answer; empty where the exchange takes requests. `later`: what is done then, such as `Orders are created`. */
export const unsentText = (why: string | undefined, later: string): string =>
  why === undefined ? '' : ` But nothing is sent now: ${why}. ${later} once that has ended.`;
