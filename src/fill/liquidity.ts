/** What usually trades in a day, from the klines before it: the scale against which an order's impact is measured. */
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import type { Liquidity, UsualDay } from './impact.ts';

const dayMs = 86_400_000;
/** Days, or longer klines, that count: the whole ones before. */
const maxDays = 30;
/** Fewer than these say nothing. */
const minDays = 5;

interface Day {
  readonly start: number;
  /** How many days it is: a kline may be longer than one. */
  readonly days: number;
  readonly volume: number;
  readonly close: number;
}

/**
 * Returns, for a time (UTC ms), the liquidity of the days before. With too few days it has the mean volume so far, with the current day,
 * and no deviation: enough to find large orders, but not to price them. Undefined before the first kline.
 */
export function liquidityOf(columns: Columns, interval: Interval): UsualDay {
  let days: readonly Day[] | undefined;
  let index = 0;
  return (time) => {
    // Runs that never take from the market never need them.
    days ??= daysOf(columns, interval);
    // Times mostly rise.
    if (index > 0 && time < (days[index] as Day).start) index = 0;
    for (let next = days[index + 1]; next !== undefined && next.start <= time; next = days[index + 1]) index++;
    return time < (days[index]?.start ?? Number.POSITIVE_INFINITY) ? undefined : before(days, index);
  };
}

/** By the columns that they were counted in: sets of parameters share them. */
const counted = new WeakMap<Columns, readonly Day[]>();

function daysOf(columns: Columns, interval: Interval): readonly Day[] {
  const known = counted.get(columns);
  if (known !== undefined) return known;
  const days: Day[] = [];
  const { openTime, close, volume } = columns;
  for (let row = 0; row < openTime.length; ) {
    const opens = openTime[row] as number;
    const start = Math.floor(opens / dayMs) * dayMs;
    const lengthMs = closeTime(interval, opens) - opens;
    const end = endOf(openTime, row, start + dayMs, lengthMs);
    let sum = 0;
    for (; row < end; row++) sum += volume[row] as number;
    const lasts = Math.max(1, Math.round(lengthMs / dayMs));
    days.push({ start, days: lasts, volume: sum, close: close[row - 1] as number });
  }
  counted.set(columns, days);
  return days;
}

/** The first row from `row` on that opens at or after a time; where no kline is missing, times need not be read. */
function endOf(openTime: Float64Array, row: number, time: number, lengthMs: number): number {
  const guess = row + Math.ceil((time - (openTime[row] as number)) / lengthMs);
  if ((openTime[guess - 1] as number) < time && !((openTime[guess] as number) < time)) return guess;
  let end = row;
  while (end < openTime.length && (openTime[end] as number) < time) end++;
  return end;
}

/** Of the days before `index`, without the first of all, which hardly ever is whole. */
function before(days: readonly Day[], index: number): Liquidity {
  const first = Math.max(1, index - maxDays);
  if (index - first < minDays) return { volume: meanVolume(days, 0, index + 1), deviation: undefined };
  const returns = index - first - 1;
  let mean = 0;
  for (let at = first + 1; at < index; at++) mean += returnOf(days, at) / returns;
  let squares = 0;
  for (let at = first + 1; at < index; at++) squares += (returnOf(days, at) - mean) ** 2;
  return { volume: meanVolume(days, first, index), deviation: Math.sqrt(squares / (returns - 1)) };
}

/** Of one day: a week's, or that over days without klines, is the return of so many. */
function returnOf(days: readonly Day[], at: number): number {
  const [before, now] = [days[at - 1] as Day, days[at] as Day];
  return (now.close / before.close - 1) / Math.sqrt((now.start - before.start) / dayMs);
}

function meanVolume(days: readonly Day[], from: number, to: number): number {
  let [volume, count] = [0, 0];
  for (let at = from; at < to; at++) {
    volume += (days[at] as Day).volume;
    count += (days[at] as Day).days;
  }
  return volume / count;
}
