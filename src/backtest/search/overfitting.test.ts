import { expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import type { Ran } from './outcome.ts';
import { overfittingOf, overfittingTexts } from './overfitting.ts';

const days = 200;
const noise = (seed: number, shift = 0): number[] => {
  const rng = seededRng(seed);
  return Array.from({ length: days }, () => (rng() + rng() + rng() - 1.5 + shift) / 50);
};
const ran = (returns: readonly number[] | null): Ran => ({
  ...{
    finalEquity: '1',
    return: 0,
    maxDrawdown: 0,
    sharpe: null,
    sortino: null,
    calmar: null,
    fills: 1,
    roundTrips: 30,
    fees: '0',
    kills: [],
    returns,
  },
});
const hold = Float64Array.from(noise(99));
const textOf = (outcomes: readonly (Ran | { readonly refused: string } | undefined)[]): string => {
  const doubt = overfittingOf(hold, outcomes);
  return overfittingTexts(doubt).flat().join(' ');
};

test('sets without an edge: the best in-sample is nothing out-of-sample, and not shown to be better than buy & hold', () => {
  const outcomes = [...Array(40).keys()].map((seed) => ran(noise(seed + 1)));
  const doubt = overfittingOf(hold, outcomes);
  expect(doubt).toMatchObject({ days: 200, splits: 12_870 });
  expect(doubt?.pbo).toBeGreaterThan(0.2);
  expect(doubt?.spa?.consistent).toBeGreaterThan(0.05);
  expect(textOf(outcomes)).toMatch(
    /PBO 0\.\d\d \(limit 0\.2\): in [\d.]+ % of 12,870 splits of the 200 days the best set .* not shown to be better: SPA p-value 0\.\d\d /,
  );
});

test('sets that do the same are one trial together', () => {
  const same = [...Array(20).keys()].map(() => ran(noise(5)));
  expect(overfittingOf(hold, same)?.independent?.count).toBeCloseTo(1, 6);
  expect(textOf(same)).toMatch(
    /Independent 20 parameter sets count as 1\.0 independent trials: the mean correlation of their daily returns is 1\.00\. The tests use all of them$/,
  );
  expect(textOf([...Array(20).keys()].map((seed) => ran(noise(seed + 1))))).toMatch(
    /count as (19|20)\.\d independent trials/,
  );
});

test('one set with an edge among them is seen by both', () => {
  const outcomes = [...[...Array(40).keys()].map((seed) => ran(noise(seed + 1))), ran(noise(77, 0.5))];
  const doubt = overfittingOf(hold, outcomes);
  expect(doubt?.pbo).toBeLessThan(0.05);
  expect(doubt?.spa?.consistent).toBeLessThan(0.01);
  expect(textOf(outcomes)).toMatch(/Against buy & hold better: /);
});

test('sets that were refused, ruined, not run or not ranked are left out; too few days or sets say nothing', () => {
  const few = { ...ran(noise(77, 0.5)), roundTrips: 29 };
  const rest = [undefined, { refused: 'why' }, ran(noise(3).slice(0, 50)), few];
  const whole = [...Array(10).keys()].map((seed) => ran(noise(seed + 1)));
  expect(overfittingOf(hold, [...whole, ...rest])).toEqual(overfittingOf(hold, whole));
  expect(overfittingOf(hold.subarray(0, 20), [ran(noise(1).slice(0, 20)), ran(noise(2).slice(0, 20))])).toMatchObject({
    pbo: null,
    spa: null,
  });
  expect(textOf([ran(noise(1))])).toMatch(/Overfit n\/a/);
  expect(overfittingOf(hold, [ran(null)])).toBeUndefined();
});

test('a grid with some sets saved without their returns is not judged by the others', () => {
  const some = [...Array(6).keys()].map((seed) => ran(noise(seed + 1)));
  expect(overfittingOf(hold, some)).toBeDefined();
  expect(overfittingOf(hold, [...some, ran(null)])).toBeUndefined();
  expect(textOf([...some, ran(null)])).toMatch(
    /^Overfit n\/a {2}\(more than 4,000,000 daily returns: use a smaller grid\)/,
  );
});
