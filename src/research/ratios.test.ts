/** Published numbers of others, from their own tests and books ("External oracles"). */
import { expect, test } from 'vitest';
import {
  downsideDeviation,
  drawdowns,
  omega,
  regression,
  sharpe,
  sortino,
  tails,
  ulcerIndex,
  volatility,
  yearlyReturn,
} from './ratios.ts';
import { ascending, kurtosis, mean, quantile, skewness, sum } from './sample-moments.ts';

const percent = (...values: readonly number[]): number[] => values.map((value) => value / 100);
/** Bacon, "Practical Portfolio Performance", as PerformanceAnalytics ships it. */
const bacon = percent(
  ...[0.3, 2.6, 1.1, -1, 1.5, 2.5, 1.6, 6.7, -1.4, 4, -0.5, 8.1],
  ...[4, -3.7, -6.1, 1.7, -4.9, -2.2, 7, 5.8, -6.5, 2.4, -0.5, -0.9],
);
const empyrical = percent(1, 10, -4, 2, 3, 2, 1, -10);

/** The value of 1 after each return. */
function grown(returns: readonly number[]): number[] {
  const values = [1];
  for (const one of returns) values.push((values.at(-1) ?? 0) * (1 + one));
  return values;
}

test("the 24 months of Bacon's book", () => {
  const falls = drawdowns(grown(bacon)).subarray(1);
  expect(downsideDeviation(bacon, 0.005)).toBeCloseTo(0.0255, 4);
  expect((omega(bacon, 0.005) ?? 0) - 1).toBeCloseTo(0.29, 2);
  expect(omega(bacon)).toBeCloseTo(1.78, 2);
  expect(-mean(falls)).toBeCloseTo(0.04, 2);
  const yearly = yearlyReturn(grown(bacon).at(-1) ?? 0, 24, 12) ?? 0;
  expect(yearly / ulcerIndex(falls)).toBeCloseTo(1.6945, 2);
});

test("empyrical's series, at its 252 periods and at our 365", () => {
  expect(sharpe(empyrical, 252)).toBeCloseTo(1.723861396, 8);
  expect(sortino(empyrical, 252)).toBeCloseTo(2.605531252, 8);
  expect(sharpe(empyrical)).toBeCloseTo(2.074667511, 8);
  expect(sortino(empyrical)).toBeCloseTo(3.135757347, 8);
  expect(Math.min(...drawdowns(grown(empyrical)))).toBeCloseTo(-0.1, 12);
});

test("pypbo's Omega and Sortino", () => {
  const twelve = [0.0089, 0.0012, -0.002, 0.01, -0.0002, 0.02, 0.03, 0.01, -0.003, 0.01, 0.0102, -0.01];
  expect(omega(twelve, 0.01)).toBeCloseTo(0.463901689, 8);
  expect(sortino([0.17, 0.15, 0.23, -0.05, 0.12, 0.09, 0.13, -0.04], 1)).toBeCloseTo(4.417261, 6);
});

test('gives nothing in place of infinity and NaN', () => {
  const same = [0.01, 0.01, 0.01];
  expect([sharpe(same), sharpe([]), sharpe([1])]).toEqual([undefined, undefined, undefined]);
  expect([sortino(same), sortino([])]).toEqual([undefined, undefined]);
  expect([omega(same), omega([])]).toEqual([undefined, undefined]);
  expect([volatility([0.1]), tails([]), yearlyReturn(-0.2, 10), yearlyReturn(1, 0)]).toEqual(Array(4).fill(undefined));
  expect([
    regression(
      bacon,
      bacon.map(() => 0.01),
    ),
    regression(bacon, [1]),
  ]).toEqual([undefined, undefined]);
  expect([skewness(same), kurtosis(same)]).toEqual([undefined, undefined]);
  // A tenth has no exact double: what its rounding leaves is no variance.
  expect(sharpe(Array<number>(1_000).fill(0.1))).toBeUndefined();
});

test('reads tails and moments as numpy does', () => {
  const values = [5, 1, 4, 2, 3];
  expect(quantile(ascending(values), 0.05)).toBeCloseTo(1.2, 12);
  expect(tails(values)).toEqual({
    valueAtRisk: expect.closeTo(1.2, 12),
    conditional: 1,
    ratio: expect.closeTo(4.8 / 1.2, 12),
  });
  // The percentile is the second of 21 values, which counts among the worst.
  const steps = Array.from({ length: 21 }, (_, value) => value);
  expect(tails(steps)).toMatchObject({ valueAtRisk: 1, conditional: 0.5 });
  expect(skewness([1, 2, 6])).toBeCloseTo(0.5951700641394974, 12);
  expect(kurtosis([1, 2, 6])).toBeCloseTo(1.5, 12);
  expect(sum([1e16, 1, 1, -1e16])).toBe(2);
});

test('finds the line that a series lies on', () => {
  const line = regression(
    bacon.map((value) => 0.001 + 0.5 * value),
    bacon,
  );
  expect(line?.alpha).toBeCloseTo(0.001, 12);
  expect(line?.beta).toBeCloseTo(0.5, 12);
});
