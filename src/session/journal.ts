/** The journal of a session: its own thread writes it, the view observes it, and a slow disk is reported. */
import type { Clock } from '../clock/clock.ts';
import type { Entry, Notice } from '../journal/entries.ts';
import { type Journal, journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import type { OpenedState } from '../journal/open.ts';
import { watchedHost, workerHost } from '../journal/writer-hosts.ts';
import { type Metrics, timedHost } from './metrics/metrics.ts';

export interface SessionJournalParts extends Pick<OpenedState, 'path' | 'identity' | 'remember'> {
  readonly loaded: Loaded;
  readonly clock: Clock;
  readonly fatal: (error: Error) => void;
  readonly metrics?: Metrics | undefined;
}

export function sessionJournal(
  { path, identity, remember, loaded, clock, fatal, metrics }: SessionJournalParts,
  { notice, seen }: { readonly notice: (said: Notice) => void; readonly seen: (entry: Entry) => void },
): Journal {
  const host = watchedHost(timedHost(workerHost(path, identity.epoch, fatal, remember), metrics), (text) =>
    notice({ level: 'warn', text }),
  );
  return journal(host, clock, loaded.past.fill, seen);
}
