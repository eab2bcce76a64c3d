/** Waiting for another process, the only place where a test really waits: by a condition, and never longer than a deadline. */
import { realMs, systemClock } from '../../src/clock/clock.ts';

const pollMs = 15;
/** Far more than anything takes: on a busy machine a start alone has taken 20 s. */
const usualPatienceMs = 120_000;

/** Looks until `look` gives something, and returns it; fails with `what` (and what `look` threw last) after `withinMs`, real ms. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs: number = usualPatienceMs,
): Promise<T> {
  const deadline = realMs() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (realMs() > deadline) throw new Error(`waited ${withinMs} ms in vain: ${what}`, { cause: last });
    await systemClock.sleep(pollMs);
  }
}

/** Lets so many real ms pass, where the point is that nothing happens in them. */
export const pass = (ms: number): Promise<void> => systemClock.sleep(ms);
