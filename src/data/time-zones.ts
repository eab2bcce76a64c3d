/** Local time of a place (`Europe/Berlin`, `+02:00`) and UTC. */
import { Refusal } from '../domain/refusal.ts';

const hourMs = 3_600_000;
/** Length of time with one cached offset: clocks of Adelaide, St. John's and Tehran change at half past, UTC. */
const keptMs = hourMs / 2;
/** Beyond this many (about 23 years) the cache is emptied. */
const maxKept = 400_000;

interface Zone {
  readonly fixedMs?: number;
  readonly format?: Intl.DateTimeFormat;
  readonly kept: Map<number, number>;
}
const zones = new Map<string, Zone>();

/** Refuses a name that is no zone, with examples. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const made = zoneFrom(name);
  zones.set(name, made);
  return made;
}

function zoneFrom(name: string): Zone {
  const kept = new Map<number, number>();
  if (name === 'UTC' || name === 'Z') return { fixedMs: 0, kept };
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(name);
  if (fixed !== null) {
    const ms = (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
    return { fixedMs: fixed[1] === '-' ? -ms : ms, kept };
  }
  try {
    return { format: new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' }), kept };
  } catch {
    throw new Refusal(`"${name}" is not a time zone: give a name such as Europe/Berlin, or an offset such as +02:00`);
  }
}

/** What local clocks there were ahead of UTC at `utcMs`, ms. */
export function offsetAt(name: string, utcMs: number): number {
  const { fixedMs, format, kept } = zoneOf(name);
  if (fixedMs !== undefined) return fixedMs;
  const part = Math.floor(utcMs / keptMs);
  const known = kept.get(part);
  if (known !== undefined) return known;
  const text = format?.formatToParts(utcMs).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign, hours = 0, minutes = 0] = /GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  if (kept.size >= maxKept) kept.clear();
  kept.set(part, offset);
  return offset;
}

/**
 * UTC ms of a moment on the clocks there. An hour that happened twice is the first of the two; one that never happened is
 * moved on by what the clocks were put forward.
 */
export function localToUtc(name: string, localMs: number): number {
  const before = offsetAt(name, localMs - 24 * hourMs);
  const first = localMs - before;
  if (offsetAt(name, first) === before) return first;
  const later = localMs - offsetAt(name, first);
  return offsetAt(name, later) === localMs - later ? later : first;
}

/** One place for each way in which clocks change in most of the world, as examples. */
const places = ['Europe/Berlin', 'America/New_York', 'Europe/London', 'Europe/Athens', 'Australia/Sydney'];

/** Whether clocks there show this hour (of which `firstMs`, UTC, is the first) again an hour later. */
export const isShownTwice = (name: string, firstMs: number): boolean =>
  offsetAt(name, firstMs) - offsetAt(name, firstMs + hourMs) === hourMs;

/** Whether clocks there go forward by an hour at this moment (UTC ms). */
export const isPutForward = (name: string, utcMs: number): boolean =>
  offsetAt(name, utcMs) - offsetAt(name, utcMs - 1) === hourMs;

/** A place whose clocks go forward by an hour at this moment on them, or show its hour twice; undefined where none is known. */
export function changingPlace(localMs: number, way: 'forward' | 'back'): string | undefined {
  // All of them change early on a Sunday; asking for every hour of a file would take a minute.
  const date = new Date(localMs);
  if (date.getUTCDay() !== 0 || date.getUTCHours() > 3) return undefined;
  return places.find((name) => {
    const utcMs = localMs - offsetAt(name, localMs - 24 * hourMs);
    return way === 'back' ? isShownTwice(name, utcMs) : isPutForward(name, utcMs);
  });
}
