import { expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { mean } from '../sample-moments.ts';
import { overfitting } from './overfitting.ts';

const noise = (tries: number, rows: number, seed: number): number[][] => {
  const rng = seededRng(seed);
  return Array.from({ length: tries }, () =>
    Array.from({ length: rows }, () => rng() + rng() + rng() + rng() + rng() + rng() - 3),
  );
};

test('an exact small case, which pypbo gives as well', () => {
  const rows = [
    [0, 1, 3, 1],
    [1, 2, -3, 3],
    [2, -3, 3, -1],
    [-3, 2, 4, 2],
    [2, 1, 4, -3],
    [-3, -3, 2, 1],
    [4, 1, 2, -1],
    [2, -1, 2, 2],
  ];
  const columns = [0, 1, 2, 3].map((column) => rows.map((row) => row[column] ?? 0));
  const found = overfitting(columns, 4);
  expect(found?.probability).toBeCloseTo(1 / 3, 12);
  expect(found?.logits.toSorted((a, b) => a - b).map((logit) => logit.toFixed(6))).toEqual([
    '-0.405465',
    '-0.405465',
    ...Array<string>(4).fill('1.386294'),
  ]);
  expect(found?.lossProbability).toBeCloseTo(1 / 6, 12);
});

test('equal tries say nothing either way: the best of one half is in the middle of the other', () => {
  const [column = []] = noise(1, 32, 5);
  for (const count of [2, 3, 8]) {
    const { logits = [] } = overfitting(Array<number[]>(count).fill(column), 4) ?? {};
    expect(logits.map((logit) => logit.toFixed(12).replace('-', ''))).toEqual(Array(6).fill('0.000000000000'));
  }
});

test('columns of one mean: what is best in one half is worst in the other', () => {
  const centred = noise(12, 160, 3).map((column) => {
    const at = mean(column);
    return column.map((value) => value - at);
  });
  expect(overfitting(centred, 8)?.probability).toBe(1);
});

test('columns of which each beats the next everywhere are not overfitted', () => {
  const columns = [0, 1, 2, 3].map((worse) => Array.from({ length: 64 }, (_, row) => Math.sin(row) - worse));
  expect(overfitting(columns, 8)?.probability).toBe(0);
});

test('noise lies about a half, an edge near nothing', () => {
  const columns = noise(30, 480, 11);
  const found = overfitting(columns, 8)?.probability ?? Number.NaN;
  expect(found).toBeGreaterThan(0.15);
  expect(found).toBeLessThan(0.85);
  const edged = columns.map((column, index) => (index === 7 ? column.map((value) => value + 0.5) : column));
  expect(overfitting(edged, 8)?.probability).toBeLessThan(0.02);
});

test('judged by the ratio, a try that earns a little surely goes before one that earns more by chance', () => {
  const sure = Array.from({ length: 64 }, (_, row) => 0.1 + 0.01 * Math.sin(7 * row));
  const [wild = []] = noise(1, 64, 5).map((column) => column.map((value) => 3 * value + 0.15));
  expect(overfitting([sure, wild, ...noise(3, 64, 9)], 8, 'sharpe')?.probability).toBe(0);
  expect(overfitting([sure, wild, ...noise(3, 64, 9)], 8, 'mean')?.probability).toBeGreaterThan(0);
});

test('two hundred tries of noise over a thousand days in sixteen blocks', () => {
  const found = overfitting(noise(200, 1_000, 2), 16, 'sharpe')?.probability ?? Number.NaN;
  expect(found).toBeGreaterThan(0.476 - 3 * 0.137);
  expect(found).toBeLessThan(0.476 + 3 * 0.137);
});

test('refuses what cannot be halved and says nothing of too little', () => {
  expect(() => overfitting(noise(3, 30, 1), 5)).toThrow(/even/);
  expect(overfitting(noise(1, 30, 1), 4)).toBeUndefined();
  expect(overfitting(noise(3, 3, 1), 4)).toBeUndefined();
});
