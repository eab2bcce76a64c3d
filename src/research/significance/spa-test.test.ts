import { expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { spaTest } from './spa-test.ts';

const noise = (tries: number, rows: number, seed: number, shift = 0): number[][] => {
  const rng = seededRng(seed);
  return Array.from({ length: tries }, () =>
    Array.from({ length: rows }, () => rng() + rng() + rng() + rng() + rng() + rng() - 3 + shift),
  );
};

test('tries without an advantage: the chance is spread evenly, so that one in twenty is called an advantage by mistake', () => {
  const runs = 200;
  const chances = Array.from(
    { length: runs },
    (_, seed) => spaTest(noise(10, 100, seed + 1), seededRng(7))?.upper ?? 0,
  );
  const below = (level: number): number => chances.filter((chance) => chance < level).length / runs;
  expect(below(0.05)).toBeLessThan(0.12);
  expect(below(0.5)).toBeGreaterThan(0.35);
  expect(below(0.5)).toBeLessThan(0.65);
});

test('one try with an advantage among many is seen', () => {
  const beyond = [...noise(20, 200, 3), ...noise(1, 200, 4, 0.3)];
  expect(spaTest(beyond, seededRng(7))?.consistent).toBeLessThan(0.01);
});

test('plainly worse tries beside it do not hide it, but for the strict count', () => {
  const beyond = [...noise(1, 200, 5, 0.16), ...noise(200, 200, 6, -2)];
  const found = spaTest(beyond, seededRng(7));
  expect(found?.consistent).toBeLessThan(0.05);
  expect(found?.upper).toBeGreaterThan(0.05);
});

test('the three counts are ordered, and the same seed draws the same', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const beyond = [...noise(5, 80, seed), ...noise(5, 80, seed + 100, -0.3)];
    const found = spaTest(beyond, seededRng(1));
    if (found === undefined) throw new Error('nothing was found');
    expect(found.lower).toBeLessThanOrEqual(found.consistent);
    expect(found.consistent).toBeLessThanOrEqual(found.upper);
    expect(spaTest(beyond, seededRng(1))).toEqual(found);
  }
});

test('a run that remembers is not taken for many independent days', () => {
  // Each value stands for ten days: a tenth of what there seems to be.
  const slow = noise(1, 30, 5, 0.12)[0]?.flatMap((value) => new Array<number>(10).fill(value)) ?? [];
  const quick = noise(1, 300, 5, 0.12)[0] ?? [];
  const scaled = slow.map(
    (value) =>
      value -
      slow.reduce((sum, one) => sum + one, 0) / slow.length +
      quick.reduce((sum, one) => sum + one, 0) / quick.length,
  );
  const [remembering, fresh] = [scaled, quick].map((values) => spaTest([values], seededRng(2))?.consistent ?? 0);
  expect(remembering).toBeGreaterThan((fresh ?? 0) + 0.05);
});

test('says nothing of too little, or of tries that are the benchmark itself', () => {
  expect(spaTest(noise(3, 20, 1), seededRng(1))).toBeUndefined();
  expect(spaTest([new Array<number>(50).fill(0)], seededRng(1))).toBeUndefined();
  expect(spaTest([], seededRng(1))).toBeUndefined();
});

test('tries that are all worse than holding are none of them better', () => {
  for (const shift of [-0.01, -0.5, -2]) {
    const found = spaTest(
      noise(4, 200, 9, shift).map((values) => values.map((value) => value - Math.max(0, mean(values)))),
      seededRng(3),
    );
    expect(found).toEqual({ lower: 1, consistent: 1, upper: 1 });
  }
});

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
