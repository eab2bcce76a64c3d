/** What a strategy may know of its position: every engine and the slow reference agree. */
import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { fastRun } from '../../src/backtest/fast/run.ts';
import { closesSince } from '../../src/domain/interval.ts';
import { defineStrategy, type Holding, type Strategy } from '../../src/strategy/contract.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { fc } from '../kit/properties.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { generated, oftenShort, trailed } from '../reference/generated.ts';
import type { Facts, Signal } from '../reference/types.ts';
import { byReference, type Case, caseOfXz, columnsOf, inputOf, rowsOf, runStreams } from './agreement.ts';
import { asProduct } from './product-signals.ts';

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const minuteMs = 60_000;

const factsOf = ({ entryTime, klinesHeld, best, worst, profit, realisedNet, lastExit }: Holding): Facts => ({
  ...{ entryTime, klinesHeld, best, worst, profit, realisedNet },
  lastExit: lastExit && { ...lastExit },
});

/** Zero has no sign. */
const nanos = (amount: number): number => Math.round(amount * 1e9) / 1e9 + 0;

/** Amounts are sums: their last digits depend on the order. */
const rounded = ({ profit, realisedNet, lastExit, ...facts }: Facts): unknown => ({
  ...facts,
  profit: nanos(profit),
  realisedNet: nanos(realisedNet),
  lastExit: lastExit && { ...lastExit, profit: nanos(lastExit.profit) },
});

/** Says what stands in a list after each kline, and writes down what it knows of its position then. */
function noting(signals: readonly Signal[], seen: Map<number, Facts>): Strategy {
  return defineStrategy({
    name: 'noting',
    about: 'Writes down what it knows',
    params: {},
    indicators: () => ({}),
    decide(_, { kline, holding }) {
      const row = kline.openTime / minuteMs;
      seen.set(row, factsOf(holding));
      return asProduct(signals[row] as Signal);
    },
  });
}

interface Told {
  readonly given: Case;
  readonly signals: readonly Signal[];
}

/** The facts after each kline by the reference, by columns and by streams. */
async function factsThrice({ given, signals }: Told): Promise<readonly (readonly unknown[])[]> {
  const all = [0, 1, 2].map(() => new Map<number, Facts>());
  const [told, columns, streams] = all as [Map<number, Facts>, Map<number, Facts>, Map<number, Facts>];
  const lengthOf = given.decidesOn === undefined ? 1 : closesSince('1min', 0, 5 * minuteMs);
  byReference(given, {
    kind: 'script',
    signal(row, facts) {
      const own = row - lengthOf + 1;
      told.set(own, facts());
      return signals[own];
    },
  });
  runNow(inputOf({ ...given, strategy: noting(signals, columns) }));
  await runStreams(inputOf({ ...given, strategy: noting(signals, streams) }));
  return all.map((one) => [...one].map(([row, facts]) => [row, rounded(facts)]));
}

const caseOf = (seed: number, change: (signals: readonly Signal[]) => readonly Signal[], more: Partial<Case>): Told => {
  const { klines, signals } = generated(seed, 200);
  const strategy = noting([], new Map());
  return {
    given: caseOfXz({ columns: columnsOf(klines), rules: 'plain', cash: '1000000', strategy, ...more }),
    signals: change(signals),
  };
};

describe('the facts of a position', () => {
  test.for(['plain', 'sluice'] as const)(
    'are the same by columns, by streams and by the reference, under %s',
    async (rules) => {
      const reasons = new Set<unknown>();
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const [told, columns, streams] = await factsThrice(caseOf(seed, trailed, { rules }));
          expect(columns).toEqual(told);
          expect(streams).toEqual(told);
          for (const [, facts] of told as readonly (readonly [number, Facts])[]) reasons.add(facts.lastExit?.reason);
        }),
        { numRuns: 60 },
      );
      expect([...reasons].map(String).sort()).toEqual(['signal', 'stop', 'takeProfit', 'time', 'undefined']);
    },
  );

  test('are the same of short positions, which turn round', async () => {
    const margin = {
      ...{ maxLeverage: '3', maintenanceRatio: '0.05', liquidationFee: '0', interestEveryMs: 3_600_000 },
      interest: { base: '0', quote: '0' },
    };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [told, columns, streams] = await factsThrice(caseOf(seed, oftenShort, { margin }));
        expect(columns).toEqual(told);
        expect(streams).toEqual(told);
      }),
      { numRuns: 40 },
    );
  });

  test('are those of the larger klines that a strategy decides on', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [told, columns, streams] = await factsThrice(caseOf(seed, trailed, { decidesOn: '5min' }));
        expect(columns).toEqual(told);
        expect(streams).toEqual(told);
      }),
      { numRuns: 40 },
    );
  });
});

/** Leaves after some klines or below the best price, and waits after a loss: it reads every fact. */
const reading = defineStrategy({
  name: 'reading',
  about: 'Decides by what it knows of its position',
  params: {},
  indicators: () => ({}),
  decide(_, { holding, kline }) {
    const { quantity, klinesHeld, best, worst, profit, realisedNet, lastExit, entryTime } = holding;
    if (quantity > 0) {
      const isOver = klinesHeld >= 7 || kline.close < best * 0.985 || worst < holding.entryPrice * 0.97;
      if (isOver || kline.openTime - entryTime > 9 * minuteMs) return flat(`left with ${profit.toFixed(9)}`);
      return undefined;
    }
    const waits = lastExit === undefined || lastExit.profit > 0 ? 1 : lastExit.reason === 'stop' ? 5 : 3;
    if (lastExit !== undefined && lastExit.klinesAgo < waits) return flat('waits');
    return hold({ quantity: 2 }, `after ${realisedNet.toFixed(9)}`, { stop: kline.close * 0.99 });
  },
});

test('a strategy that decides by them gets the same rows from the fast engine, the general one and streams', async () => {
  let [fills, others] = [0, 0];
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const { klines } = generated(seed, 200);
      const input = inputOf(
        caseOfXz({ columns: columnsOf(klines), rules: 'plain', cash: '1000000', strategy: reading }),
      );
      const expected = rowsOf(runByKlines(input));
      const fast = fastRun(input);
      if (fast?.advance(Number.POSITIVE_INFINITY) === 'done') expect(rowsOf(fast.result())).toEqual(expected);
      else others++;
      expect(rowsOf(await runStreams(input))).toEqual(expected);
      expect(rowsOf(await runTape(input)).decisions).toEqual(expected.decisions);
      fills += expected.fills.length;
    }),
    { numRuns: 40 },
  );
  expect(fills).toBeGreaterThan(1_000);
  expect(others).toBe(0);
});
