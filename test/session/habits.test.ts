/** The whole program on both profiles, and with the habits that could cost money alone; `npm run habits` tries every one. */
import { expect, test } from 'vitest';
import { type HabitCase, habitCases, liveWith, profiles, titleOf } from '../kit/habit-run.ts';

const alone: readonly HabitCase[] = [
  { profile: 'documented', habits: { lostCreateEvery: 3 } },
  { profile: 'documented', habits: { clientId: 'null' } },
  { profile: 'documented', habits: { clientId: 'null' }, life: 'dedicated' },
  { profile: 'observed', habits: { clientId: 'null' }, life: 'margin' },
  { profile: 'documented', habits: { orderId: 'list' } },
  { profile: 'documented', habits: { emptyLists: 'bare null' } },
  { profile: 'documented', habits: { signedPath: 'stripped' } },
  { profile: 'observed', habits: {}, life: 'margin' },
];

test.for(
  [...profiles.map((profile): HabitCase => ({ profile, habits: {} })), ...alone].map(
    (one) => [titleOf(one), one] as const,
  ),
)('a daemon trades, loses an answer, cancels, dies and goes on: %s', async ([, one]) => {
  expect(await liveWith(one)).toEqual([]);
});

test('batches come through with every habit alone', async () => {
  for (const profile of profiles)
    for (const one of [{ profile, habits: {} }, ...habitCases(profile)])
      expect([titleOf(one), await liveWith({ ...one, life: 'batch' })]).toEqual([titleOf(one), []]);
});

test('the whole matrix has every habit, in every position but the own one of a profile', () => {
  for (const profile of profiles) {
    const titles = habitCases(profile).map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
    expect(titles.length).toBeGreaterThan(40);
  }
  expect(habitCases('observed').map(titleOf)).toContain('observed, cancel: "at once"');
});
