import { expect, test } from 'vitest';
import { systemClock } from '../clock/clock.ts';
import { pacedByTime, paceText, showPace } from './progress.ts';

test('asks once in many steps, and never where nobody listens', async () => {
  const told: (readonly [number, number])[] = [];
  const span = { start: 0, end: 10_000, of: 10_000 };
  const step = pacedByTime(async (done, of) => {
    told.push([done, of]);
    return done > 5_000;
  }, span);
  const answers = Array.from({ length: 10_000 }, (_, index) => step(index + 1)).filter(
    (answer) => answer !== undefined,
  );
  expect(await Promise.all(answers)).toEqual([false, true]);
  expect(told).toEqual([
    [4_096, 10_000],
    [8_192, 10_000],
  ]);
  const silent = pacedByTime(undefined, span);
  expect(Array.from({ length: 10_000 }, (_, index) => silent(index)).every((answer) => answer === undefined)).toBe(
    true,
  );
});

test('says how far it is, how fast, and how long it will take', () => {
  expect(paceText(1_200_000, 2_400_000, 1_000)).toBe('50 %, 1.2 M klines/s, 1 s left');
  expect(paceText(100, 100_000, 1_000)).toBe('0 %, 100 klines/s, 17 min left');
});

test('draws nothing of a short run', async () => {
  const drawn: string[] = [];
  const shown = showPace('x', { clock: systemClock, signal: undefined, draw: (text) => drawn.push(text) });
  expect(await shown.pace(1, 2)).toBe(false);
  shown.end();
  expect(drawn).toEqual([]);
});

test('of events it tells how many klines their time is worth', async () => {
  const told: number[] = [];
  const tell = pacedByTime(
    async (done) => {
      told.push(done);
      return false;
    },
    { start: 1_000, end: 3_000, of: 500 },
  );
  for (let event = 0; event < 8_192; event++) await tell(event < 4_096 ? 1_000 : 2_000);
  expect(told).toEqual([0, 250]);
});
