/** Watches how long commits take: an order waits for one, so that a slow disk is a slow trader. */
import { machineSteady } from '../clock/clock.ts';
import type { WriterHost } from './journal.ts';

/** Commits that are looked at together, and how many of them may take longer than that, real ms. */
const window = 100;
const mostSlow = 1;
const slowMs = 100;

/** The same host; tells when more than one of the last hundred commits was slow, and again once a hundred were not. */
export function watchedHost(host: WriterHost, tell: (text: string) => void, steady = machineSteady): WriterHost {
  const times: number[] = [];
  let told = false;
  return {
    ...host,
    async write(entries) {
      const begun = steady();
      const result = await host.write(entries);
      times.push(steady() - begun);
      if (times.length > window) times.shift();
      const slow = times.filter((ms) => ms > slowMs).length;
      if (slow > mostSlow && !told) {
        told = true;
        tell(
          `the disk is slow: ${slow} of the last ${times.length} commits of the journal took longer than ${slowMs} ms, the longest ${Math.round(Math.max(...times))} ms; every order waits for one`,
        );
      } else if (slow === 0 && times.length === window) told = false;
      return result;
    },
  };
}
