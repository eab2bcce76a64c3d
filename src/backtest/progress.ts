/** The progress of a long run, shown while it runs, and whether to end it. */
import { type Clock, realMs } from '../clock/clock.ts';
import { grouped } from '../domain/words.ts';

/** Takes how many steps are done, of how many; true ends the run with what it has. */
export type Pace = (done: number, of: number) => Promise<boolean>;

/** Steps between two reports: a report for each step would cost more than the step. */
export const everySteps = 4_096;
/** Between two drawings, and between two moments at which signals of the system arrive, real ms. */
const everyMs = 150;
/** Runs that take less show nothing. */
const quietMs = 600;

/** For a run by time from `start` to `end` over `of` klines: takes a moment, and now and then gives a promise of whether to end. */
export function pacedByTime(
  pace: Pace | undefined,
  { start, end, of }: { readonly start: number; readonly end: number; readonly of: number },
): (time: number) => Promise<boolean> | undefined {
  let steps = 0;
  return (time) => {
    if (pace === undefined || ++steps % everySteps !== 0) return undefined;
    const share = Math.min(1, Math.max(0, (time - start) / Math.max(1, end - start)));
    return pace(Math.floor(share * of), of);
  };
}

export interface Shown {
  readonly pace: Pace;
  /** Wipes the line. */
  readonly end: () => void;
}

/** `1.2 M`, `340 k`. */
const short = (value: number): string =>
  value >= 1e6
    ? `${(value / 1e6).toFixed(1)} M`
    : value >= 1e4
      ? `${(value / 1e3).toFixed(0)} k`
      : grouped(Math.round(value));

/** `43 %, 1.2 M klines/s, 3 s left`. */
export function paceText(done: number, of: number, ms: number): string {
  const rate = done / Math.max(1, ms);
  const seconds = Math.ceil((of - done) / rate / 1_000);
  const left = seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${Math.floor((100 * done) / of)} %, ${short(rate * 1_000)} klines/s, ${left} left`;
}

/** Draws on a terminal, and lets signals of the system arrive. */
export function showPace(
  name: string,
  {
    clock,
    signal,
    draw,
  }: {
    readonly clock: Clock;
    readonly signal: AbortSignal | undefined;
    readonly draw: ((text: string) => void) | undefined;
  },
): Shown {
  const began = realMs();
  let last = began;
  let isDrawn = false;
  const isStopped = (): boolean => signal?.aborted === true;
  return {
    async pace(done, of) {
      if (isStopped()) return true;
      const now = realMs();
      if (now - last < everyMs) return false;
      last = now;
      if (draw !== undefined && now - began > quietMs) {
        draw(`\r${name}: ${paceText(done, of, now - began)}\u001b[K`);
        isDrawn = true;
      }
      // Otherwise a signal would wait for the end of the run.
      await clock.sleep(0);
      return isStopped();
    },
    end() {
      if (isDrawn) draw?.('\r\u001b[K');
      isDrawn = false;
    },
  };
}
