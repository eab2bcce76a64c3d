/** Strategies with a memory: every engine replays it, each run begins anew, and the check tells it from hidden state. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkStrategy, faultOf } from '../../src/backtest/check/check.ts';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { runBacktest } from '../../src/backtest/engines.ts';
import { fastRun } from '../../src/backtest/fast/run.ts';
import type { RunResult } from '../../src/backtest/run.ts';
import { loadKlines } from '../../src/data/klines.ts';
import type { Signal } from '../../src/domain/order.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { isStrategyFault } from '../../src/strategy/fault.ts';
import { over } from '../../src/strategy/override.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { fc } from '../kit/properties.ts';
import { runByKlines } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import { byReference, caseOfXz, columnsOf, cut, inputOf, rowsOf, runStreams } from './agreement.ts';

const begins = { rungs: 0, lastPrice: 0 };

/** What the ladder does after a close: the whole of its rule, apart from who keeps its memory. */
function step(memory: typeof begins, close: number): { readonly quantity: number; readonly memory: typeof begins } {
  if (memory.rungs > 0 && close > memory.lastPrice * 1.01) return { quantity: 0, memory: begins };
  if (memory.rungs === 0 || close < memory.lastPrice * 0.99)
    return { quantity: 1 + memory.rungs, memory: { rungs: memory.rungs + 1, lastPrice: close } };
  return { quantity: memory.rungs, memory };
}

/** Buys one more with each percent that the price falls. */
const ladder = defineStrategy({
  name: 'ladder',
  about: 'Buys in rungs',
  params: {},
  indicators: () => ({}),
  memory: begins,
  decide(_, { memory, kline }) {
    const next = step(memory, kline.close);
    if (next.memory === memory) return undefined;
    const signal = next.quantity === 0 ? flat('recovered') : hold({ quantity: next.quantity }, `rung ${next.quantity}`);
    return { signal, memory: next.memory };
  },
});

const caseOf = (seed: number, strategy: Strategy = ladder) => {
  const { klines } = generated(seed, 200);
  return {
    klines,
    given: caseOfXz({ columns: columnsOf(klines), rules: 'plain', cash: '1000000', strategy }),
  };
};

test('a ladder gives the same rows by columns, by streams and by the reference, and in each run', async () => {
  let rungs = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
      const { klines, given } = caseOf(seed);
      let memory = begins;
      const expected = byReference(given, {
        kind: 'script',
        signal(row) {
          const next = step(memory, klines[row]?.close ?? 0);
          ({ memory } = next);
          return { quantity: String(next.quantity) };
        },
      });
      const input = inputOf(given);
      expect(fastRun(input)).toBeUndefined();
      expect(rowsOf(runByKlines(input))).toEqual(expected);
      expect(rowsOf(runByKlines(input))).toEqual(expected);
      expect(rowsOf(await runStreams(input))).toEqual(expected);
      expect(memoriesIn(await runTape(input))).toEqual(memoriesIn(runByKlines(input)));
      rungs += expected.fills.length;
    }),
    { numRuns: 40 },
  );
  expect(rungs).toBeGreaterThan(1_000);
});

const memoriesIn = (result: RunResult): unknown[] => {
  const db = result.journal();
  const rows = db.prepare('SELECT memory FROM signals ORDER BY seq').pluck().all() as string[];
  db.close();
  return rows.map((text) => JSON.parse(text) as unknown);
};

test('the journal of a run has the memory of each of its signals', () => {
  const { given } = caseOf(3);
  const memories = memoriesIn(runByKlines(inputOf(given))) as (typeof begins)[];
  expect(memories.length).toBeGreaterThan(20);
  expect(memories[0]).toMatchObject({ rungs: 1 });
  for (const [index, { rungs }] of memories.entries())
    expect(rungs === 0 || rungs === 1 + (memories[index - 1]?.rungs ?? 0)).toBe(true);
});

test('a memory alone repeats the last signal, and a bare signal leaves the memory as it is', () => {
  const counting = defineStrategy({
    name: 'counting',
    about: 'Counts klines, and enters at the tenth',
    params: {},
    indicators: () => ({}),
    memory: { klines: 0 },
    decide(_, { memory }) {
      if (memory.klines === 10) return hold({ quantity: 1 }, `after ${memory.klines}`);
      return { memory: { klines: memory.klines + 1 } };
    },
  });
  const result = runByKlines(inputOf(caseOf(1, counting).given));
  expect(memoriesIn(result)).toEqual([{ klines: 10 }]);
  expect(result.fills.map(({ time }) => time)).toEqual([11 * 60_000]);
});

test.for<[string, unknown, string | RegExp]>([
  ['another type', { rungs: 'one', lastPrice: 1 }, "memory.rungs is 'one': it must be a number"],
  [
    'NaN',
    { rungs: 1, lastPrice: Number.NaN },
    /memory\.lastPrice is NaN: it must be a finite number; strategy \S+ \(\S+\), at the kline of \d{4}-\d\d-\d\dT/,
  ],
  ['a missing key', { rungs: 1 }, 'memory.lastPrice is missing'],
])('a memory with %s ends a run with one message that names the key', async ([, memory, message]) => {
  const wrong = over(ladder, {
    decide: (): { readonly memory: typeof begins; readonly signal: Signal } => ({
      memory: memory as typeof begins,
      signal: flat('wrong'),
    }),
  });
  const { given } = caseOf(1, wrong);
  const run = runBacktest(inputOf(given));
  await expect(run).rejects.toThrow(message);
  await expect(run).rejects.toSatisfy(isStrategyFault);
});

const path = fileURLToPath(new URL('../../backtests/data/ETHUSDT-15m-2025-10_2026-03.csv.gz', import.meta.url));
const recorded = loadKlines({ path, symbol: 'ETHUSDT', interval: '15min', pricePrecision: 2 }).columns;

describe('the check', () => {
  const checked = (strategy: Strategy) =>
    checkStrategy(
      inputOf(
        caseOfXz({
          ...{ columns: cut(recorded, 0, 600), rules: 'sluice', cash: '1000000', strategy },
          interval: '15min',
        }),
      ),
    );

  test('passes a strategy with a memory', async () => {
    const found = await checked(ladder);
    expect(found.leaks).toEqual([]);
    expect(faultOf(found)).toBeUndefined();
  });

  test('finds a variable of the module, also where there is a memory', async () => {
    let hidden = 0;
    const hiding = defineStrategy({
      ...{ name: 'hiding', about: 'Has a memory, and keeps something beside it', params: {}, indicators: () => ({}) },
      memory: begins,
      decide(_, { memory, kline }) {
        const next = step(memory, kline.close);
        hidden++;
        return { signal: hold({ quantity: next.quantity + (hidden % 7) }, 'by chance'), memory: next.memory };
      },
    });
    const { leaks } = await checked(hiding);
    expect(leaks.map(({ kind }) => kind)).toEqual(['notRepeatable']);
  });

  test('finds a variable that changes nothing but the memory', async () => {
    let hidden = 0;
    const hiding = defineStrategy({
      ...{ name: 'hiding', about: 'Keeps a count of its own', params: {}, indicators: () => ({}) },
      memory: { count: 0 },
      decide: (_, { kline }) => ({
        signal: kline.close > kline.open ? hold({ quantity: 1 }, 'up') : flat('down'),
        memory: { count: hidden++ },
      }),
    });
    const { leaks } = await checked(hiding);
    expect(leaks.map(({ kind }) => kind)).toEqual(['notRepeatable']);
  });
});
