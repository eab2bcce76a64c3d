/** Fills of orders that arrived where klines were missing: they waited for whatever price came next. */
import { closeTime, type Interval, intervalMs } from '../domain/interval.ts';
import { rowsClosedBy } from './buy-and-hold.ts';
import type { MetricSeries } from './equity-input.ts';
import type { FillTable } from './fill-table.ts';

export interface Late {
  readonly count: number;
  /** What one of them waited at most, ms, and when it filled, UTC ms. */
  readonly longestMs: number;
  readonly longestAt: number;
}

/** The rules of such fills. */
export const isLateRule = (rule: string): boolean => rule.startsWith('kline-') && rule.endsWith('-late');

/** `delay`: how many klines orders take to arrive. Undefined where none was late. */
export function lateIn(
  { length, rules, rule, time, place, places }: FillTable,
  series: readonly MetricSeries[],
  delay: (interval: Interval) => number,
): Late | undefined {
  if (!rules.some(isLateRule)) return undefined;
  let [count, longestMs, longestAt] = [0, 0, 0];
  for (let fill = 0; fill < length; fill++) {
    if (!isLateRule(rules[rule[fill] as number] as string)) continue;
    count++;
    const at = time[fill] as number;
    const one = series.find(({ symbol }) => symbol === places[place[fill] as number]?.symbol);
    const waitedMs = one === undefined ? 0 : at - dueAt(one, at, delay(one.interval));
    if (waitedMs > longestMs) [longestMs, longestAt] = [waitedMs, at];
  }
  return { count, longestMs, longestAt };
}

/** When what filled at a time would have if no kline were missing: after the close before it, or so many closes before. */
function dueAt({ columns: { openTime }, interval }: MetricSeries, at: number, delay: number): number {
  const decided = openTime[rowsClosedBy(openTime, interval, 0, openTime.length, at) - 1 - delay];
  return decided === undefined ? at : closeTime(interval, decided) + delay * intervalMs(interval, decided);
}

/** `2 orders filled late, where klines were missing, one after 327.9 days (2017-09-03): at whatever price came next`. */
export const lateText = ({ count, longestMs, longestAt }: Late): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'fill' : 'fills'} came late, where klines were missing, ${count === 1 ? '' : 'one '}after ${waitText(longestMs)} (${new Date(longestAt).toISOString().slice(0, 10)}): at whatever price came next`;

function waitText(ms: number): string {
  const [hours, days] = [ms / 3_600_000, ms / 86_400_000];
  return days >= 2
    ? `${days.toFixed(1)} days`
    : hours >= 2
      ? `${hours.toFixed(1)} h`
      : `${Math.round(ms / 60_000)} min`;
}
