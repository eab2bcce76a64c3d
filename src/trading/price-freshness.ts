/** How fresh prices are that come after this process stood still: it was stopped, swapped out, suspended, or busy. */
import type { Clock } from '../clock/clock.ts';

export interface Freshness {
  /** To be called every `beatMs`: between two calls further apart than that this process stood still. */
  beat(): void;
  /** For one kind of data: converts the time that it carries to the time at which it was fresh, UTC ms. */
  line(): (time: number) => number;
}

/** Real ms between two beats. */
export const beatMs = 100;
/** Real ms by which a beat may be late: garbage is collected and large answers are read in less. */
const lateMs = 400;
/** For this long after a standstill, data is dated by the time that it carries, because it may have been queued. Real ms. */
const backlogMs = 10_000;

/**
 * Data counts as fresh when it comes in, since clocks of exchanges differ and quiet books keep their date. What waited while the
 * process stood still comes in all at once and is old: then its own date counts, corrected by how late such data usually is.
 */
export function freshness(clock: Pick<Clock, 'now' | 'monotonic' | 'machine'>): Freshness {
  let beatenAt = clock.monotonic();
  let backlogUntil = Number.NEGATIVE_INFINITY;

  function noteStandstill(): void {
    const now = clock.monotonic();
    if (now - beatenAt > clock.machine(beatMs + lateMs)) backlogUntil = now + clock.machine(backlogMs);
  }

  return {
    beat() {
      noteStandstill();
      beatenAt = clock.monotonic();
    },
    line() {
      let usualMs = 0;
      return (time) => {
        noteStandstill();
        const now = clock.now();
        if (clock.monotonic() < backlogUntil) return Math.min(now, time + usualMs);
        usualMs = now - time;
        return now;
      };
    },
  };
}
