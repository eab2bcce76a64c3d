import { describe, expect, test } from 'vitest';
import { seededRng } from './clock.ts';
import { SimClock } from './sim-clock.ts';

/** A clock that notes what fires and when. */
function noting(): { clock: SimClock; log: string[]; readonly note: (time: number, name: string) => () => void } {
  const clock = new SimClock(0);
  const log: string[] = [];
  return { clock, log, note: (time, name) => clock.at(time, () => log.push(`${name}@${clock.now()}`)) };
}

describe('simulated time', () => {
  test('fires events in the order of their times, each at its own time', async () => {
    const { clock, log, note } = noting();
    note(30, 'c');
    note(10, 'a');
    note(20, 'b');
    await clock.advanceTo(25);
    expect(log).toEqual(['a@10', 'b@20']);
    expect(clock.now()).toBe(25);
    await clock.advanceTo(30);
    expect(log).toEqual(['a@10', 'b@20', 'c@30']);
  });

  test('fires events of one time in the order they were asked for', async () => {
    const { clock, log, note } = noting();
    for (const name of 'abcdefgh') note(5, name);
    await clock.advanceTo(5);
    expect(log).toEqual('abcdefgh'.split('').map((name) => `${name}@5`));
  });

  test('fires a thousand events in order whatever order they were asked for in', async () => {
    const clock = new SimClock(0);
    const rng = seededRng(1);
    const times = Array.from({ length: 1_000 }, () => Math.floor(rng() * 300));
    const fired: [number, number][] = [];
    for (const [order, time] of times.entries()) clock.at(time, () => fired.push([clock.now(), order]));
    await clock.advanceTo(300);
    const sorted = times.map((time, order) => [time, order]).sort(([a = 0, i = 0], [b = 0, j = 0]) => a - b || i - j);
    expect(fired).toEqual(sorted);
  });

  test('fires what an event asks for within the same advance', async () => {
    const { clock, log, note } = noting();
    clock.at(10, () => {
      note(10, 'now');
      note(15, 'soon');
    });
    note(12, 'between');
    await clock.advanceTo(20);
    expect(log).toEqual(['now@10', 'between@12', 'soon@15']);
  });

  test('fires what was due in the past at once and never steps back', async () => {
    const { clock, log, note } = noting();
    await clock.advanceTo(100);
    note(50, 'late');
    await clock.advanceTo(100);
    expect(log).toEqual(['late@100']);
    await clock.advanceTo(10);
    expect(clock.now()).toBe(100);
  });

  test('does not fire what was cancelled', async () => {
    const { clock, log, note } = noting();
    const cancel = note(10, 'a');
    note(20, 'b');
    cancel();
    await clock.advanceTo(30);
    expect(log).toEqual(['b@20']);
  });

  test('stands still until tracked work has done what it can without time', async () => {
    const clock = new SimClock(0);
    const seen: number[] = [];
    clock.at(1_000, () => {
      void clock.track(
        (async () => {
          for (let step = 0; step < 20; step++) await Promise.resolve();
          seen.push(clock.now());
        })(),
      );
    });
    clock.at(60_000, () => seen.push(clock.now()));
    await clock.advanceTo(60_000);
    expect(seen).toEqual([1_000, 60_000]);
    expect(clock.busy).toBe(false);
  });

  test('wakes tracked sleepers at their times, not at the end of the advance', async () => {
    const clock = new SimClock(0);
    const woken: number[] = [];
    void clock.track(
      (async () => {
        for (let step = 0; step < 5; step++) {
          await clock.sleep(100);
          woken.push(clock.now());
        }
      })(),
    );
    expect(clock.busy).toBe(true);
    await clock.advanceTo(10_000);
    expect(woken).toEqual([100, 200, 300, 400, 500]);
  });

  test('is no longer busy when tracked work failed', async () => {
    const clock = new SimClock(0);
    await expect(clock.track(Promise.reject(new Error('bad')))).rejects.toThrow('bad');
    expect(clock.busy).toBe(false);
  });

  test('knows what is due, and skips only forward', () => {
    const { clock, note } = noting();
    note(10, 'a');
    expect(clock.dueBy(9)).toBe(false);
    expect(clock.dueBy(10)).toBe(true);
    clock.skipTo(9);
    clock.skipTo(5);
    expect(clock.now()).toBe(9);
    expect(clock.machine(7)).toBe(7);
  });

  test('settles every promise before it goes on also where most turns go past the event loop', async () => {
    const clock = new SimClock(0, { turnsPerLoop: 8 });
    const log: string[] = [];
    void clock.track(new Promise(() => {}));
    for (const time of Array.from({ length: 20 }, (_, index) => index))
      clock.at(time, () => {
        let long = Promise.resolve();
        for (let link = 0; link < 50; link++) long = long.then(() => {});
        void long.then(() => log.push(`${time}@${clock.now()}`));
      });
    let loops = 0;
    const looping = setImmediate(function again() {
      loops++;
      if (loops < 100) setImmediate(again);
    });
    await clock.advanceTo(20);
    clearImmediate(looping);
    expect(log).toEqual(Array.from({ length: 20 }, (_, time) => `${time}@${time}`));
    // Twenty-one turns, of which the 8th and the 16th asked the system.
    expect(loops).toBe(2);
  });
});
