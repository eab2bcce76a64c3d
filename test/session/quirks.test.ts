/** The whole program on both profiles, and with the quirks that could cost money alone; `npm run quirks` tries every one. */
import { expect, test } from 'vitest';
import { liveWith, profiles, type QuirkCase, quirkCases, titleOf } from '../kit/quirk-run.ts';

const alone: readonly QuirkCase[] = [
  { profile: 'documented', quirks: { lostCreateEvery: 3 } },
  { profile: 'documented', quirks: { clientId: 'null' } },
  { profile: 'documented', quirks: { clientId: 'null' }, life: 'dedicated' },
  { profile: 'observed', quirks: { clientId: 'null' }, life: 'margin' },
  { profile: 'documented', quirks: { orderId: 'list' } },
  { profile: 'documented', quirks: { emptyLists: 'bare null' } },
  { profile: 'documented', quirks: { signedPath: 'stripped' } },
  { profile: 'observed', quirks: {}, life: 'margin' },
];

test.for(
  [...profiles.map((profile): QuirkCase => ({ profile, quirks: {} })), ...alone].map(
    (one) => [titleOf(one), one] as const,
  ),
)('a daemon trades, loses an answer, cancels, dies and goes on: %s', async ([, one]) => {
  expect(await liveWith(one)).toEqual([]);
});

test('batches come through with every quirk alone', async () => {
  for (const profile of profiles)
    for (const one of [{ profile, quirks: {} }, ...quirkCases(profile)])
      expect([titleOf(one), await liveWith({ ...one, life: 'batch' })]).toEqual([titleOf(one), []]);
});

test('the whole matrix has every quirk, in every position but the own one of a profile', () => {
  for (const profile of profiles) {
    const titles = quirkCases(profile).map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
    expect(titles.length).toBeGreaterThan(40);
  }
  expect(quirkCases('observed').map(titleOf)).toContain('observed, cancel: "at once"');
});
