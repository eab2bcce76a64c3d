import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import type { TimeSync } from '../../venue/exchange/rest/sync-time.ts';
import { type Answer, failed, ok } from '../../venue/venue.ts';
import { timeKeeper } from './exchange-watch.ts';

function kept() {
  const at = {
    answer: undefined as Answer<TimeSync> | undefined,
    noData: undefined as string | undefined,
    until: undefined as number | undefined,
  };
  const said: Notice[] = [];
  const remembered: string[] = [];
  const work = timeKeeper({
    clock: { machine: (ms) => ms },
    exchange: {
      time: { tend: async () => at.answer, against: () => undefined, known: () => undefined },
      noMarketData: () => at.noData,
    },
    stoppedUntil: () => at.until,
    notice: (notice) => said.push(notice),
    remember: (cause) => remembered.push(cause),
  });
  /** Readings with these answers. */
  const read = async (...answers: readonly Answer<TimeSync>[]): Promise<void> => {
    for (at.answer of answers) await work();
  };
  return { at, said, remembered, read };
}

const answered = ok({ offsetMs: 0, uncertaintyMs: 1 });

test('an outage is reported once, whatever its causes, and so is its end; the latest cause is remembered', async () => {
  const { said, remembered, read } = kept();
  await read(answered, failed('HTTP 503'), failed('HTTP 502'), failed('HTTP 502'), failed('refused'));
  expect(said).toEqual([
    { level: 'warn', topic: 'exchangeAway', text: "the exchange's time could not be read: HTTP 502; retrying" },
  ]);
  expect(remembered).toEqual(['', 'HTTP 502', 'refused']);
  await read(answered, answered);
  expect(said.slice(1)).toEqual([{ level: 'info', text: "the exchange's time can be read again" }]);
  expect(remembered.at(-1)).toBe('');
});

test('a reading that fails once is no outage, and missing market data have reported it', async () => {
  const { at, said, remembered, read } = kept();
  await read(failed('HTTP 503'), answered, failed('HTTP 503'), answered);
  at.noData = 'ws://x: refused';
  await read(failed('refused'), failed('refused'));
  expect([said, remembered]).toEqual([[], ['', 'refused']]);
  at.noData = undefined;
  await read(failed('HTTP 502'));
  expect(said).toHaveLength(1);
});

test('a ban keeps the time from being read, and is reported itself', async () => {
  const { at, said, remembered, read } = kept();
  at.until = 1;
  await read(answered, failed('the request budget has no room'), failed('the request budget has no room'));
  expect([said, remembered]).toEqual([[], ['']]);
  at.until = undefined;
  await read(failed('HTTP 502'), failed('HTTP 502'));
  expect(said).toHaveLength(1);
});
