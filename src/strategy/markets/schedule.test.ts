import { expect, test } from 'vitest';
import { dueAfter, scheduleFault, scheduleOf } from './schedule.ts';

const day = 86_400_000;
const monday = Date.UTC(2024, 0, 1);

test('a week ends on Monday at midnight, UTC, and a month with its last day', () => {
  expect(scheduleOf('1week')?.(monday)).toBe(monday + 7 * day);
  expect(scheduleOf('1week')?.(monday - 1)).toBe(monday);
  expect(scheduleOf('1month')?.(Date.UTC(2024, 1, 3))).toBe(Date.UTC(2024, 2, 1));
});

test('the first close counts only if it is a time of the schedule, and a missed time is made up for at the next close', () => {
  const weekly = scheduleOf('1week') ?? Number;
  expect(dueAfter(weekly, undefined, monday)).toBe(monday);
  expect(dueAfter(weekly, undefined, monday + day)).toBe(monday + 7 * day);
  expect(dueAfter(weekly, monday - day, monday + day)).toBe(monday);
});

test('a cron expression is a schedule in UTC, without change of the clocks', () => {
  const mondays = scheduleOf('0 8 * * 1') ?? Number;
  const eight = 8 * 3_600_000;
  expect(mondays(monday)).toBe(monday + eight);
  expect(mondays(monday + eight)).toBe(monday + 7 * day + eight);
  // In Europe the night of 31 March 2024 had no 02:30.
  expect(scheduleOf('30 2 31 3 *')?.(monday)).toBe(Date.UTC(2024, 2, 31, 2, 30));
  expect(scheduleOf('0 0 L * *')?.(Date.UTC(2024, 1, 3))).toBe(Date.UTC(2024, 1, 29));
});

test('a time between two closes is made up for at the next close', () => {
  const schedule = scheduleOf('7 * * * *') ?? Number;
  const quarter = 900_000;
  expect(dueAfter(schedule, monday, monday + quarter)).toBe(monday + 7 * 60_000);
  expect(dueAfter(schedule, monday + quarter, monday + 2 * quarter)).toBe(monday + 3_600_000 + 7 * 60_000);
});

test('what is no schedule is refused by one message', () => {
  expect(scheduleFault('1week')).toBeUndefined();
  expect(scheduleFault('0 8 * * 1')).toBeUndefined();
  expect(scheduleFault(undefined)).toBeUndefined();
  for (const [rebalance, what] of [
    ['1weeks', "rebalance is '1weeks': it must be an interval (1min, "],
    ['0 0 8 * * 1', "rebalance is '0 0 8 * * 1': it must be"],
    ['0 25 * * *', "rebalance is '0 25 * * *' (Invalid value for hour: 25): it must be"],
    ['0 8 30 2 *', "rebalance is '0 8 30 2 *', which never comes: it must be"],
    ['? 8 * * *', "rebalance is '? 8 * * *', which contains '?': it must be"],
    [7, 'rebalance is 7: it must be'],
  ])
    expect(scheduleFault(rebalance)).toContain(what);
});
