/** Published numbers: Bailey and López de Prado's papers, pypbo and rubenbriones' tests. */
import { expect, test } from 'vitest';
import {
  deflatedSharpe,
  expectedBestSharpe,
  expectedLargest,
  minBacktestYears,
  minTrackRecord,
  normalShape,
  probabilisticSharpe,
  sharpeStandardError,
} from './deflated-sharpe.ts';
import { normalQuantile, normalShare } from './normal.ts';

test('the normal distribution to twelve digits', () => {
  expect(normalShare(1.959963984540054)).toBeCloseTo(0.975, 14);
  expect(normalShare(-6) / 9.865876450376946e-10).toBeCloseTo(1, 9);
  expect(normalShare(2.9)).toBeCloseTo(0.998134186699616, 13);
  for (const share of [1e-9, 0.001, 0.05, 0.3, 0.5, 0.84, 0.975, 0.999_999])
    expect(normalShare(normalQuantile(share)) / share).toBeCloseTo(1, 11);
  expect([normalQuantile(0), normalQuantile(1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
});

test('the largest of N draws', () => {
  expect(expectedLargest(100)).toBeCloseTo(2.5306028932, 9);
  expect(expectedLargest(10)).toBeCloseTo(1.5746, 4);
});

const shape = { skewness: -2.448, kurtosis: 10.164 };
test('PSR of the Sharpe Ratio Efficient Frontier', () => {
  expect(probabilisticSharpe(0.458, 24, shape)).toBeCloseTo(0.913, 3);
  expect(probabilisticSharpe(0.458, 24, normalShape)).toBeCloseTo(0.982, 3);
  expect(probabilisticSharpe(1.585 / Math.sqrt(12), 24, shape)).toBeCloseTo(0.91323430688, 10);
});

test.for([
  [{ skewness: -0.225, kurtosis: 2.957 }, 0.7079, 0.1028, 0.7152],
  [{ skewness: -1.4455, kurtosis: 7.0497 }, 0.8183, 0.155, 1.1593],
] as const)('deviation of a ratio and the shortest track record %#', ([of, ratio, deviation, years]) => {
  expect(sharpeStandardError(ratio, 134, of)).toBeCloseTo(deviation, 4);
  expect((minTrackRecord(ratio, of) ?? 0) / 12).toBeCloseTo(years, 3);
});

test('the deflated Sharpe ratio of its paper', () => {
  const ratio = 2.5 / Math.sqrt(250);
  const skewed = { skewness: -3, kurtosis: 10 };
  const variance = 0.5 / 250;
  expect(expectedBestSharpe(variance, 100)).toBeCloseTo(0.1132, 4);
  expect(deflatedSharpe(ratio, 1_250, skewed, { variance, trials: 100 })).toBeCloseTo(0.900396834, 8);
  expect(deflatedSharpe(ratio, 1_250, skewed, { variance, trials: 46 })).toBeCloseTo(0.9505, 4);
  expect(deflatedSharpe(ratio, 1_250, normalShape, { variance, trials: 88 })).toBeCloseTo(0.9505, 4);
});

test('the shortest backtest that 45 tries deserve', () => {
  expect(minBacktestYears(45)).toBeCloseTo(4.998087, 5);
});

test('says nothing where moments allow no deviation', () => {
  const impossible = { skewness: 9, kurtosis: 1 };
  expect(sharpeStandardError(1, 100, impossible)).toBeUndefined();
  expect(probabilisticSharpe(1, 100, impossible)).toBeUndefined();
  expect(minTrackRecord(-0.1, normalShape)).toBeUndefined();
  expect([expectedBestSharpe(1, 1), minBacktestYears(1)]).toEqual([0, 0]);
});
