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

test('what is no interval is refused by one message', () => {
  expect(scheduleFault('1week')).toBeUndefined();
  expect(scheduleFault(undefined)).toBeUndefined();
  expect(scheduleFault('1weeks')).toContain("rebalance is '1weeks': it must be an interval (1min, ");
});
