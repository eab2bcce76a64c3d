/** Entries over a limit: denied and counted, or reduced to the limit, alike in all engines over klines and trades. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { quantityNumber, units } from '../../src/domain/money.ts';
import { lossesText } from '../../src/research/entry-losses.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { runByKlines } from '../kit/run-now.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf, runStreams, xz } from './agreement.ts';

const minute = 60_000;

/** Fourteen klines at 100; the targets alternate with flat ones. */
function run(clip: boolean, maxOrderValue: string): RunInput {
  const klines = Array.from({ length: 14 }, (_, at) => ({
    ...{ time: at * minute, open: 100, high: 102, low: 98, close: 100, volume: 50 },
  }));
  const strategy = defineStrategy({
    name: 'growing',
    about: 'Holds more with each entry',
    params: {},
    indicators: () => ({}),
    decide(_, { kline }) {
      const at = kline.openTime / minute;
      return at % 4 < 2 ? hold({ quantity: 2 + at }, 'more', { stop: 90, clip }) : flat('over');
    },
  });
  const input = inputOf(caseOfXz({ columns: columnsOf(klines), strategy, rules: 'plain', cash: '10000' }));
  return { ...input, limits: { ...input.limits, maxOrderValue: units(maxOrderValue) } };
}

/** What each purchase bought. */
const bought = ({ fills }: Pick<RunResult, 'fills'>): readonly number[] =>
  fills.filter(({ side }) => side === 'BUY').map(({ quantity }) => quantityNumber(quantity, xz));

test('without clip an entry over the limit is denied, and the result says how many of all', async () => {
  const result = runByKlines(run(false, '500'));
  // Sizes 2 and 3, 6 and 7, 10 and 11, 14 and 15: each changed target is an entry.
  expect(bought(result)).toEqual([2, 1]);
  expect(result.entries).toEqual({ asked: 8, rules: [{ code: 'orderValue', denied: 6, reduced: 0 }] });
  expect((await runStreams(run(false, '500'))).entries).toEqual(result.entries);
  expect((await runTape(run(false, '500'))).entries).toEqual(result.entries);
});

test('with clip it is reduced to the limit, and the rest is not ordered while the target stays', async () => {
  const result = runByKlines(run(true, '500'));
  expect(bought(result)).toEqual([2, 1, 5, 2, 5, 5, 5]);
  expect(result.refused).toEqual([]);
  expect(result.entries).toEqual({ asked: 8, rules: [{ code: 'orderValue', denied: 0, reduced: 5 }] });
  const streams = await runStreams(run(true, '500'));
  const tape = await runTape(run(true, '500'));
  for (const other of [streams, tape]) {
    expect(rowsOf(other).fills).toEqual(rowsOf(result).fills);
    expect(other.entries).toEqual(result.entries);
  }
});

test('an entry that the money does not pay for is denied, unless a later order of it fills', async () => {
  const sizes = [100, 0, 90, 90, 0, 99, 99, 0];
  const strategy = defineStrategy({
    name: 'all-in',
    about: 'Holds all that its cash buys, or a little less',
    params: {},
    indicators: () => ({}),
    decide: (_, { kline }) => hold({ quantity: sizes[kline.openTime / minute] ?? 0 }, 'all'),
  });
  // The last entry is not paid for at the open of 105, and is at the next one.
  const klines = Array.from({ length: 14 }, (_, at) => ({
    ...{ time: at * minute, open: at === 6 ? 105 : 100, high: 105, low: 98, close: 100, volume: 50 },
  }));
  const input = inputOf(caseOfXz({ columns: columnsOf(klines), strategy, rules: 'plain', cash: '10000' }));
  const result = runByKlines(input);
  expect(bought(result)).toEqual([90, 99]);
  expect(result.entries).toEqual({ asked: 3, rules: [{ code: 'money', denied: 1, reduced: 0 }] });
  expect(lossesText(result.entries ?? { asked: 0, rules: [] })).toBe(
    '1 of 3 entries denied (no money for price and fee 1)',
  );
  expect((await runStreams(input)).entries).toEqual(result.entries);
});

test('a target that stays keeps its reduced size, and another is sized anew', () => {
  expect(bought(runByKlines(run(true, '100')))).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

test('the losses are stated in one line', () => {
  const rules = [
    { code: 'allocation', denied: 27, reduced: 0 },
    { code: 'orderValue', denied: 7_900, reduced: 2 },
    { code: 'position', denied: 0, reduced: 3 },
  ];
  expect(lossesText({ asked: 8_012, rules })).toBe(
    '7,927 of 8,012 entries denied (orderValue 7,900, allocation 27), 5 reduced (position 3, orderValue 2)',
  );
  expect(lossesText({ asked: 5, rules: [{ code: 'position', denied: 0, reduced: 1 }] })).toBe(
    '1 of 5 entries reduced (position 1)',
  );
  expect(lossesText({ asked: 5, rules: [] })).toBeUndefined();
});
