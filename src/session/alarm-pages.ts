/** The page of the docs that explains an alarm: its meaning, what to look at, what to do. */
import { isLimit } from './control/kill-file.ts';
import type { SessionEvent } from './events.ts';

/** Pages by kind of event; undefined for kinds that are never a warning. */
export const alarmPages: Readonly<Record<SessionEvent['kind'] | 'killByLimit', string | undefined>> = {
  kill: 'killed',
  killByLimit: 'killed-by-limit',
  halt: 'halt',
  pause: 'paused',
  resume: 'paused',
  denied: 'denied',
  rejected: 'rejected',
  unknown: 'unknown-outcome',
  notice: 'notice',
  alerts: 'channel-failed',
  resolved: undefined,
  state: undefined,
  fill: undefined,
  summary: undefined,
};

/** Where an event is explained, in the folder of the program; undefined where it is no alarm. */
export function alarmPage(event: SessionEvent): string | undefined {
  const isByLimit = event.kind === 'kill' && isLimit(event.by);
  const page = alarmPages[isByLimit ? 'killByLimit' : event.kind];
  return event.level === 'info' || page === undefined ? undefined : `docs/how-to/alarms/${page}.md`;
}
