/** Watches the duration of commits: every order waits for one. */
import { machineSteady } from '../clock/clock.ts';
import type { WriterHost } from './journal.ts';

/** Of the last `window` commits, more than `mostSlow` slower than `slowMs` (real ms) are reported. */
const window = 100;
const mostSlow = 1;
const slowMs = 100;

/** The same host; warns of a slow disk once, and again after a hundred fast commits. */
export function watchedHost(host: WriterHost, warn: (text: string) => void, steady = machineSteady): WriterHost {
  const times: number[] = [];
  let isReported = false;
  return {
    ...host,
    async write(entries) {
      const begun = steady();
      const result = await host.write(entries);
      times.push(steady() - begun);
      if (times.length > window) times.shift();
      const slow = times.filter((ms) => ms > slowMs).length;
      if (slow > mostSlow && !isReported) {
        isReported = true;
        warn(
          `the disk is slow: ${slow} of the last ${times.length} commits of the journal took longer than ${slowMs} ms, the longest ${Math.round(Math.max(...times))} ms; every order waits for one`,
        );
      } else if (slow === 0 && times.length === window) isReported = false;
      return result;
    },
  };
}
