/** Strategies over indicators with lines: backtests, live streams, grids, checks and messages see the same values under the same names. */
import { decide } from 'sluice/testing';
import { expect, test } from 'vitest';
import { leaksOf } from '../../src/backtest/check/lookahead.ts';
import { warmupNeeded } from '../../src/backtest/check/warmup.ts';
import { neverCalledText } from '../../src/backtest/result/never-called.ts';
import { stress } from '../../src/backtest/result/stress.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { withSharedColumns } from '../../src/backtest/search/indicator-memory.ts';
import {
  bollinger,
  defineStrategy,
  ema,
  flat,
  hold,
  type Indicator,
  macd,
  type Strategy,
  sma,
} from '../../src/index.ts';
import { warmupOf } from '../../src/strategy/warmup.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf, runStreams } from './agreement.ts';

/** Prices that go up and down in waves of about forty minutes. */
const waves = Array.from({ length: 1_200 }, (_, row) => {
  const price = 100 + Math.round(20 * Math.sin(row / 7) + 9 * Math.sin(row / 45)) / 2;
  return { time: row * 60_000, open: price, high: price + 1, low: price - 1, close: price, volume: 1_000 };
});
const inputFor = (strategy: Strategy): RunInput =>
  inputOf(caseOfXz({ rules: 'plain', cash: '100000', strategy, columns: columnsOf(waves) }));

const crossing = defineStrategy({
  name: 'lines',
  about: 'test',
  params: {},
  indicators: () => ({ macd: macd('close', 5, 13, 4), mean: sma('close', 20), bands: bollinger('close', 10) }),
  decide: ({ macd: { line, signal, histogram }, mean, bands }, { kline }) =>
    line > signal && histogram > 0 && bands.percentB > 0.5 && kline.close > mean - 100
      ? hold({ quantity: 1 }, 'above', { stop: bands.lower - 20 })
      : flat('below'),
});

/** The same with each line as an indicator of its own. */
const flattened = defineStrategy({
  ...{ name: 'lines', about: 'test', params: {} },
  indicators: () => {
    const { line, signal, histogram } = macd('close', 5, 13, 4);
    const { percentB, lower } = bollinger('close', 10);
    return { line, signal, histogram, percentB, lower, mean: sma('close', 20) };
  },
  decide: ({ line, signal, histogram, percentB, lower, mean }, { kline }) =>
    line > signal && histogram > 0 && percentB > 0.5 && kline.close > mean - 100
      ? hold({ quantity: 1 }, 'above', { stop: lower - 20 })
      : flat('below'),
});

test('lines are read under the name of their indicator, by every engine and live', async () => {
  const rows = rowsOf(runNow(inputFor(flattened)));
  expect(rows.fills.length).toBeGreaterThan(20);
  expect(rowsOf(runNow(inputFor(crossing)))).toEqual(rows);
  expect(rowsOf(runByKlines(inputFor(crossing)))).toEqual(rows);
  expect(rowsOf(await runStreams(inputFor(crossing)))).toEqual(rows);
  expect(rowsOf(runNow(inputFor(withSharedColumns(crossing))))).toEqual(rows);
  expect(warmupOf(crossing, {}, '1min')).toBe(20);
});

test('lines of one indicator that are used apart, and over each other, are right too', async () => {
  const strategy = defineStrategy({
    ...{ name: 'apart', about: 'test', params: {} },
    indicators: () => {
      const { line, signal } = macd('close', 5, 13, 4);
      return { slow: ema(line, 9), signal, twice: ema(signal, 3), group: { line, again: line } };
    },
    decide: ({ slow, signal, twice, group }) =>
      signal > slow && twice > slow && group.line === group.again ? hold({ quantity: 1 }, 'up') : flat('down'),
  });
  const rows = rowsOf(runNow(inputFor(strategy)));
  expect(rows.fills.length).toBeGreaterThan(20);
  expect(rowsOf(await runStreams(inputFor(strategy)))).toEqual(rows);
});

test('one kline later, a strategy decides by the lines of the kline before', async () => {
  const times: (number | undefined)[] = [runNow(inputFor(crossing)).fills[0]?.time];
  await stress(
    inputFor(crossing),
    async (input) => {
      const result = runNow(input);
      times.push(result.fills[0]?.time);
      return result;
    },
    () => ({ return: 0, sharpe: null }),
    () => false,
  );
  expect(times).toContain((times[0] ?? 0) + 60_000);
});

test('a unit test of a strategy sees them', () => {
  const closed = waves.slice(0, 60).map(({ time, ...prices }) => ({
    ...{ symbol: 'AAAUSDT', interval: '1min' as const, openTime: time, seenAt: time + 60_000 },
    ...prices,
  }));
  expect(decide(crossing, closed)).toMatchObject({ kind: 'target' });
});

/** A line that reads the next kline. */
const leaking: Indicator = {
  warmup: 1,
  column: ({ close }) => close.map((price, row) => close[row + 1] ?? price),
  stream: () => (kline) => kline.close,
};
const watching = (line: Indicator): Strategy =>
  defineStrategy({
    ...{ name: 'watching', about: 'test', params: {} },
    indicators: () => ({ own: { line, mean: sma('close', 5) } }),
    decide: ({ own }) => (own.line > own.mean ? hold({ quantity: 1 }, 'up') : flat('down')),
  });

test('checks name the line', async () => {
  const [leak] = await leaksOf(inputFor(watching(leaking)));
  expect(leak).toMatchObject({ indicators: ['own.line'] });
  expect(leak?.description).toContain('own.line');
  expect(await leaksOf(inputFor(crossing))).toEqual([]);
  const needed = await warmupNeeded(inputFor(watching(ema('close', 5))));
  expect(Object.keys(needed?.indicators ?? {})).toEqual(['own.line', 'own.mean']);
});

test('a line without a value is named as the reason why nothing was decided', () => {
  const never = { ...leaking, column: () => new Float64Array(waves.length).fill(Number.NaN) };
  const [hosted] = inputFor(watching(never)).hosted;
  const [series] = inputFor(watching(never)).series;
  if (hosted === undefined || series === undefined) throw new Error('there is no strategy');
  expect(neverCalledText(hosted, [series])).toContain('its indicator own.line had no value at any kline');
});
