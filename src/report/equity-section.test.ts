import { expect, test } from 'vitest';
import { drawdownTable, monthReturns, tradedDays } from './equity-section.ts';
import { percentLabel, roundSteps } from './plot.ts';

test('the close at midnight of the first belongs to the month that ends then', () => {
  const points: readonly (readonly [at: number, equity: number])[] = [
    [Date.UTC(2020, 0, 30), 100],
    [Date.UTC(2020, 0, 31), 105],
    [Date.UTC(2020, 1, 1), 110],
    [Date.UTC(2020, 1, 2), 121],
    [Date.UTC(2020, 2, 1), 99],
  ];
  const time = Float64Array.from(points, ([at]) => at);
  const equity = Float64Array.from(points, ([, value]) => value);
  const months = monthReturns({ time, equity });
  expect(months.map(({ year, month, value }) => `${year} ${month} ${value.toFixed(6)}`)).toEqual([
    '2020 0 0.100000',
    '2020 1 -0.100000',
  ]);
});

test('drawdowns end with the last fill, unless a position is held after it', () => {
  const days = (held: number) => {
    const values = Float64Array.of(100, 99, 99, 99);
    return {
      time: Float64Array.of(1, 2, 3, 4),
      equity: values,
      buyAndHold: values,
      drawdown: values,
      exposure: values.map(() => held),
    };
  };
  const until = (held: number) => [
    ...tradedDays({ days: days(held), table: { time: Float64Array.of(0.5, 1.5) } }).time,
  ];
  expect([until(0.0005), until(0.5)]).toEqual([
    [1, 2],
    [1, 2, 3, 4],
  ]);
});

test('a drawdown is labelled with the days that closed, and its peak at the start with that day', () => {
  const time = Float64Array.from([0, 1, 2, 3], (day) => Date.UTC(2026, 2, 29 + day));
  const equity = Float64Array.of(100, 95, 97, 90);
  const days = { time, equity, buyAndHold: equity, drawdown: equity.map((value) => value / 100 - 1), exposure: equity };
  const text = JSON.stringify(drawdownTable({ days, table: { time } as Parameters<typeof drawdownTable>[0]['table'] }));
  expect(text.match(/2026-\d\d-\d\d/g)).toEqual(['2026-03-29', '2026-03-31']);
});

test('the steps of an axis are round, zero included', () => {
  expect(roundSteps(-0.03, 0.02, 5).map(percentLabel)).toEqual(['-3 %', '-2 %', '-1 %', '0 %', '1 %', '2 %']);
});
