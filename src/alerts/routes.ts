/** Which channel an alert goes to, and when. Pure: it knows no channel and no clock. */
import type { AlertsConfig, RouteConfig } from '../config/alerts.ts';

/** In the order of their weight. */
export const alertLevels = ['info', 'warn', 'error'] as const;
export type AlertLevel = (typeof alertLevels)[number];

/** What happened, in one sentence. */
export interface Alert {
  readonly kind: string;
  readonly level: AlertLevel;
  /** By the exchange's clock, UTC ms. */
  readonly time: number;
  readonly text: string;
  /** A resume of all: what was killed, paused or halted needs no acknowledgement any more. */
  readonly resumesAll?: boolean | undefined;
  /** What keeps a daemon from starting: a supervisor that tries again and again must not send it each time. */
  readonly isOfStart?: boolean | undefined;
}

/** A message that is due at a time, UTC ms of the machine. */
export interface Due {
  readonly channel: string;
  readonly at: number;
}

export interface Routed {
  readonly due: readonly Due[];
  /** Where somebody has to acknowledge it. */
  readonly escalation: NonNullable<RouteConfig['escalate']> | undefined;
}

const isAtLeast = (level: AlertLevel, min: AlertLevel): boolean =>
  alertLevels.indexOf(level) >= alertLevels.indexOf(min);

/** The earliest message of each channel that a matching route names. `now`: UTC ms of the machine. */
export function routed({ routes, quietHours }: AlertsConfig, alert: Alert, now: number): Routed {
  const due = new Map<string, number>();
  let escalation: Routed['escalation'];
  for (const { minLevel, kinds, to, digestMs, escalate } of routes) {
    if (!isAtLeast(alert.level, minLevel) || kinds?.some((kind) => kind === alert.kind) === false) continue;
    const collected = digestMs === undefined ? now : (Math.floor(now / digestMs) + 1) * digestMs;
    const at = heldUntil({ quietHours }, alert.level, collected);
    for (const channel of to) due.set(channel, Math.min(due.get(channel) ?? Number.POSITIVE_INFINITY, at));
    escalation ??= escalate;
  }
  return { due: [...due].map(([channel, at]) => ({ channel, at })), escalation };
}

/** When an alert may be sent that would be at a time, UTC ms: later where quiet hours hold it. */
export const heldUntil = ({ quietHours }: Pick<AlertsConfig, 'quietHours'>, level: AlertLevel, time: number): number =>
  quietHours === undefined || isAtLeast(level, quietHours.minLevel)
    ? time
    : Math.max(time, quietUntil(quietHours, time));

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** When the quiet hours end in which a time lies, UTC ms; the time itself outside of them. */
export function quietUntil({ from, to, zone }: NonNullable<AlertsConfig['quietHours']>, time: number): number {
  const [begins, ends, now] = [minuteOf(from), minuteOf(to), minuteOfDayIn(zone, time)];
  const sinceBegin = (now - begins + dayMinutes) % dayMinutes;
  const length = (ends - begins + dayMinutes) % dayMinutes;
  return sinceBegin >= length ? time : (Math.floor(time / minuteMs) + length - sinceBegin) * minuteMs;
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function minuteOfDayIn(zone: string, time: number): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const of = (type: string): number => Number(parts.formatToParts(time).find((part) => part.type === type)?.value);
  return of('hour') * 60 + of('minute');
}

/** The last moment at or before a time at which it was this time of day, UTC ms. An hour off on a day on which the clocks are changed. */
export function lastTimeOfDay({ at, zone }: NonNullable<AlertsConfig['summary']>, time: number): number {
  const since = (minuteOfDayIn(zone, time) - minuteOf(at) + dayMinutes) % dayMinutes;
  return (Math.floor(time / minuteMs) - since) * minuteMs;
}
