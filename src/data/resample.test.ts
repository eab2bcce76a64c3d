import { describe, expect, test } from 'vitest';
import { fc, property as propertyTest } from '../../test/kit/properties.ts';
import { closeTime, type Interval, isWithin, openTimeOf } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { Decimal } from '../domain/money.ts';
import { frameClose, frameOpen, resampleKlines, resampleTrades } from './resample.ts';

type Row = readonly [time: number, open: number, high: number, low: number, close: number, volume: number];
const columnsOf = (rows: readonly Row[]): Columns => {
  const column = (index: number): Float64Array => Float64Array.from(rows, (row) => row[index] as number);
  return { openTime: column(0), open: column(1), high: column(2), low: column(3), close: column(4), volume: column(5) };
};
const rowsOf = ({ openTime, open, high, low, close, volume }: Columns): Row[] =>
  Array.from(openTime, (time, row) => [
    time,
    open[row] as number,
    high[row] as number,
    low[row] as number,
    close[row] as number,
    volume[row] as number,
  ]);

/** The slow way: every row finds its own kline. */
function direct(rows: readonly Row[], interval: Interval): Row[] {
  const groups = Map.groupBy(rows, ([time]) => openTimeOf(interval, time));
  const all = [...groups].map(
    ([time, group]): Row => [
      time,
      group[0]?.[1] ?? 0,
      Math.max(...group.map((row) => row[2])),
      Math.min(...group.map((row) => row[3])),
      group.at(-1)?.[4] ?? 0,
      group.reduce((sum, row) => sum.plus(row[5]), new Decimal(0)).toNumber(),
    ],
  );
  const [from, to] = [rows[0]?.[0] ?? 0, (rows.at(-1)?.[0] ?? 0) + 60_000];
  return all.filter(([time]) => time >= from && closeTime(interval, time) <= to);
}

const start = Date.UTC(2024, 1, 28, 21);
const minutes = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 999 }),
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 500_000_000_000 }),
    ),
    { minLength: 1, maxLength: 400 },
  )
  .map((steps) => {
    let time = start;
    return steps.map(([gap, price, spread, traded]): Row => {
      time += gap * 60_000;
      return [time, price, price + spread, price - spread / 2, price + spread / 4, traded / 1e8];
    });
  });
const larger = fc.constantFrom<Interval>('5min', '15min', '30min', '60min', '1day', '1week', '1month');

describe('klines made from minutes', () => {
  propertyTest.prop([minutes, larger])('are those of a direct aggregation', (rows, interval) => {
    expect(rowsOf(resampleKlines('1min', columnsOf(rows), { interval }))).toEqual(direct(rows, interval));
  });

  propertyTest.prop([minutes, fc.constantFrom<Interval>('60min', '1day')])(
    'are the same over a step between',
    (rows, interval) => {
      const whole = columnsOf(rows.filter(([time]) => time >= Date.UTC(2024, 1, 29)));
      const between = resampleKlines('1min', whole, { interval: '5min' });
      const seen = rowsOf(resampleKlines('5min', between, { interval }));
      const known = new Map(rowsOf(resampleKlines('1min', whole, { interval })).map((row) => [row[0], row]));
      // A step may cut off a first or last kline that the minutes still cover; none is another one.
      for (const row of seen.slice(1, -1)) expect(row).toEqual(known.get(row[0]));
    },
  );

  propertyTest.prop([minutes, larger, fc.nat(400)])(
    'are never seen before they close: what comes later changes nothing',
    (rows, interval, cut) => {
      const early = rowsOf(resampleKlines('1min', columnsOf(rows.slice(0, cut)), { interval }));
      const late = rowsOf(resampleKlines('1min', columnsOf(rows), { interval }));
      expect(late.slice(0, early.length)).toEqual(early);
      const seen = (rows[Math.min(cut, rows.length) - 1]?.[0] ?? 0) + 60_000;
      for (const [time] of early) expect(closeTime(interval, time)).toBeLessThanOrEqual(seen);
    },
  );
});

test('klines made from trades leave out what the trades do not cover whole', () => {
  const at = Date.UTC(2024, 0, 1);
  const trades = {
    time: Float64Array.from([30_000, 60_000, 61_000, 119_999, 120_000, 200_000], (ms) => at + ms),
    price: Float64Array.of(9, 5, 8, 6, 7, 7),
    quantity: Float64Array.of(1, 0.1, 0.2, 0.7, 1, 1),
  };
  expect(rowsOf(resampleTrades(trades, { interval: '1min' }))).toEqual([
    [at + 60_000, 5, 8, 5, 6, 1],
    [at + 120_000, 7, 7, 7, 7, 1],
  ]);
});

describe('a zone', () => {
  const day = { interval: '1day', zone: 'Europe/Berlin' } as const;
  test.for([
    ['in winter', Date.UTC(2024, 0, 10, 12), Date.UTC(2024, 0, 9, 23), 24],
    ['in summer', Date.UTC(2024, 6, 10, 23), Date.UTC(2024, 6, 10, 22), 24],
    ['when clocks go forward', Date.UTC(2024, 2, 31, 12), Date.UTC(2024, 2, 30, 23), 23],
    ['when they go back', Date.UTC(2024, 9, 27, 12), Date.UTC(2024, 9, 26, 22), 25],
  ] as const)('begins its days at its own midnight %s', ([, time, open, hours]) => {
    expect(frameOpen(day, time)).toBe(open);
    expect(frameClose(day, open) - open).toBe(hours * 3_600_000);
  });

  test('whose clocks go forward at midnight has a day that begins at one and ends at midnight', () => {
    const chile = { interval: '1day', zone: 'America/Santiago' } as const;
    const open = Date.UTC(2023, 8, 3, 4);
    expect(frameOpen(chile, open + 5)).toBe(open);
    expect(frameClose(chile, open)).toBe(open + 23 * 3_600_000);
    expect(frameOpen(chile, open + 23 * 3_600_000)).toBe(open + 23 * 3_600_000);
  });

  test('whose clocks change at half past by UTC is asked for each half of that hour', () => {
    const day = { interval: '1day', zone: 'Asia/Tehran' } as const;
    // The day that is shown an hour of twice, at its end.
    const [open, close] = [Date.UTC(2021, 8, 20, 19, 30), Date.UTC(2021, 8, 21, 20, 30)];
    for (const time of [Date.UTC(2021, 8, 21, 19), Date.UTC(2021, 8, 21, 20), open, close - 1])
      expect([frameOpen(day, time), frameClose(day, open)]).toEqual([open, close]);
    expect(frameOpen(day, close)).toBe(close);
  });

  test('begins its weeks on its own Monday and its months on its own first', () => {
    const zone = '+09:00';
    expect(frameOpen({ interval: '1week', zone }, Date.UTC(2024, 4, 5, 16))).toBe(Date.UTC(2024, 4, 5, 15));
    expect(frameOpen({ interval: '1month', zone }, Date.UTC(2024, 4, 31, 16))).toBe(Date.UTC(2024, 4, 31, 15));
    expect(frameClose({ interval: '1month', zone }, Date.UTC(2024, 0, 31, 15))).toBe(Date.UTC(2024, 1, 29, 15));
  });

  test('makes an hour that its clocks show twice two hours, and hours of a half-hour zone', () => {
    const hour = { interval: '60min', zone: 'Europe/Berlin' } as const;
    const open = Date.UTC(2024, 9, 27);
    expect([frameOpen(hour, open + 5), frameClose(hour, open)]).toEqual([open, open + 3_600_000]);
    expect(frameOpen(hour, open + 3_600_005)).toBe(open + 3_600_000);
    expect(frameOpen({ interval: '60min', zone: '+05:30' }, open + 5)).toBe(open - 1_800_000);
  });

  test('that is none is refused', () => {
    expect(() => frameOpen({ interval: '1day', zone: 'Mars' }, 0)).toThrow(/"Mars" is not a time zone/);
  });
});

test('months are not made of weeks', () => {
  expect([isWithin('1min', '1month'), isWithin('1week', '1month'), isWithin('60min', '1min')]).toEqual([
    true,
    false,
    false,
  ]);
});
