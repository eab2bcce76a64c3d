import { describe, expect, test } from 'vitest';
import { fc, property } from '../../test/kit/properties.ts';
import {
  allIntervals,
  closeTime,
  exchangeIntervalOf,
  intervalMs,
  isInterval,
  isOpenTime,
  isWithin,
  lastOpenBefore,
  openTimeOf,
  unknownInterval,
} from './interval.ts';

const dayMs = 86_400_000;

describe('a kline', () => {
  test.each([
    ['1min', Date.UTC(2024, 1, 29, 12, 34), Date.UTC(2024, 1, 29, 12, 35)],
    ['15min', Date.UTC(2024, 1, 29, 12, 30), Date.UTC(2024, 1, 29, 12, 45)],
    ['60min', Date.UTC(2024, 1, 29, 12), Date.UTC(2024, 1, 29, 13)],
    ['1day', Date.UTC(2024, 1, 29), Date.UTC(2024, 2, 1)],
    // 26 February 2024 was a Monday.
    ['1week', Date.UTC(2024, 1, 26), Date.UTC(2024, 2, 4)],
    ['1month', Date.UTC(2024, 1, 1), Date.UTC(2024, 2, 1)],
  ] as const)('of %s holds its moment and ends where the next begins', (interval, opens, closes) => {
    expect(openTimeOf(interval, Date.UTC(2024, 1, 29, 12, 34, 56))).toBe(opens);
    expect(closeTime(interval, opens)).toBe(closes);
    expect(intervalMs(interval, opens)).toBe(closes - opens);
  });

  test('of a month has the length of its month', () => {
    expect(intervalMs('1month', Date.UTC(2024, 1, 1))).toBe(29 * dayMs);
    expect(intervalMs('1month', Date.UTC(2023, 1, 1))).toBe(28 * dayMs);
    expect(closeTime('1month', Date.UTC(2023, 11, 1))).toBe(Date.UTC(2024, 0, 1));
  });

  test('of a week begins on a Monday, before 1970 too', () => {
    expect(openTimeOf('1week', 0)).toBe(Date.UTC(1969, 11, 29));
    expect(openTimeOf('1week', Date.UTC(2024, 2, 3, 23, 59))).toBe(Date.UTC(2024, 1, 26));
  });

  const hourMs = 3_600_000;
  test.each([
    ['eight hours ahead', 8, Date.UTC(2026, 1, 1), 28],
    ['eight hours ahead, over the end of a year', 8, Date.UTC(2026, 11, 1), 31],
    ['fourteen hours ahead', 14, Date.UTC(2026, 1, 1), 28],
    ['twelve hours behind', -12, Date.UTC(2026, 1, 1), 28],
    ['five and a half hours ahead', 5.5, Date.UTC(2026, 3, 1), 30],
  ])('of a month that an exchange %s of UTC counts is a month of its zone', (_, zone, local, days) => {
    const opens = local - zone * hourMs;
    expect(isOpenTime('1month', opens)).toBe(true);
    expect(closeTime('1month', opens)).toBe(opens + days * dayMs);
  });

  test('opens on the grid of its interval, and longer ones at midnight of some zone', () => {
    const noon = Date.UTC(2026, 1, 1, 12);
    expect(isOpenTime('1min', noon + 60_000)).toBe(true);
    expect(isOpenTime('1min', noon + 1_000)).toBe(false);
    expect(isOpenTime('15min', noon + 60_000)).toBe(false);
    expect(isOpenTime('1day', noon + 4 * hourMs)).toBe(true);
    expect(isOpenTime('1week', noon + 60_000)).toBe(false);
    expect(isOpenTime('1month', Date.UTC(2026, 1, 2, 16))).toBe(false);
    expect(isOpenTime('1month', Date.UTC(2026, 0, 31, 16) + 60_000)).toBe(false);
  });

  property.prop([
    fc.constantFrom(...allIntervals),
    fc.integer({ min: 0, max: 4e12 }),
    fc.integer({ min: -2, max: 40 }),
  ])('that is the last to open before a moment is found as by counting', (interval, time, later) => {
    const from = openTimeOf(interval, time);
    const before = from + later * intervalMs(interval, from) + (time % 3) - 1;
    let counted = from;
    while (closeTime(interval, counted) < before) counted = closeTime(interval, counted);
    expect(lastOpenBefore(interval, before, from)).toBe(counted);
  });

  property.prop([fc.constantFrom(...allIntervals), fc.integer({ min: 0, max: 4e12 })])(
    'begins at or before each of its moments and ends after it',
    (interval, time) => {
      const opens = openTimeOf(interval, time);
      expect(opens <= time && time < closeTime(interval, opens)).toBe(true);
      expect(openTimeOf(interval, opens)).toBe(opens);
      expect(openTimeOf(interval, closeTime(interval, opens))).toBe(closeTime(interval, opens));
    },
  );
});

test('an interval is one that the exchange has, or minutes that divide a day', () => {
  for (const one of ['60min', '3min', '45min', '120min', '240min', '720min', '1day'])
    expect(isInterval(one)).toBe(true);
  for (const one of ['1hour', '7min', '1440min', '03min', '0min', 'toString', undefined, 60])
    expect(isInterval(one)).toBe(false);
});

test.each([
  ['4h', 'unknown interval 4h (did you mean "240min"?)'],
  ['90 minutes', 'unknown interval 90 minutes (did you mean "90min"?)'],
  ['7m', 'unknown interval 7m'],
  ['1dy', 'unknown interval 1dy (did you mean "1day"?)'],
])('%s is refused with what was meant', (text, message) => {
  expect(unknownInterval(text)).toContain(message);
});

test.each([
  ['3min', '1min'],
  ['10min', '5min'],
  ['45min', '15min'],
  ['90min', '30min'],
  ['240min', '60min'],
  ['1day', '1day'],
] as const)('klines of %s are made from those of %s', (interval, from) => {
  expect(exchangeIntervalOf(interval)).toBe(from);
});

test('klines consist of those of every interval that divides theirs', () => {
  expect(isWithin('3min', '240min')).toBe(true);
  expect(isWithin('240min', '1week')).toBe(true);
  expect(isWithin('45min', '60min')).toBe(false);
  expect(isWithin('60min', '60min')).toBe(false);
  expect(isWithin('1week', '1month')).toBe(false);
  expect(isWithin('1day', '1month')).toBe(true);
});
