import { describe, expect, test } from 'vitest';
import { beatMs, freshness } from './price-freshness.ts';

/** A clock that is moved by hand; real ms are its ms. */
function context() {
  let now = 1_000_000;
  const fresh = freshness({ now: () => now, monotonic: () => now, machine: (ms) => ms });
  const beat = (times: number): void => {
    for (let beats = 0; beats < times; beats++) {
      now += beatMs;
      fresh.beat();
    }
  };
  const standStill = (ms: number): void => {
    now += ms;
  };
  return { fresh, beat, now: () => now, standStill };
}

describe('prices', () => {
  test('are as fresh as they come in, whatever date they bear', () => {
    const { fresh, beat, now } = context();
    const seen = fresh.line();
    beat(50);
    expect(seen(now() - 3_600_000)).toBe(now());
    expect(seen(now() + 5_000)).toBe(now());
  });

  test('that waited while the process stood still are as old as they say', () => {
    const { fresh, beat, now, standStill } = context();
    const seen = fresh.line();
    beat(3);
    seen(now());
    const before = now();
    standStill(60_000);
    // Read before the timer that beats had its turn, and after it.
    expect(seen(before + 5)).toBe(before + 5);
    fresh.beat();
    expect(seen(before + 10)).toBe(before + 10);
    expect(seen(now() - 20)).toBe(now() - 20);
  });

  test('are corrected by how late such data usually is, also where the exchange dates it by another clock', () => {
    const { fresh, beat, now, standStill } = context();
    const seen = fresh.line();
    beat(3);
    seen(now() - 3_600_000);
    const before = now();
    standStill(30_000);
    fresh.beat();
    expect(seen(before - 3_600_000)).toBe(before);
    expect(seen(now() - 3_600_000)).toBe(now());
    expect(seen(now() + 1)).toBe(now());
  });

  test('are as fresh as they come in again ten seconds later', () => {
    const { fresh, beat, now, standStill } = context();
    const seen = fresh.line();
    standStill(5_000);
    beat(99);
    expect(seen(now() - 700)).toBe(now() - 700);
    beat(2);
    expect(seen(now() - 700)).toBe(now());
  });
});
