import { expect, test } from 'vitest';
import { monthReturns } from './curves.ts';

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
