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

/** UTC ms at which the kline that opens at `openTime` closes, which is when the next one opens. */
export function closeTime(interval: Interval, openTime: number): number {
  if (interval !== '1month') return openTime + fixedMs[interval];
  const open = new Date(openTime);
  return Date.UTC(open.getUTCFullYear(), open.getUTCMonth() + 1, 1);
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
