/** Larger klines inside a strategy: the same ones by columns, by streams and by their definition, and never before they close. */

import { map, withLatestFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { resampleKlines } from '../../src/data/resample.ts';
import { type Interval, intervalMs } from '../../src/domain/interval.ts';
import { units } from '../../src/domain/money.ts';
import type { Signal } from '../../src/domain/order.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { atr, ema, type Indicator, sma } from '../../src/strategy/indicators.ts';
import { aggregate, on, ownWarmup } from '../../src/strategy/larger-klines.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { intervalFault, warmupOf } from '../../src/strategy/warmup.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { closedFrames } from '../reference/frames.ts';
import { generated } from '../reference/generated.ts';
import type { Kline } from '../reference/types.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  cut,
  inputOf,
  klinesOf,
  rowsOf,
  rowsOfEach,
  runStreams,
  scripted,
} from './agreement.ts';

const minuteMs = 60_000;
const larger = fc.constantFrom<Interval>('3min', '5min', '15min', '60min', '90min');
const seed = fc.integer({ min: 1, max: 2 ** 31 });

/** Minutes with holes of all lengths, which begin anywhere in the hour. */
function holed(from: number, rows: number): readonly Kline[] {
  let skipped = from % 60;
  return generated(from, rows).klines.map((kline, row) => {
    const draw = (from * 31 + row * 7_919) % 97;
    if (draw < 6) skipped += 1 + ((draw * 13 + row) % 70);
    return { ...kline, time: (row + skipped) * minuteMs };
  });
}

const indicators: readonly (readonly [string, Indicator])[] = [
  ['sma', sma('close', 3)],
  ['ema', ema('high', 2)],
  ['atr', atr(2)],
  ['volume', sma('volume', 1)],
];

test.each(indicators)('%s over larger klines is what the klines that have closed say, row by row', (_, inner) => {
  fc.assert(
    fc.property(seed, larger, (from, interval) => {
      const klines = holed(from, 250);
      const columns = columnsOf(klines);
      const indicator = on(interval, inner);
      const column = indicator.column(columns, '1min');
      const next = indicator.stream('1min');
      for (const [row, { time, ...prices }] of klines.entries()) {
        const known = columnsOf(closedFrames(klines, row, minuteMs, intervalMs(interval, 0)));
        const expected = inner.column(known, interval).at(-1) ?? Number.NaN;
        expect([column[row], next({ openTime: time, ...prices })]).toEqual([expected, expected]);
      }
    }),
    { numRuns: 25 },
  );
});

test('larger klines are those of the catalogue', () => {
  fc.assert(
    fc.property(seed, larger, (from, interval) => {
      const columns = columnsOf(holed(from, 300));
      const all = resampleKlines('1min', columns, { interval });
      expect(aggregate('1min', interval, columns).columns).toEqual(all);
    }),
    { numRuns: 50 },
  );
});

test('what comes after a row, or that nothing does, changes no value up to it', () => {
  fc.assert(
    fc.property(seed, larger, fc.integer({ min: 0, max: 248 }), (from, interval, row) => {
      const columns = columnsOf(holed(from, 250));
      const indicator = on(interval, sma('close', 2));
      const upTo = (values: Float64Array): Float64Array => values.slice(0, row + 1);
      const whole = upTo(indicator.column(columns, '1min'));
      const wild = (column: Float64Array): Float64Array =>
        column.map((value, at) => (at > row ? value * 3 + 1 : value));
      const poisoned = { ...columns, open: wild(columns.open), high: wild(columns.high), close: wild(columns.close) };
      expect(upTo(indicator.column(cut(columns, 0, row + 1), '1min'))).toEqual(whole);
      expect(upTo(indicator.column(poisoned, '1min'))).toEqual(whole);
    }),
    { numRuns: 100 },
  );
});

const caseOf = (from: number, strategy: Strategy): Case =>
  caseOfXz({ columns: columnsOf(holed(from, 600)), rules: 'sluice', cash: '1000000', strategy });

const byIndicators = defineStrategy({
  name: 'two-intervals',
  about: 'Long while a minute closes above the hour and quarter hours rise',
  params: {},
  indicators: () => ({ hour: on('60min', sma('close', 1)), quarters: on('15min', ema('close', 2)) }),
  decide: ({ hour, quarters }, { kline }) =>
    kline.close > hour || kline.close < quarters - 1 ? hold({ quantity: 3 }, 'above') : flat('below'),
});

const crossing = defineStrategy({
  name: 'crossing',
  about: 'Long while the close stands above the average of three',
  params: {},
  indicators: () => ({ average: sma('close', 3) }),
  decide: ({ average }, { kline }) =>
    kline.close > average ? hold({ quantity: 2 }, 'above', { stop: kline.close - 2 }) : flat('below'),
});

test('a strategy of three intervals gives the same rows by columns and by streams', async () => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(seed, async (from) => {
      const input = inputOf(caseOf(from, byIndicators));
      const rows = rowsOf(runNow(input));
      fills += rows.fills.length;
      expect(rowsOf(await runStreams(input))).toEqual(rows);
    }),
    { numRuns: 20 },
  );
  expect(fills).toBeGreaterThan(200);
});

test.each(['plain', 'sluice'] as const)(
  'a strategy of five minutes over recorded minutes gives the same rows thrice (%s)',
  async (rules) => {
    let fills = 0;
    await fc.assert(
      fc.asyncProperty(seed, async (from) => {
        const { klines, signals: each } = generated(from, 400);
        const signals = each.filter((_, row) => row % 5 === 4);
        const strategy = scripted(signals, 5 * minuteMs);
        const given: Case = { ...caseOf(from, strategy), rules, columns: columnsOf(klines), decidesOn: '5min' };
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[Math.floor(row / 5)] });
        fills += expected.fills.length;
        expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
    expect(fills).toBeGreaterThan(400);
  },
);

test('strategies of several intervals on one symbol give the same rows by columns and by streams', async () => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(seed, larger, fc.integer({ min: 0, max: 130 }), async (from, interval, first) => {
      const [own] = inputOf(caseOf(from, byIndicators)).hosted;
      const input = inputOf(caseOf(from, byIndicators));
      if (own === undefined) throw new Error('a case has a strategy');
      const average = { ...own, id: 'average', interval, strategy: crossing };
      const both: RunInput = {
        ...input,
        hosted: [average, own],
        allocations: [own, average].map(({ id }) => ({ strategy: id, symbol: own.symbol, amount: units('500000') })),
        series: input.series.map((one) => ({ ...one, first })),
      };
      const ids = ['%', 's', 'average'];
      const rows = rowsOfEach(runNow(both), ids);
      fills += rows[2]?.fills.length ?? 0;
      expect(rowsOfEach(await runStreams(both), ids)).toEqual(rows);
    }),
    { numRuns: 40 },
  );
  expect(fills).toBeGreaterThan(100);
});

describe('two larger klines that are known at one moment, for the end of the first is missing', () => {
  // The minute 19 closes the five minutes from 5 on, and those from 15 on.
  const minutes = Array.from({ length: 40 }, (_, minute) => minute)
    .filter((minute) => minute !== 9 && (minute < 10 || minute > 18))
    .map((minute) => ({ time: minute * minuteMs, open: 100, high: 100.5, low: 99.5, close: 100, volume: 5_000 }));

  /** Signals by the minute at which the kline of five opens; nothing is said at the others. */
  const saying = (signals: Readonly<Record<number, Signal>>): Strategy =>
    defineStrategy({
      name: 'saying',
      about: 'Says what a test wrote down',
      params: {},
      indicators: () => ({}),
      decide: (_, { kline }) => signals[kline.openTime / minuteMs],
    });

  async function filled(strategy: Strategy, first: readonly Strategy[] = []): Promise<readonly string[]> {
    const given = caseOfXz({ columns: columnsOf(minutes), rules: 'plain', cash: '1000', strategy, decidesOn: '5min' });
    const input = inputOf(given);
    const [place] = input.hosted as [RunInput['hosted'][number]];
    const hosted = [...first.map((one, index) => ({ ...place, id: `first${index}`, strategy: one })), place];
    const allocations = hosted.map(({ id, symbol }) => ({ strategy: id, symbol, amount: units('1000') }));
    const run = { ...input, hosted, allocations, cash: units('9000') };
    const of = ({ fills }: RunResult): readonly string[] =>
      fills
        .filter((fill) => fill.strategy === place.id)
        .map(({ side, quantity, time }) => `${side} ${Number(quantity) / 1e4} at ${time / minuteMs}`);
    const rows = of(runNow(run));
    expect(of(await runStreams(run))).toEqual(rows);
    return rows;
  }

  test('make an order of the first signal, and after it what the last one lacks', async () => {
    const rows = await filled(saying({ 5: hold({ quantity: 3 }, 'first'), 15: hold({ quantity: 1 }, 'last') }));
    expect(rows).toEqual(['BUY 3 at 20', 'SELL 2 at 25']);
  });

  test('make an order of the last signal alone where something has to be cancelled before', async () => {
    const resting = hold({ quantity: 2 }, 'rest', { limit: 95 });
    const signals = { 0: resting, 5: hold({ quantity: 3 }, 'first'), 15: hold({ quantity: 1 }, 'last') };
    expect(await filled(saying(signals))).toEqual(['BUY 1 at 20']);
  });

  test('make an order of the last signal alone where the symbol is busy with that of another strategy', async () => {
    const signals = { 5: hold({ quantity: 3 }, 'first'), 15: hold({ quantity: 1 }, 'last') };
    expect(await filled(saying(signals), [saying(signals)])).toEqual(['BUY 1 at 20']);
  });
});

test('klinesOf tells a stream strategy of each larger kline before the minute that closed it', async () => {
  const seen: { readonly at: number; readonly hour: Kline }[] = [];
  const strategy = defineStrategy({
    name: 'streams-of-two',
    about: 'Looks at hours',
    params: {},
    signals: ({ klines, klinesOf: hoursOf }) =>
      klines.pipe(
        withLatestFrom(hoursOf('60min')),
        map(([{ openTime: at, close }, { openTime: time, open, high, low, close: last, volume }]) => {
          seen.push({ at, hour: { time, open, high, low, close: last, volume } });
          return close > last ? hold({ quantity: 1 }, 'above') : flat('below');
        }),
      ),
  });
  const given = caseOf(7, strategy);
  await runStreams(inputOf(given));
  const klines = klinesOf(given.columns);
  const rows = klines.flatMap((kline, row) => {
    const hour = closedFrames(klines, row, minuteMs, 60 * minuteMs).at(-1);
    return hour === undefined ? [] : [{ at: kline.time, hour }];
  });
  expect(rows.length).toBeGreaterThan(300);
  expect(seen).toEqual(rows);
});

test('warm-up is counted in its own klines, wherever in a larger one they begin', () => {
  expect(ownWarmup(on('60min', sma('close', 5)), '1min')).toBe(359);
  expect(ownWarmup(on('60min', sma('close', 5)), '60min')).toBe(5);
  expect(warmupOf(byIndicators, {}, '1min')).toBe(119);
  for (let from = 0; from < 60; from++) {
    const klines = generated(1, 130).klines.map((kline) => ({ ...kline, time: kline.time + from * minuteMs }));
    const hour = on('60min', sma('close', 1)).column(columnsOf(klines), '1min');
    expect(hour.findIndex((value) => !Number.isNaN(value))).toBeLessThan(119);
  }
});

test('an interval that its klines do not make up is refused with what to do', () => {
  expect(intervalFault(byIndicators, {}, '1min')).toBeUndefined();
  expect(intervalFault(byIndicators, {}, '60min')).toBe(
    'klines of 15min cannot be made from klines of 60min: give the strategy a smaller interval',
  );
  expect(() => on('1day', on('60min', sma('close', 2)))).toThrow(/over klines of 60min already/);
});
