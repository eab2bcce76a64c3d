/** Fills of orders that arrived where klines were missing, and filled at whatever price came next. */
import { closeTime, type Interval, intervalMs } from '../domain/interval.ts';
import type { FillTable } from './fill-table.ts';
import { type MetricSeries, rowsClosedBy } from './series.ts';

export interface Late {
  readonly count: number;
  /** The longest wait of one of them, ms, and when it filled, UTC ms. */
  readonly longestMs: number;
  readonly longestAt: number;
}

export const isLateRule = (rule: string): boolean => rule.startsWith('kline-') && rule.endsWith('-late');

/** `delay`: how many klines orders take to arrive. Undefined where no fill was late. */
export function lateIn(
  { length, rules, rule, time, position, positions }: FillTable,
  series: readonly MetricSeries[],
  delay: (interval: Interval) => number,
): Late | undefined {
  if (!rules.some(isLateRule)) return undefined;
  let [count, longestMs, longestAt] = [0, 0, 0];
  for (let fill = 0; fill < length; fill++) {
    if (!isLateRule(rules[rule[fill] as number] as string)) continue;
    count++;
    const at = time[fill] as number;
    const one = series.find(({ symbol }) => symbol === positions[position[fill] as number]?.symbol);
    const waitedMs = one === undefined ? 0 : at - dueAt(one, at, delay(one.interval));
    if (waitedMs > longestMs) [longestMs, longestAt] = [waitedMs, at];
  }
  return { count, longestMs, longestAt };
}

/** When a fill was due if no kline were missing: `delay` klines after the close at which its order was decided. */
function dueAt({ columns: { openTime }, interval }: MetricSeries, at: number, delay: number): number {
  const decided = openTime[rowsClosedBy(openTime, interval, at, { from: 0, end: openTime.length }) - 1 - delay];
  return decided === undefined ? at : closeTime(interval, decided) + delay * intervalMs(interval, decided);
}

/** `2 fills came late, where klines were missing, one after 327.9 days (2017-09-03): at whatever price came next`. */
export const lateText = ({ count, longestMs, longestAt }: Late): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'fill' : 'fills'} came late, where klines were missing, ${count === 1 ? '' : 'one '}after ${waitText(longestMs)} (${new Date(longestAt).toISOString().slice(0, 10)}): at whatever price came next`;

function waitText(ms: number): string {
  const [hours, days] = [ms / 3_600_000, ms / 86_400_000];
  if (days >= 2) return `${days.toFixed(1)} days`;
  return hours >= 2 ? `${hours.toFixed(1)} h` : `${Math.round(ms / 60_000)} min`;
}
