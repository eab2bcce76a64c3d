import { expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { sharpe } from '../ratios.ts';
import { blockLengths, sharpeInterval } from './bootstrap.ts';

/** numpy's RandomState(seed).standard_normal: Mersenne Twister and the polar method. */
function numpyNormal(seed: number): () => number {
  const state = new Uint32Array(624);
  state[0] = seed;
  for (let i = 1; i < 624; i++) {
    const before = state[i - 1] as number;
    state[i] = Math.imul(1_812_433_253, before ^ (before >>> 30)) + i;
  }
  let at = 624;
  const twist = (): void => {
    for (let i = 0; i < 624; i++) {
      const mixed = ((state[i] as number) & 0x80000000) | ((state[(i + 1) % 624] as number) & 0x7fffffff);
      state[i] = (state[(i + 397) % 624] as number) ^ (mixed >>> 1) ^ ((mixed & 1) === 0 ? 0 : 0x9908b0df);
    }
    at = 0;
  };
  const draw = (): number => {
    if (at === 624) twist();
    let y = state[at++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  const uniform = (): number => ((draw() >>> 5) * 67_108_864 + (draw() >>> 6)) / 9_007_199_254_740_992;
  let spare: number | undefined;
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    for (;;) {
      const x = 2 * uniform() - 1;
      const y = 2 * uniform() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const factor = Math.sqrt((-2 * Math.log(square)) / square);
      spare = factor * x;
      return factor * y;
    }
  };
}

/** Each value remembers 0.3 of the one before. */
function remembering(count: number, seed: number): Float64Array {
  const normal = numpyNormal(seed);
  const values = Float64Array.from({ length: count + 100 }, normal);
  for (let index = 1; index < values.length; index++)
    values[index] = (values[index] as number) + 0.3 * (values[index - 1] as number);
  return values.slice(100);
}

test("the block lengths of arch's own test", () => {
  const { stationary, circular } = blockLengths(remembering(10_000, 0));
  expect(stationary / 13.635665).toBeCloseTo(1, 4);
  expect(circular / 15.60894).toBeCloseTo(1, 4);
});

test('the interval holds the true ratio about 95 times in a hundred', () => {
  const periods = 365;
  const truth = 0.1 * Math.sqrt(periods);
  let held = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const normal = numpyNormal(seed);
    const found = sharpeInterval(
      Float64Array.from({ length: 300 }, () => normal() + 0.1),
      periods,
      seededRng(seed),
    );
    if (found !== undefined && found.low <= truth && truth <= found.high) held++;
  }
  expect(held).toBeGreaterThanOrEqual(34);
});

test('is wider where returns remember each other than where the same ones are shuffled', () => {
  const returns = remembering(1_000, 5);
  const width = (values: Float64Array): number => {
    const found = sharpeInterval(values, 365, seededRng(1));
    return (found?.high ?? 0) - (found?.low ?? 0);
  };
  const rng = seededRng(9);
  const shuffled = returns.map((value) => value);
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(rng() * (index + 1));
    const value = shuffled[index] as number;
    shuffled[index] = shuffled[other] as number;
    shuffled[other] = value;
  }
  expect(width(returns)).toBeGreaterThan(1.1 * width(shuffled));
});

test('one seed, one interval; too few returns, none', () => {
  const returns = remembering(120, 3);
  const once = sharpeInterval(returns, 365, seededRng(7));
  expect(sharpeInterval(returns, 365, seededRng(7))).toEqual(once);
  expect(once?.low).toBeLessThan(sharpe(returns) ?? Number.NaN);
  expect(once?.high).toBeGreaterThan(sharpe(returns) ?? Number.NaN);
  expect(sharpeInterval(returns.slice(0, 29), 365, seededRng(7))).toBeUndefined();
  expect(sharpeInterval(new Float64Array(60), 365, seededRng(7))).toBeUndefined();
});
