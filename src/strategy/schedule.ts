/** When a strategy that chooses among symbols is asked, the same live and over recorded klines. */
import { inspect } from 'node:util';
import { closeTime, type Interval, intervals, isInterval, openTimeOf } from '../domain/interval.ts';

/** The first time of a schedule after a time, both UTC ms. */
export type Schedule = (after: number) => number;

/** The schedule of `rebalance`: the closes of an interval. Undefined where it is left out: then it is asked at each close. */
export const scheduleOf = (rebalance: Interval | undefined): Schedule | undefined =>
  rebalance === undefined ? undefined : (after) => closeTime(rebalance, openTimeOf(rebalance, after));

/**
 * When a strategy is asked next, UTC ms, after it was looked at `before`: at the first close that is not earlier. `before` is undefined where it
 * was not looked at yet; then a close at `now` counts if it is a time of the schedule.
 */
export const dueAfter = (schedule: Schedule, before: number | undefined, now: number): number =>
  schedule(before ?? now - 1);

/** What is wrong with `rebalance`, or undefined. Strategy files are not type-checked. */
export const scheduleFault = (rebalance: unknown): string | undefined =>
  rebalance === undefined || (typeof rebalance === 'string' && isInterval(rebalance))
    ? undefined
    : `rebalance is ${inspect(rebalance)}: it must be an interval (${intervals.join(', ')})`;
