/** Trailing stops on klines: in the kline of the entry, and with time exits row by row by both drivers and the slow reference. */
import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunResult } from '../../src/backtest/run.ts';
import { type RulesetName, rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { generated, oftenShort, trailed } from '../reference/generated.ts';
import type { Signal } from '../reference/types.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  joined,
  rowsOfEach,
  runStreams,
  scripted,
} from './agreement.ts';
import { caseOfMinutes, freeMargin, sameFills } from './scripted-minutes.ts';

/** The same signal from the first close on. */
const caseOf = (
  rules: RulesetName,
  signal: Signal,
  klines: readonly (readonly number[])[],
  more: Partial<Case> = {},
): Case => caseOfMinutes([signal], klines, { rules, ...more });

/** Side, price and minute of each fill, alike by columns, by streams, by events and by the reference. */
async function fillsOf(given: Case, signal: Signal): Promise<readonly string[]> {
  const fills = await sameFills(given, [signal]);
  return fills.map(({ side, price, time }) => `${side} ${price} in ${Math.floor(time / 60_000)}`);
}

/** The fills of each of these strategies, without the numbers of their orders, which count all of a run. */
const fillsOfEach = (run: RunResult, ids: readonly string[]): readonly (readonly object[])[] =>
  rowsOfEach(run, ids).map(({ fills }) => fills.map((fill) => ({ ...fill, order: 0 })));

/** The same want with a limit that is reached a little later, or sooner. */
const lower = (signal: Signal, isAbove: boolean): Signal =>
  'limit' in signal && signal.limit !== undefined
    ? { ...signal, limit: (Number(signal.limit) + (isAbove ? 0.3 : -0.3)).toFixed(2) }
    : signal;

describe('a trailing stop', () => {
  const quiet = [100, 100, 100, 100] as const;

  test('begins with the open at which a MARKET order entered, and is hit in that kline', async () => {
    const signal = { quantity: '1', trailing: '0.02' };
    const rows = [quiet, [101, 101.2, 90, 101], [110, 110, 110, 110]];
    expect(await fillsOf(caseOf('plain', signal, rows), signal)).toEqual(['BUY 101 in 1', 'SELL 98.98 in 1']);
    // Half way to the low, as a fixed stop.
    const sluice = await fillsOf(caseOf('sluice', signal, rows), signal);
    expect(sluice).toEqual([expect.stringMatching(/^BUY 101/), expect.stringMatching(/^SELL 94\.\d+ in 1$/)]);
    const short = { quantity: '-1', trailing: '0.02' };
    const mirrored = [quiet, [101, 112, 100.8, 101], [90, 90, 90, 90]];
    expect(await fillsOf(caseOf('plain', short, mirrored, { margin: freeMargin }), short)).toEqual([
      'SELL 101 in 1',
      'BUY 103.02 in 1',
    ]);
  });

  test('begins with the price of a LIMIT order that filled inside a kline: its high may lie before', async () => {
    const signal = { quantity: '1', limit: '96', trailing: '0.05' };
    const rows = [quiet, [100, 110, 95.5, 96.5], [96.5, 97, 96, 96.4], [96.4, 96.4, 91, 92], quiet];
    expect(await fillsOf(caseOf('plain', signal, rows), signal)).toEqual([
      'BUY 96 in 1',
      // 97, the best since, less five percent.
      'SELL 92.15 in 3',
    ]);
    // What fell on by five percent after the fill was stopped in that kline.
    const falling = [quiet, [100, 110, 90, 96.5], quiet];
    expect(await fillsOf(caseOf('plain', signal, falling), signal)).toEqual(['BUY 96 in 1', 'SELL 91.2 in 1']);
  });

  test('moves by an open before the rest of its kline', async () => {
    const signal = { quantity: '1', trailing: '0.02' };
    const rows = [quiet, quiet, [110, 110, 107, 109], quiet];
    expect(await fillsOf(caseOf('plain', signal, rows), signal)).toEqual(['BUY 100 in 1', 'SELL 107.8 in 2']);
  });

  test('begins with the limit of its own strategy where another one entered the symbol in the same kline', async () => {
    const rows = [quiet, [100, 100.5, 95, 95.6], [95.5, 95.6, 94.5, 95], quiet];
    const [high, low] = ['98', '96'].map((limit) =>
      inputOf(caseOf('plain', { quantity: '1', limit, trailing: '0.02' }, rows)),
    );
    if (high === undefined || low === undefined) throw new Error('two were asked for');
    const both = joined(high, low, ['high', 'low']);
    for (const run of [runNow(both), await runStreams(both), await runTape(both)]) {
      const fills = fillsOfEach(run, ['high', 'low']).map((each) => each.map((fill) => ({ price: '', ...fill }).price));
      expect(fills).toEqual([['98', '96.04'], ['96']]);
    }
  });

  test.for(rulesetNames)('knows nothing of another strategy on its symbol: %s', async (rules) => {
    let entered = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), fc.boolean(), async (seed, isAbove) => {
        const { klines, signals } = generated(seed, 200);
        // What fills on one symbol shares its volume, and the exchange looks at the cash of both.
        const columns = columnsOf(klines.map((kline) => ({ ...kline, volume: kline.volume > 0 ? 1_000_000 : 0 })));
        const wanted = trailed(signals);
        const [a, b] = [wanted, wanted.map((signal) => lower(signal, isAbove))].map((each) =>
          inputOf(caseOfXz({ columns, rules, cash: '100000', strategy: scripted(each) })),
        );
        if (a === undefined || b === undefined) throw new Error('two were asked for');
        const expected = [a, b].flatMap((input) => fillsOfEach(runNow(input), ['%']));
        const both = joined(a, b, ['a', 'b']);
        expect(fillsOfEach(runNow(both), ['a', 'b'])).toEqual(expected);
        expect(fillsOfEach(await runStreams(both), ['a', 'b'])).toEqual(expected);
        entered += expected.flat().length;
      }),
      { numRuns: 10 },
    );
    expect(entered).toBeGreaterThan(200);
  });

  test.for(rulesetNames)('gives the same rows by columns, by streams and by the reference: %s', async (rules) => {
    let stops = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), fc.boolean(), async (seed, isShort) => {
        const { klines, signals: plain } = generated(seed, 200);
        const signals = trailed(isShort ? oftenShort(plain) : plain);
        const given = caseOfXz({
          ...{ columns: columnsOf(klines), rules, cash: '3000', strategy: scripted(signals) },
          ...(isShort && { margin: freeMargin }),
        });
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        stops += expected.orders.filter(({ purpose, state }) => purpose === 'stop' && state === 'filled').length;
        if (!isShort) expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
    expect(stops).toBeGreaterThan(20);
  });

  test.for(rulesetNames)(
    'does so over klines finer than those decided on, and what is held at the end is left: %s',
    async (rules) => {
      let left = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), fc.boolean(), async (seed, isShort) => {
          const { klines, signals: each } = generated(seed, 400);
          const signals = trailed(isShort ? oftenShort(each) : each).filter((_, row) => row % 5 === 4);
          const given = caseOfXz({
            ...{ columns: columnsOf(klines), rules, cash: '3000', strategy: scripted(signals, 300_000) },
            ...{ decidesOn: '5min', closeAtEnd: true },
            ...(isShort && { margin: freeMargin }),
          });
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[Math.floor(row / 5)] });
          left += expected.orders.filter(({ purpose, state }) => purpose === 'stop' && state === 'filled').length;
          if (!isShort) expect(byColumns(given)).toEqual(expected);
          expect(await byStream(given)).toEqual(expected);
        }),
        { numRuns: 15 },
      );
      expect(left).toBeGreaterThan(10);
    },
  );
});
