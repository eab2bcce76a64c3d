/** Kline intervals: those that the exchange has (interface specification §4.1), and every other that divides a day. */
import { didYouMean } from './refusal.ts';

/** The intervals of the exchange, from the smallest. */
export const intervals = ['1min', '5min', '15min', '30min', '60min', '1day', '1week', '1month'] as const;
export type ExchangeInterval = (typeof intervals)[number];
/** An interval of the exchange, or a number of minutes that divides a day, such as `3min` or `240min`. */
export type Interval = ExchangeInterval | `${number}min`;

const minuteMs = 60_000;
const dayMinutes = 1_440;
const dayMs = dayMinutes * minuteMs;
const fixedMs: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    Array.from({ length: dayMinutes / 2 }, (_, index) => index + 1)
      .filter((minutes) => dayMinutes % minutes === 0)
      .map((minutes) => [`${minutes}min`, minutes * minuteMs]),
  ),
  '1day': dayMs,
  '1week': 7 * dayMs,
};
/** All intervals, from the smallest. */
export const allIntervals = [...Object.keys(fixedMs), '1month'] as readonly Interval[];
/** 1970-01-05 was the first Monday: weeks start on Mondays, UTC. */
const firstMondayMs = 4 * dayMs;

export const isInterval = (text: unknown): text is Interval => (allIntervals as readonly unknown[]).includes(text);
export const isExchangeInterval = (text: string): text is ExchangeInterval =>
  (intervals as readonly string[]).includes(text);

/** What can be written as an interval, for messages. */
export const intervalsText = `${intervals.join(', ')}, or minutes that divide a day, such as 3min or 240min`;

/** Why a value is no interval, for messages. */
export function unknownInterval(value: unknown): string {
  const text = String(value);
  const [, count, unit = ''] = /^(\d+) ?([a-z]+)$/i.exec(text) ?? [];
  const minutes = Number(count) * (/^h/i.test(unit) ? 60 : 1);
  const meant = /^(m|min|h)/i.test(unit) && isInterval(`${minutes}min`) ? ` (did you mean "${minutes}min"?)` : '';
  return `unknown interval ${text}${meant === '' ? didYouMean(text, intervals) : meant}; use ${intervalsText}`;
}

/** The largest interval of the exchange whose klines those of `interval` consist of; itself where the exchange has it. */
export const exchangeIntervalOf = (interval: Interval): ExchangeInterval =>
  isExchangeInterval(interval) ? interval : (intervals.findLast((one) => isWithin(one, interval)) ?? '1min');

/** How long the kline that opens at `openTime` (UTC ms) lasts, in ms; months are calendar months. */
export const intervalMs = (interval: Interval, openTime: number): number =>
  interval === '1month' ? closeTime(interval, openTime) - openTime : (fixedMs[interval] as number);

/**
 * UTC ms at which the kline that opens at `openTime` closes and the next one opens. A month that opens at midnight of its first day in some
 * time zone is a month of that zone: exchanges use their own zone (UTC+8) for long intervals.
 */
export function closeTime(interval: Interval, openTime: number): number {
  if (interval !== '1month') return openTime + (fixedMs[interval] as number);
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
  return time % (interval === '1day' || interval === '1week' ? zoneStepMs : (fixedMs[interval] as number)) === 0;
}

/** UTC ms at which the last kline before `before` opens, counted from one at `from`; `from` if there is none. */
export function lastOpenBefore(interval: Interval, before: number, from: number): number {
  if (interval !== '1month') {
    const lengthMs = fixedMs[interval] as number;
    return from + Math.max(0, Math.ceil((before - from) / lengthMs) - 1) * lengthMs;
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
  const lengthMs = fixedMs[interval] as number;
  return Math.floor((time - shift) / lengthMs) * lengthMs + shift;
}

/** How many klines closed after `from` and up to `closedAt`, at which one of them closed; both UTC ms. */
export function closesSince(interval: Interval, from: number, closedAt: number): number {
  if (!(closedAt > from)) return 0;
  if (interval !== '1month') return Math.ceil((closedAt - from) / intervalMs(interval, 0));
  const zoneMs = monthZone(closedAt) ?? 0;
  const monthOf = (time: number): number => {
    const date = new Date(time + zoneMs);
    return 12 * date.getUTCFullYear() + date.getUTCMonth();
  };
  return monthOf(closedAt) - monthOf(from);
}

/** Whether klines of `larger` consist of whole klines of `smaller`. A month is no whole number of weeks. */
export function isWithin(smaller: Interval, larger: Interval): boolean {
  if (smaller === '1month' || smaller === larger) return false;
  if (larger === '1month') return smaller !== '1week';
  return (fixedMs[larger] as number) % (fixedMs[smaller] as number) === 0;
}

/** Which of two intervals is longer, for sorting from the smallest. */
export const compareIntervals = (a: Interval, b: Interval): number => allIntervals.indexOf(a) - allIntervals.indexOf(b);
