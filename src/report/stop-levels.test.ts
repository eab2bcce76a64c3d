import { expect, test } from 'vitest';
import type { OpenPosition } from '../research/round-trip-table.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import type { ReportSeries, StopLevel } from './input.ts';
import { stopSteps } from './stop-levels.ts';

const minute = 60_000;
const highs = [10, 11, 12, 12, 13, 9];
const column = (make: (row: number) => number): Float64Array => Float64Array.from(highs, (_, row) => make(row));
const series: ReportSeries = {
  symbol: 'XZ',
  interval: '1min',
  columns: {
    openTime: column((row) => row * minute),
    open: column((row) => highs[row] ?? 0),
    high: column((row) => highs[row] ?? 0),
    low: column((row) => (highs[row] ?? 0) - 1),
    close: column((row) => highs[row] ?? 0),
    volume: column(() => 1),
  },
  first: 0,
  end: highs.length,
  pricePrecision: 2,
  quantityPrecision: 2,
  base: 'X',
  gaps: [],
};
const trip = (entryTime: number, exitTime: number, long = true): RoundTrip => ({
  ...{ position: 0, long, entryTime, exitTime, entryFill: 0, exitFill: 1, quantity: 1, entryPrice: 10, exitPrice: 10 },
  ...{ cost: 10, profit: 0, fees: 0, worst: 0, best: 0 },
});
const level = (time: number, more: Partial<StopLevel>): StopLevel => ({
  ...{ time, strategy: 's', symbol: 'XZ', stop: null, takeProfit: null, trailing: null },
  ...more,
});
const steps = (trips: readonly RoundTrip[], stops: readonly StopLevel[], open: readonly OpenPosition[] = []) =>
  stopSteps({ stops, trips, open, table: { positions: [{ strategy: 's', symbol: 'XZ' }] } }, series).map(
    ([time, , stop, target]) => [time / minute, stop, target],
  );

test('a stop and a target are in force from the kline of the entry to the exit', () => {
  expect(steps([trip(minute + 5, 3 * minute)], [level(0, { stop: 8, takeProfit: 20 })])).toEqual([
    [1, 8, 20],
    [3 + 1 / minute, null, null],
  ]);
});

test('a trailing stop follows the highs of klines that are over, and never falls back', () => {
  expect(steps([trip(0, 5 * minute)], [level(0, { trailing: 0.5 })])).toEqual([
    [0, 5, null],
    [2, 5.5, null],
    [3, 6, null],
    [5, 6.5, null],
    [5 + 1 / minute, null, null],
  ]);
});

test('a short one follows the lows', () => {
  expect(steps([trip(0, 2 * minute, false)], [level(0, { trailing: 0.5 })])[1]).toEqual([1, 13.5, null]);
});

test('levels that change while a position is open count from then on', () => {
  expect(steps([trip(0, 4 * minute)], [level(0, { stop: 8 }), level(2 * minute, { stop: 9 })])).toEqual([
    [0, 8, null],
    [2, 9, null],
    [4 + 1 / minute, null, null],
  ]);
});

test('what is still held has its stops until the end', () => {
  const open = { position: 0, long: true, entryTime: 3 * minute, entryPrice: 12 };
  expect(steps([trip(0, minute)], [level(0, { stop: 8 }), level(4 * minute, { stop: 9 })], [open])).toEqual([
    [0, 8, null],
    [1 + 1 / minute, null, null],
    [3, 8, null],
    [4, 9, null],
  ]);
  expect(steps([], [level(0, { stop: 8 })], [{ ...open, position: 1 }])).toEqual([]);
});

test('levels from the entry are drawn where they come to, a distance as it was at the entry', () => {
  const levels = [
    level(0, { stop: { fromEntry: 0.2 }, takeProfit: { distance: 3 } }),
    level(2 * minute, { stop: { fromEntry: 0.2 }, takeProfit: { distance: 1 } }),
  ];
  expect(steps([trip(0, 3 * minute)], levels)).toEqual([
    [0, 8, 13],
    [3 + 1 / minute, null, null],
  ]);
});

test('a distance stays only for as long as every signal has one, as protection keeps it', () => {
  const levels = [
    level(0, { stop: 9 }),
    level(minute, { stop: { distance: 2 } }),
    level(2 * minute, { stop: { distance: 1 } }),
    level(3 * minute, { stop: { fromEntry: 0.5 } }),
    level(4 * minute, { stop: { distance: 3 } }),
  ];
  expect(steps([trip(0, 5 * minute)], levels)).toEqual([
    [0, 9, null],
    [1, 8, null],
    [3, 5, null],
    [4, 7, null],
    [5 + 1 / minute, null, null],
  ]);
});

test('a stop moves to break-even behind the kline that reached it, and trails at a distance', () => {
  const levels = [level(0, { trailing: { distance: 4 }, breakEven: { after: { distance: 2 }, plus: 0.01 } })];
  expect(steps([trip(0, 4 * minute)], levels).slice(0, 3)).toEqual([
    [0, 6, null],
    [2, 7, null],
    [3, 10.1, null],
  ]);
});
