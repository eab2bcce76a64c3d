import { expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { effectiveTrials } from './effective-trials.ts';

const noise = (seed: number): number[] => {
  const rng = seededRng(seed);
  return Array.from({ length: 400 }, () => rng() - 0.5);
};
const seeds = Array.from({ length: 50 }, (_, index) => index + 1);

test('the same try again and again is one', () => {
  const found = effectiveTrials(seeds.map(() => noise(1)));
  expect(found?.count).toBeCloseTo(1, 9);
  expect(found?.correlation).toBeCloseTo(1, 9);
});

test('tries that have nothing in common count nearly all', () => {
  expect(effectiveTrials(seeds.map(noise))?.count).toBeGreaterThan(48);
});

test('half of a return in common makes a fifth of the variance common and leaves four fifths of the tries', () => {
  const market = noise(99);
  const found = effectiveTrials(
    seeds.map((seed) => noise(seed).map((own, day) => own + 0.5 * (market[day] as number))),
  );
  // 0.25 of 1.25 is common: 0.2 + 0.8 × 50.
  expect(found?.correlation).toBeCloseTo(0.2, 1);
  expect(found?.count).toBeCloseTo(40, -1);
});

test('the mean of all pairs is what it is by looking at each', () => {
  const [a, b, c] = [
    [1, 2, 4, 3],
    [2, 1, 3, 5],
    [1, 1, 0, 2],
  ] as const;
  const pair = (x: readonly number[], y: readonly number[]): number => {
    const from = (of: readonly number[]) => of.map((one) => one - of.reduce((sum, each) => sum + each, 0) / of.length);
    const dot = (p: readonly number[], q: readonly number[]) =>
      p.reduce((sum, one, at) => sum + one * (q[at] as number), 0);
    const [p, q] = [from(x), from(y)];
    return dot(p, q) / Math.sqrt(dot(p, p) * dot(q, q));
  };
  const mean = (pair(a, b) + pair(a, c) + pair(b, c)) / 3;
  expect(effectiveTrials([a, b, c])).toEqual({
    correlation: expect.closeTo(mean, 12),
    count: expect.closeTo(mean + (1 - mean) * 3, 12),
  });
});

test('tries that mirror one another count whole, and what never moved is none', () => {
  const one = noise(1);
  expect(effectiveTrials([one, one.map((value) => -value)])?.count).toBe(2);
  expect(effectiveTrials([one, one.map(() => 0)])).toBeUndefined();
});
