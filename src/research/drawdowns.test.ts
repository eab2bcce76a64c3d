import { expect, test } from 'vitest';
import { largestDrawdowns, rollingSharpe } from './drawdowns.ts';

const dayMs = 86_400_000;
const curve = (equity: readonly number[], fall: readonly number[] = equity.map(() => 0)) => ({
  time: Float64Array.from(equity, (_, day) => day * dayMs),
  equity: Float64Array.from(equity),
  buyAndHold: Float64Array.from(equity),
  drawdown: Float64Array.from(fall),
  exposure: new Float64Array(equity.length),
});

test('a drawdown lasts from its peak to the day that reaches it again, and is as deep as at any kline', () => {
  const days = curve([100, 90, 95, 100, 110, 99, 104], [0, -0.12, -0.05, 0, 0, -0.1, -0.2]);
  expect(largestDrawdowns(days, 8)).toEqual([
    { peakTime: 4 * dayMs, lowTime: 6 * dayMs, recoveryTime: undefined, fall: -0.2 },
    { peakTime: 0, lowTime: dayMs, recoveryTime: 3 * dayMs, fall: -0.12 },
  ]);
  expect(largestDrawdowns(days, 1)).toHaveLength(1);
  expect(largestDrawdowns(curve([100, 101, 102]), 8)).toEqual([]);
  expect(largestDrawdowns(curve([100, 100 - 1e-13, 99.999], [0, -1e-15, -1e-5]), 8)).toEqual([]);
});

test('the rolling Sharpe ratio is that of the returns in its window, at the day on which the window ends', () => {
  const days = curve([100, 101, 100, 102, 102, 102]);
  const rolling = rollingSharpe(days, 2);
  expect([...(rolling?.time ?? [])]).toEqual([2, 3, 4, 5].map((day) => day * dayMs));
  // Returns of 1 % and -0.990099 %.
  const [a, b] = [0.01, 100 / 101 - 1];
  const mean = (a + b) / 2;
  const spread = Math.sqrt((a - mean) ** 2 + (b - mean) ** 2);
  expect(rolling?.values[0]).toBeCloseTo((mean / spread) * Math.sqrt(365), 10);
  expect(rolling?.values[3]).toBe(0);
  expect(rollingSharpe(days, 5)).toBeUndefined();
});
