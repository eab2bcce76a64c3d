/** Strategies as people write them, beyond the shipped ones: every driver takes them alike. */
import { expect, test } from 'vitest';
import type { Want } from '../src/domain/order.ts';
import { defineStrategy, flat, hold, type Indicator, type Strategy, sma } from '../src/index.ts';
import { runColumns, runLong } from '../src/modes/backtest/run-columns.ts';
import { runStream } from '../src/modes/backtest/stream-run.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf } from './agreement.ts';

/** Prices that go up and down in waves of forty minutes. */
const waves = Array.from({ length: 400 }, (_, row) => {
  const price = 100 + Math.round(20 * Math.sin(row / 7)) / 2;
  return { time: row * 60_000, open: price, high: price + 1, low: price - 1, close: price, volume: 1_000 };
});
const inputFor = (strategy: Strategy) =>
  inputOf(caseOfXz({ rules: 'plain', cash: '100000', strategy, columns: columnsOf(waves) }));

/** What all drivers give for it; the number of fills. */
async function alike(strategy: Strategy): Promise<number> {
  const input = inputFor(strategy);
  const rows = rowsOf(runColumns(input));
  expect(rowsOf(runLong(input))).toEqual(rows);
  expect(rowsOf(await runStream(input))).toEqual(rows);
  return rows.fills.length;
}

const saying = (decide: (fast: number, slow: number) => Want | undefined): Strategy =>
  defineStrategy({
    name: 'own',
    about: 'test',
    params: {},
    indicators: () => ({ fast: sma('close', 2), slow: sma('close', 9) }),
    decide: ({ fast, slow }) => decide(fast, slow),
  });

test('null is nothing said, as undefined is', async () => {
  const decide = (nothing: unknown) =>
    saying((fast, slow) =>
      fast > slow * 1.02 ? hold({ quantity: 1 }, 'up') : fast < slow * 0.98 ? flat('down') : (nothing as undefined),
    );
  const fills = await alike(decide(null));
  expect(fills).toBeGreaterThan(5);
  expect(rowsOf(runColumns(inputFor(decide(null))))).toEqual(rowsOf(runColumns(inputFor(decide(undefined)))));
});

test('an indicator of one’s own that has values before it is warm is waited for', async () => {
  const mean: Indicator = {
    warmup: 50,
    column: ({ close }) => {
      let sum = 0;
      return Float64Array.from(close, (price, row) => {
        sum += price;
        return sum / (row + 1);
      });
    },
    stream: () => {
      let [sum, seen] = [0, 0];
      return ({ close }) => {
        sum += close;
        seen++;
        return sum / seen;
      };
    },
  };
  const strategy = defineStrategy({
    name: 'mean',
    about: 'test',
    params: {},
    indicators: () => ({ mean }),
    decide: (values, { kline }) => (kline.close > values.mean ? hold({ quantity: 1 }, 'above') : flat('below')),
  });
  expect(await alike(strategy)).toBeGreaterThan(5);
  expect((await runStream(inputFor(strategy))).fills[0]?.time).toBeGreaterThan(49 * 60_000);
});
