import { describe, expect, test } from 'vitest';
import { SimClock } from '../../clock/sim-clock.ts';
import { Halts } from '../../execution/halt.ts';
import type { Notice } from '../../journal/entries.ts';
import { failed, ok } from '../../venue/venue.ts';
import { health } from './health.ts';

function watched() {
  const clock = new SimClock(0);
  void clock.track(new Promise(() => {}));
  const halts = new Halts({ clock, journal: { append: () => {} }, standing: [] });
  const state = { now: 0, bytes: 0, seen: [undefined] as (string | undefined)[], timeFails: 0, looks: 0 };
  const notices: Notice[] = [];
  const errors: Error[] = [];
  const look = health({
    clock,
    halts,
    syncTime: () => Promise.resolve(state.timeFails-- > 0 ? failed('no answer') : ok(0)),
    sweepAll() {
      state.looks++;
      return Promise.resolve(state.seen.length > 1 ? state.seen.shift() : state.seen[0]);
    },
    notice: (notice) => notices.push(notice),
    fatal: (error) => errors.push(error),
    steady: () => state.now,
    memoryBytes: () => state.bytes,
  });
  return { clock, halts, state, notices, errors, look };
}

describe('a process that stood still', () => {
  test('creates nothing from its first moment on, until the time and every symbol were seen again', async () => {
    const { clock, halts, state, notices, look } = watched();
    look();
    state.now = 30_000;
    // Nobody has looked yet, and an order may not leave already.
    expect(halts.against()).toContain('was blocked for 29 s');
    state.timeFails = 1;
    state.seen = ['BTCUSDT: open orders: no answer', undefined];
    look();
    state.now = 30_500;
    expect(halts.against()).toContain('was blocked');
    await clock.advanceTo(2_500);
    expect(halts.against()).toContain('was blocked');
    await clock.advanceTo(10_000);
    expect(halts.against()).toBeUndefined();
    expect(state.looks).toBe(2);
    expect(notices.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('is not one that was a little late', () => {
    const { halts, state, look } = watched();
    for (const at of [0, 1_000, 3_900, 5_000]) {
      state.now = at;
      expect(halts.against()).toBeUndefined();
      look();
    }
  });
});

test('a process that holds too much memory ends', () => {
  const { state, errors, look } = watched();
  state.bytes = 500 * 1024 ** 2;
  look();
  expect(errors).toEqual([]);
  state.bytes = 3 * 1024 ** 3;
  look();
  expect(errors[0]?.message).toContain('3072 MiB');
});
