/** Strategies that are paid in two currencies: each has the rows that it has alone, and the equity is counted at recorded rates. */

import { describe, expect, test } from 'vitest';
import { inEach, pairsOf, rateNote } from '../../src/backtest/engine/currencies.ts';
import { equityInput } from '../../src/backtest/result/summary.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { instrument } from '../../src/domain/instrument.ts';
import type { Interval } from '../../src/domain/interval.ts';
import { Decimal, noUnits, units, unitsText } from '../../src/domain/money.ts';
import { RateLine } from '../../src/research/currency-rates.ts';
import { fillTable } from '../../src/research/fill-table.ts';
import { measure } from '../../src/research/metrics.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import {
  byReference,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  rowsOfEach,
  runStreams,
  scripted,
  xz,
} from './agreement.ts';

const minuteMs = 60_000;
const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const pair = instrument({
  symbol: 'YZ',
  base: 'Y',
  quote: 'Z',
  pricePrecision: 2,
  quantityPrecision: 4,
  minQuantity: 0n as never,
  minNotional: noUnits,
});

function caseOf(seed: number, symbol: string, quote: string, cash: string, interval: Interval = '1min'): Case {
  const lengthMs = interval === '1min' ? minuteMs : 5 * minuteMs;
  const { klines, signals } = generated(seed, 120);
  return caseOfXz({
    symbol,
    interval,
    instrument: { ...xz, base: symbol[0] ?? '', quote },
    columns: columnsOf(klines.map((kline, row) => ({ ...kline, time: row * lengthMs }))),
    rules: 'sluice',
    cash,
    strategy: scripted(signals, lengthMs),
  });
}

/** Closes of the pair at these minutes. */
const lineOf = (closes: readonly (readonly [minute: number, rate: number])[]): RateLine =>
  new RateLine(
    '1min',
    columnsOf(
      closes.map(([minute, rate]) => ({
        ...{ time: (minute - 1) * minuteMs, open: rate, high: rate, low: rate, close: rate, volume: 1 },
      })),
    ),
  );

/** XZ is paid in Z, in which the equity is counted, and WY in Y. */
function joined(z: Case, y: Case, line: RateLine): RunInput {
  const [own, other] = [inputOf(z), inputOf(y)];
  const named = (input: RunInput, id: string): Pick<RunInput, 'hosted' | 'allocations'> => ({
    hosted: input.hosted.map((one) => ({ ...one, id })),
    allocations: input.allocations.map((one) => ({ ...one, strategy: id })),
  });
  const [a, b] = [named(own, 'z'), named(other, 'y')];
  const { maxOrderValue, maxPosition } = other.limits;
  return {
    ...own,
    hosted: [...a.hosted, ...b.hosted],
    allocations: [...a.allocations, ...b.allocations],
    instruments: new Map([...own.instruments, ...other.instruments]),
    series: [...own.series, ...other.series],
    currencies: {
      reporting: 'Z',
      cash: own.cash,
      others: [{ asset: 'Y', cash: other.cash, pair, line, limits: { maxOrderValue, maxPosition } }],
    },
  };
}

const byColumns = (input: RunInput): Promise<RunResult> => inEach(input, (part) => Promise.resolve(runNow(part)));

test('each strategy has the rows that it has alone, by columns, streams and the reference, and equity is counted at the last rate', async () => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(seeds, seeds, fc.constantFrom<Interval>('1min', '5min'), async (seedZ, seedY, interval) => {
      const [z, y] = [caseOf(seedZ, 'XZ', 'Z', '20000'), caseOf(seedY, 'WY', 'Y', '5000', interval)];
      const line = lineOf([
        [0, 3],
        [7, 2.5],
        [90, 2.25],
        [100_000, 99],
      ]);
      const input = joined(z, y, line);
      const alone = [z, y].map((one, index) => {
        const { signals } = generated(index === 0 ? seedZ : seedY, 120);
        return byReference(one, { kind: 'script', signal: (row) => signals[row] });
      });
      const ids = ['z', 'y'];
      const [columns, streams] = [await byColumns(input), await inEach(input, runStreams)];
      // Whoever keeps a run and whoever reports it ask one after the other.
      const ordersIn = (): unknown => streams.journal().prepare('SELECT client_order_id FROM orders').all();
      expect(ordersIn()).toEqual(ordersIn());
      const equity = Decimal.sum(alone[0]?.equity ?? 0, new Decimal(alone[1]?.equity ?? 0).times('2.25')).toFixed();
      expect([unitsText(columns.finalEquity), unitsText(streams.finalEquity)]).toEqual([equity, equity]);
      const rows = rowsOfEach(columns, ids).map(({ decisions, fills: filled }) => ({ decisions, fills: bare(filled) }));
      expect(rows).toEqual(alone.map(({ decisions, fills: filled }) => ({ decisions, fills: bare(filled) })));
      expect(rowsOfEach(streams, ids).map(({ fills: filled }) => bare(filled))).toEqual(rows.map((one) => one.fills));
      expect(columns.fills.map(({ tradeId }) => tradeId)).toHaveLength(
        new Set(columns.fills.map(({ tradeId }) => tradeId)).size,
      );
      fills += columns.fills.length;
      const curve = measure(equityInput(input, fillTable(columns.fills, input.instruments)), {}).walked.days.equity;
      expect(curve[0]).toBeCloseTo(20_000 + 3 * 5_000, 9);
    }),
    { numRuns: 30 },
  );
  expect(fills).toBeGreaterThan(300);
});

/** Order numbers count anew in each run. */
const bare = (fills: readonly object[]): unknown => fills.map((fill) => ({ ...fill, order: 0 }));

describe('figures in one currency', () => {
  const flat = (symbol: string, quote: string, signals: Parameters<typeof scripted>[0]): Case => ({
    ...caseOf(1, symbol, quote, '1000'),
    rules: 'plain',
    fees: { maker: '0', taker: '0.01' },
    strategy: scripted(signals),
    columns: columnsOf(
      Array.from({ length: 20 }, (_, row) => ({
        ...{ time: row * minuteMs, open: 10, high: 10, low: 10, close: 10, volume: 1_000 },
      })),
    ),
  });
  const nothing = Array.from({ length: 20 }, () => ({ quantity: '0' }));
  // Bought at the open of minute 3, sold at that of minute 12.
  const round = Array.from({ length: 20 }, (_, row) => ({ quantity: row >= 2 && row < 11 ? '50' : '0' }));

  test('have what the currency did in equity and round trips, and fees at the rate of each fill', async () => {
    const input = joined(
      flat('XZ', 'Z', nothing),
      flat('WY', 'Y', round),
      lineOf([
        [0, 2],
        [8, 3],
      ]),
    );
    const result = await byColumns(input);
    // 1,000 less two fees of 5, at 3.
    expect(unitsText(result.finalEquity)).toBe('3970');
    const { metrics, walked, trips } = measure(equityInput(input, fillTable(result.fills, input.instruments)), {
      finalEquity: 3_970,
    });
    expect(unitsText(metrics.fees)).toBe('25');
    expect(unitsText(metrics.turnover)).toBe('2500');
    expect([...trips.profit, ...trips.fees]).toEqual([475, 25]);
    expect(walked.days.equity.at(-1)).toBeCloseTo(3_970, 9);
    expect(walked.days.buyAndHold.at(0)).toBeCloseTo(3_000, 9);
  });
});

describe('a rate', () => {
  test('is the close of the last kline that has closed, whatever comes later', () => {
    const at = [
      [0, 1],
      [5, 2],
      [6, 3],
    ] as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20 * minuteMs }),
        fc.double({ min: 0.1, max: 9, noNaN: true }),
        (time, wild) => {
          const known = at.filter(([minute]) => minute * minuteMs <= time);
          expect(lineOf(at).at(time)).toBe(known.at(-1)?.[1]);
          expect(lineOf([...known, [21, wild]]).at(time)).toBe(known.at(-1)?.[1]);
        },
      ),
    );
  });

  const note = (line: RateLine, maxRateAgeMs: number, start = 0): string | undefined =>
    rateNote({ asset: 'Y', pair, line }, { start, end: 60 * minuteMs }, minuteMs, maxRateAgeMs);
  const minutes = (from: number, to: number): [number, number][] =>
    Array.from({ length: to - from }, (_, at) => [from + at, 2]);

  test('of klines without holes is nothing to tell of', () => {
    expect(note(lineOf(minutes(0, 61)), minuteMs)).toBeUndefined();
  });

  test('that had to serve through a hole is told with its age', () => {
    expect(note(lineOf([...minutes(0, 10), ...minutes(40, 61)]), 31 * minuteMs)).toBe(
      'Y: klines of YZ are missing; the oldest rate was 0.5 h old, at 1970-01-01T00:40Z',
    );
  });

  test('that would be older than is allowed, or that there is not at the start, is refused', () => {
    expect(() => note(lineOf([...minutes(0, 10), ...minutes(40, 61)]), 30 * minuteMs)).toThrow(
      /would be 0\.5 h old at 1970-01-01T00:40Z/,
    );
    expect(() => note(lineOf(minutes(0, 20)), 30 * minuteMs)).toThrow(/would be 0\.7 h old at 1970-01-01T01:00Z/);
    expect(() => note(lineOf(minutes(5, 61)), minuteMs)).toThrow(
      /there is no rate at 1970-01-01T00:00Z.*closes at 1970-01-01T00:05Z/,
    );
  });
});

describe('a configuration', () => {
  const currencies = (symbol: string) => ({
    Y: {
      cash: units('1'),
      pair: symbol,
      interval: '60min',
      maxRateAgeMs: 1,
      maxOrderValue: units('1'),
      maxPosition: units('1'),
    } as const,
  });

  test('of several currencies says what the equity is counted in, how much there is of each and what it is worth', () => {
    const ask = (given: Parameters<typeof pairsOf>[1], quotes: readonly string[]) =>
      pairsOf('b.yaml', given, quotes, [pair]);
    expect(ask({ currency: undefined, currencies: {} }, ['Z'])).toBeUndefined();
    expect([...(ask({ currency: 'Z', currencies: currencies('YZ') }, ['Z', 'Y']) ?? [])]).toEqual([['Y', pair]]);
    expect(() => ask({ currency: undefined, currencies: {} }, ['Z', 'Y'])).toThrow(
      /b\.yaml: currency: is missing: set it to the currency of the equity, Z or Y/,
    );
    expect(() => ask({ currency: 'Z', currencies: {} }, ['Z', 'Y'])).toThrow(
      /currencies\.Y: is missing: give the cash in Y and the pair that converts Y to /,
    );
    expect(() => ask({ currency: 'Z', currencies: currencies('AZ') }, ['Z', 'Y'])).toThrow(/no symbol AZ/);
    expect(() => ask({ currency: 'W', currencies: currencies('YZ') }, ['W', 'Y'])).toThrow(
      /YZ gives the value of Y in Z, not of Y in W/,
    );
    expect(() => ask({ currency: 'Z', currencies: currencies('YZ') }, ['Z'])).toThrow(/no strategy trades against Y/);
  });
});
