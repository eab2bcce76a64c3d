import { describe, expect, test, vi } from 'vitest';
import { ScaledClock, seededRng } from './clock.ts';

describe('a scaled clock', () => {
  test('runs at its speed from its epoch', () => {
    vi.useFakeTimers();
    try {
      const clock = new ScaledClock(60, 1_000_000);
      vi.advanceTimersByTime(1_500);
      expect(clock.now()).toBe(1_090_000);
      expect(clock.machine(100)).toBe(6_000);
    } finally {
      vi.useRealTimers();
    }
  });

  test('goes on at its speed from a time it is set to; monotonic time does not jump with it', () => {
    vi.useFakeTimers();
    try {
      const clock = new ScaledClock(10, 500_000);
      const steady = clock.monotonic();
      clock.set(1_000);
      vi.advanceTimersByTime(100);
      expect(clock.now()).toBe(2_000);
      expect(clock.monotonic() - steady).toBe(1_000);
    } finally {
      vi.useRealTimers();
    }
  });

  test('waits in its own milliseconds', async () => {
    vi.useFakeTimers();
    try {
      const clock = new ScaledClock(60, 0);
      const fired: string[] = [];
      void clock.sleep(6_000).then(() => fired.push('slept'));
      clock.at(12_000, () => fired.push('at'));
      const cancel = clock.at(12_000, () => fired.push('cancelled'));
      cancel();
      await vi.advanceTimersByTimeAsync(99);
      expect(fired).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(fired).toEqual(['slept']);
      await vi.advanceTimersByTimeAsync(100);
      expect(fired).toEqual(['slept', 'at']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('waits longer than one timer of Node can', async () => {
    vi.useFakeTimers();
    try {
      const clock = new ScaledClock(1, 0);
      const days = 60 * 86_400_000;
      const fired: number[] = [];
      clock.at(days, () => fired.push(clock.now()));
      await vi.advanceTimersByTimeAsync(days - 1_000);
      expect(fired).toEqual([]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(fired.length).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([0, -1, Number.NaN])('cannot run at speed %s', (speed) => {
    expect(() => new ScaledClock(speed)).toThrow(RangeError);
  });
});

test('seeded chance repeats itself, differs by seed and stays within [0, 1)', () => {
  const draws = (seed: number): number[] => Array.from({ length: 1_000 }, seededRng(seed));
  expect(draws(1)).toEqual(draws(1));
  expect(draws(1)).not.toEqual(draws(2));
  expect(draws(3).every((draw) => draw >= 0 && draw < 1)).toBe(true);
  const mean = draws(4).reduce((sum, draw) => sum + draw, 0) / 1_000;
  expect(mean).toBeGreaterThan(0.45);
  expect(mean).toBeLessThan(0.55);
});
