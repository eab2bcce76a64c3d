/** Kline intervals as the exchange spells them (interface specification §4.1). */
export const intervals = ['1min', '5min', '15min', '30min', '60min', '1day', '1week', '1month'] as const;
export type Interval = (typeof intervals)[number];

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const fixedMs: Readonly<Record<Exclude<Interval, '1month'>, number>> = {
  '1min': minuteMs,
  '5min': 5 * minuteMs,
  '15min': 15 * minuteMs,
  '30min': 30 * minuteMs,
  '60min': 60 * minuteMs,
  '1day': dayMs,
  '1week': 7 * dayMs,
};
/** 1970-01-05 was the first Monday: weeks start on Mondays, UTC. */
const firstMondayMs = 4 * dayMs;

export const isInterval = (text: string): text is Interval => (intervals as readonly string[]).includes(text);

/** How long the kline that opens at `openTime` (UTC ms) lasts, in ms; months are calendar months. */
export const intervalMs = (interval: Interval, openTime: number): number =>
  interval === '1month' ? closeTime(interval, openTime) - openTime : fixedMs[interval];

/**
 * UTC ms at which the kline that opens at `openTime` closes and the next one opens. A month that opens at midnight of its first day in some
 * time zone is a month of that zone: exchanges use their own zone (UTC+8) for long intervals.
 */
export function closeTime(interval: Interval, openTime: number): number {
  if (interval !== '1month') return openTime + fixedMs[interval];
  const zoneMs = monthZone(openTime) ?? 0;
  const open = new Date(openTime + zoneMs);
  return Date.UTC(open.getUTCFullYear(), open.getUTCMonth() + 1, 1) - zoneMs;
}

/** Offsets of time zones from UTC, ms: the smallest, the largest, and their step. */
const [firstZoneMs, lastZoneMs, zoneStepMs] = [-12 * 60 * minuteMs, 14 * 60 * minuteMs, 15 * minuteMs];

/** The offset, ms, of a time zone in which `time` is midnight of a month's first day; undefined if there is none. */
function monthZone(time: number): number | undefined {
  const toMidnight = (dayMs - (time % dayMs)) % dayMs;
  return [toMidnight, toMidnight - dayMs].find(
    (zoneMs) =>
      zoneMs >= firstZoneMs &&
      zoneMs <= lastZoneMs &&
      zoneMs % zoneStepMs === 0 &&
      new Date(time + zoneMs).getUTCDate() === 1,
  );
}

/** Whether a kline can open at `time` (UTC ms), in any time zone for days, weeks and months. */
export function isOpenTime(interval: Interval, time: number): boolean {
  if (interval === '1month') return monthZone(time) !== undefined;
  return time % (interval === '1day' || interval === '1week' ? zoneStepMs : fixedMs[interval]) === 0;
}

/** UTC ms at which the last kline before `before` opens, counted from one at `from`; `from` if there is none. */
export function lastOpenBefore(interval: Interval, before: number, from: number): number {
  if (interval !== '1month') {
    const whole = Math.ceil((before - from) / fixedMs[interval]) - 1;
    return from + Math.max(0, whole) * fixedMs[interval];
  }
  let last = from;
  for (let next = closeTime(interval, last); next < before; next = closeTime(interval, last)) last = next;
  return last;
}

/** UTC ms at which the kline that contains `time` opened. */
export function openTimeOf(interval: Interval, time: number): number {
  if (interval === '1month') {
    const date = new Date(time);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  const shift = interval === '1week' ? firstMondayMs : 0;
  return Math.floor((time - shift) / fixedMs[interval]) * fixedMs[interval] + shift;
}

/** Whether klines of `larger` consist of whole klines of `smaller`. */
export function isWithin(smaller: Interval, larger: Interval): boolean {
  const [a, b] = [intervals.indexOf(smaller), intervals.indexOf(larger)];
  // A month is no whole number of weeks.
  return a < b && !(smaller === '1week' && larger === '1month');
}
