/** When a strategy that chooses among symbols is asked, the same live and over recorded klines. */
import { inspect } from 'node:util';
import { Cron } from 'croner';
import { closeTime, type Interval, intervals, isInterval, openTimeOf } from '../../domain/interval.ts';

/** At the closes of an interval, or by a cron expression of five fields in exchange time, UTC: `'0 8 * * 1'` is Mondays at 08:00. */
export type Rebalance = Interval | `${string} ${string} ${string} ${string} ${string}`;

/** The first time of a schedule after a time, both UTC ms. */
export type Schedule = (after: number) => number;

/** The schedule of `rebalance`. Undefined where it is left out: then the strategy is asked at each close. */
export function scheduleOf(rebalance: Rebalance | undefined): Schedule | undefined {
  if (rebalance === undefined) return undefined;
  if (isInterval(rebalance)) return (after) => closeTime(rebalance, openTimeOf(rebalance, after));
  const cron = cronOf(rebalance);
  return (after) => cron.nextRun(new Date(after))?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** Starts no timer. Seconds are left out: klines close at whole minutes. */
const cronOf = (expression: string): Cron =>
  new Cron(expression, { mode: '5-part', timezone: 'Etc/UTC', paused: true });

/**
 * When a strategy is asked next, UTC ms, after it was looked at `before`: at the first close that is not earlier. `before` is undefined where it
 * was not looked at yet; then a close at `now` counts if it is a time of the schedule.
 */
export const dueAfter = (schedule: Schedule, before: number | undefined, now: number): number =>
  schedule(before ?? now - 1);

/** What is wrong with `rebalance`, or undefined. Strategy files are not type-checked. */
export function scheduleFault(rebalance: unknown): string | undefined {
  if (rebalance === undefined || isInterval(rebalance)) return undefined;
  const wanted = `it must be an interval (${intervals.join(', ')}, …) or a cron expression of five fields, in UTC, such as '0 8 * * 1'`;
  const fault = (what = ''): string => `rebalance is ${inspect(rebalance)}${what}: ${wanted}`;
  if (typeof rebalance !== 'string' || rebalance.trim().split(/\s+/).length !== 5) return fault();
  // It stands for the time at which the program was started.
  if (rebalance.includes('?')) return fault(", which contains '?'");
  try {
    return cronOf(rebalance).nextRun(new Date(0)) === null ? fault(', which never comes') : undefined;
  } catch (error) {
    return fault(` (${error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)})`);
  }
}
