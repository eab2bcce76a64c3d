import { expect, test } from 'vitest';
import { SimClock } from '../../clock/sim-clock.ts';
import type { UnprotectedTime } from '../../trading/unprotected.ts';
import { unprotectedTimes } from './unprotected-time.ts';

const minute = 60_000;

/** One position, of which `seen` says what this run has found. */
function looking(kept: string | undefined, seen: { bare: UnprotectedTime }, clock = new SimClock(0)) {
  const written: string[] = [];
  const times = unprotectedTimes({
    assembled: {
      portfolio: { subAccounts: () => [{ strategy: 's', symbol: 'BTCUSDT' }] },
      unprotected: { of: () => seen.bare },
    },
    clock,
    kept,
    remember: (value) => void written.push(value),
  });
  const lookAt = (now: number): UnprotectedTime => {
    clock.skipTo(now);
    times.update();
    return times.of('s', 'BTCUSDT');
  };
  return { written, lookAt };
}

test('what lasts is reported and written down while it lasts, and its end once', () => {
  const seen = { bare: { longestMs: 0, since: undefined } as UnprotectedTime };
  const { written, lookAt } = looking(undefined, seen);
  lookAt(minute);
  expect(written).toEqual([]);
  seen.bare = { longestMs: 0, since: minute };
  expect(lookAt(minute + 1_000)).toMatchObject({ longestMs: 1_000, since: minute });
  lookAt(minute + 2_000);
  lookAt(minute + 17_000);
  seen.bare = { longestMs: 17_500, since: undefined };
  expect(lookAt(minute + 18_000)).toMatchObject({ longestMs: 18_000, since: undefined });
  lookAt(2 * minute);
  expect(written.map((rows) => JSON.parse(rows)[0].slice(2))).toEqual([
    [1_000, minute, minute + 1_000],
    [17_000, minute, minute + 17_000],
    [18_000, null, minute + 18_000],
  ]);
});

test('a restart in the middle of it goes on counting, and what ended with it is not counted on', () => {
  const kept = JSON.stringify([['s', 'BTCUSDT', 30 * minute, 10 * minute]]);
  const seen = { bare: { longestMs: 0, since: 45 * minute } as UnprotectedTime };
  const { lookAt } = looking(kept, seen);
  expect(lookAt(60 * minute)).toMatchObject({ longestMs: 50 * minute, since: 10 * minute });
  const over = looking(kept, { bare: { longestMs: 5 * minute, since: undefined } });
  expect(over.lookAt(50 * minute)).toMatchObject({ longestMs: 40 * minute, since: undefined });
  expect(over.lookAt(90 * minute)).toMatchObject({ longestMs: 40 * minute, since: undefined });
});
