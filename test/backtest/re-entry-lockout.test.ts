/** Strategies that go on saying a goal which an exit has closed: they stay out, and results say for how long. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { summarise } from '../../src/backtest/result/summary.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { lockoutText, restText } from '../../src/report/notes.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { caseOfXz, columnsOf, inputOf, runStreams } from './agreement.ts';

const minute = 60_000;
const config = backtestSchema.parse({
  cash: '1000',
  strategies: [{ id: 's', use: 'test', symbol: 'XZ', interval: '1min' }],
  risk: { maxOrderValue: '1000', maxPosition: '1000' },
});

/** Twenty minutes that fall to 90 in the fourth and rise to 110 in the thirteenth, and what is said at the close of each. */
function run(signals: (row: number) => ReturnType<typeof hold>): RunInput {
  const klines = Array.from({ length: 20 }, (_, row) => ({
    ...{ time: row * minute, open: 100, close: 100, volume: 5_000 },
    ...{ high: row === 12 ? 110 : 101, low: row === 3 ? 90 : 99 },
  }));
  const strategy = defineStrategy({
    name: 'says',
    about: 'Says what a test wrote down',
    params: {},
    indicators: () => ({}),
    decide: (_, { kline }) => signals(kline.openTime / minute),
  });
  return inputOf(caseOfXz({ columns: columnsOf(klines), rules: 'plain', cash: '1000', strategy }));
}
const drivers: readonly ((input: RunInput) => RunResult | Promise<RunResult>)[] = [runNow, runStreams, runTape];
const staysOf = async (input: RunInput, by: (typeof drivers)[number]) =>
  summarise({ input, warnings: [], dataHashes: {} }, await by(input), config).summary.reentryLockouts;

test('who signals to hold nothing is not kept out by the stop that came before its limit', async () => {
  const input = run((row) =>
    row < 2 ? hold({ quantity: 1 }, '', { stop: 95 }) : hold({ quantity: 0 }, '', { limit: 120 }),
  );
  expect(runNow(input).fills.map(({ purpose }) => purpose)).toEqual(['enter', 'stop']);
  for (const by of drivers) expect(await staysOf(input, by)).toEqual([]);
});

test('a stop and a take-profit keep out until another goal or the end, alike by every driver', async () => {
  const input = run((row) => {
    if (row === 9) return flat('');
    return row < 9
      ? hold({ quantity: 1 }, '', { stop: 95 - row / 10 })
      : hold({ quantity: 1 }, '', { takeProfit: 105 });
  });
  const [stay] = (await staysOf(input, runNow)) ?? [];
  const exits = runNow(input).fills.filter(({ side }) => side === 'SELL');
  expect(exits.map(({ purpose, time }) => [purpose, Math.floor(time / minute)])).toEqual([
    ['stop', 3],
    ['takeProfit', 12],
  ]);
  const [stopped, took] = exits.map(({ time }) => time) as [number, number];
  // The close at which flat was said ends the first, the end of the run the second.
  const [first, second] = [10 * minute - stopped, 20 * minute - took];
  expect(stay).toEqual({
    ...{ strategy: 's', symbol: 'XZ', exits: 2, share: expect.closeTo((first + second) / (20 * minute), 12) },
    ...{ from: took, longestMs: second },
  });
  for (const by of drivers) expect(await staysOf(input, by)).toEqual([stay]);
});

test('what is hit at the open that entered it keeps out, too', async () => {
  const input = run(() => hold({ quantity: 1 }, '', { stop: 101 }));
  for (const by of drivers)
    expect(await staysOf(input, by)).toMatchObject([{ exits: 1, from: minute, longestMs: 19 * minute }]);
});

test('exits by the strategy itself, and short times out, are not told of', async () => {
  const own = run((row) => (row % 4 < 2 ? hold({ quantity: 1 }, '', { stop: 50 }) : flat('')));
  const soon = run((row) => (row === 4 ? flat('') : hold({ quantity: 1 }, '', { stop: 95 })));
  for (const by of drivers) {
    expect(await staysOf(own, by)).toEqual([]);
    expect(await staysOf(soon, by)).toEqual([]);
  }
});

test('the rest of a short position that its stop leaves is nothing entered, and is told of where it counts', async () => {
  const klines = Array.from({ length: 20 }, (_, row) => ({
    ...{ time: row * minute, open: 100, low: 99, close: 100, volume: 5_000 },
    high: row === 3 ? 110 : 101,
  }));
  const strategy = defineStrategy({
    name: 'short',
    about: 'Short of the same with the same stop all the time',
    params: {},
    indicators: () => ({}),
    decide: () => hold({ quantity: -0.1 }, '', { stop: 105 }),
  });
  const margin = {
    ...{ maxLeverage: '3', maintenanceRatio: '0.2', liquidationFee: '0.01' },
    ...{ interest: { base: '0', quote: '0' }, interestEveryMs: 3_600_000 },
  };
  const input = inputOf(caseOfXz({ columns: columnsOf(klines), rules: 'sluice', cash: '20', strategy, margin }));
  const result = await runStreams(input);
  expect(result.fills.map(({ purpose }) => purpose)).toEqual(['enter', 'stop']);
  const { summary } = summarise({ input, warnings: [], dataHashes: {} }, result, config);
  expect(summary.reentryLockouts).toMatchObject([{ exits: 1, longestMs: 20 * minute - (result.fills[1]?.time ?? 0) }]);
  const [rest] = summary.remainders ?? [];
  expect(rest).toMatchObject({ base: expect.closeTo(-0.0003, 5), share: expect.closeTo(0.0015, 3) });
  expect(rest && restText(rest)).toBe(
    "s is short of 0.000300 of XZ, which fees or purchases for an amount left and is below the exchange's minimum order: 0.16 % of the final equity, counted at each close",
  );
});

test('is said in words, with what to do', () => {
  const row = { strategy: 's', symbol: 'XZ', exits: 3, share: 0.25, from: Date.UTC(2020, 2, 12, 8), longestMs: 9e9 };
  expect(lockoutText(row)).toBe(
    's was out of XZ for 25.00 % of the run after 3 exits by a stop, a time or a take-profit, at most for 104.2 days from 2020-03-12 08:00 UTC: after an exit, the strategy must change its target, such as to flat, before it can enter again',
  );
  const alone = { strategy: 's', afterMs: 1, action: 'unwind', since: null, open: ['XZ'], missing: ['YZ'] } as const;
  const times = { longestMs: 2, times: 1, beyondMs: 1, largest: 5, quote: 'Z', unwound: null };
  expect(lockoutText(row, [{ ...alone, ...times }])).toContain(
    'a take-profit or because a leg was open alone, at most',
  );
});
