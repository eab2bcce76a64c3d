import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import { banKeeper } from './exchange-watch.ts';

test('a ban is reported once, with its end, and so is that requests are taken again; a short stop is not', () => {
  const at = { now: Date.UTC(2026, 0, 5, 12), until: undefined as number | undefined };
  const said: Notice[] = [];
  const remembered: string[] = [];
  const look = banKeeper({
    clock: { now: () => at.now, machine: (ms) => ms * 10 },
    stoppedUntil: () => at.until,
    notice: (notice) => said.push(notice),
    remember: (until) => remembered.push(until),
  });
  at.until = at.now + 19_000;
  look();
  expect(said).toEqual([]);
  at.until = at.now + 120_400;
  look();
  look();
  expect(said).toEqual([
    {
      level: 'error',
      topic: 'banned',
      text: expect.stringMatching(
        /^the exchange forbids requests until 2026-01-05 12:02:01 UTC, stops and cancels included: .* ends by itself$/,
      ),
    },
  ]);
  // Another process of the machine was answered later, or with a longer ban.
  at.until += 19_000;
  look();
  at.until += 41_000;
  look();
  look();
  expect(said.splice(1).map(({ text }) => text)).toEqual([expect.stringContaining(' until 2026-01-05 12:03:01 UTC')]);
  at.until = undefined;
  look();
  look();
  expect(said.slice(1)).toEqual([{ level: 'info', text: 'the exchange takes requests again' }]);
  const first = Date.UTC(2026, 0, 5, 12, 2, 0, 400);
  expect(remembered).toEqual([`${first}`, `${first + 60_000}`, '']);
});
