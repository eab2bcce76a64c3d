import { expect, test } from 'vitest';
import { indicatorLines } from './indicator-data.ts';
import type { ReportSeries, SeriesIndicator } from './input.ts';

const minute = 60_000;
const rows = 8;
/** Ten klines of a minute, the first two before the run. */
const column = (of: (row: number) => number): Float64Array =>
  Float64Array.from({ length: rows + 2 }, (_, row) => of(row));
const seriesWith = (indicators: readonly SeriesIndicator[]): ReportSeries => ({
  ...{ symbol: 'XBTUSD', interval: '1min', first: 2, end: rows + 2, gaps: [], base: 'XBT' },
  ...{ pricePrecision: 1, quantityPrecision: 5, indicators },
  columns: {
    ...{ openTime: column((row) => row * minute), open: column(() => 100), close: column(() => 100) },
    ...{ high: column(() => 110), low: column(() => 90), volume: column(() => 1) },
  },
});
const indicator = (name: string, of: (row: number) => number): SeriesIndicator => ({
  ...{ strategy: 's', name, group: name },
  values: () => column(of),
});
const own = { ms: minute, openTime: column((row) => row * minute).subarray(2) };
const larger = { ms: 4 * minute, openTime: Float64Array.of(0, 4 * minute, 8 * minute) };
const sums = (steps: readonly (number | null)[]): readonly number[] => {
  let sum = 0;
  return steps.map((step) => {
    if (step === null) return Number.NaN;
    sum += step;
    return sum;
  });
};

test('each kline has the value after its last row, as multiples of a step', () => {
  const { lines } = indicatorLines(
    seriesWith([indicator('average', (row) => (row < 4 ? Number.NaN : 100 + row))]),
    [own, larger],
    1_000,
  );
  const [first] = lines;
  const values = first?.columns.map((steps) => sums(steps).map((sum) => sum * first.line.step));
  expect(values?.[0]?.slice(0, 2)).toEqual([Number.NaN, Number.NaN]);
  for (const [index, value] of (values?.[0] ?? []).slice(2).entries()) expect(value).toBeCloseTo(104 + index, 1);
  expect(values?.[1]?.[0]).toBeNaN();
  expect(values?.[1]?.[1]).toBeCloseTo(107, 1);
  expect(values?.[1]?.[2]).toBeCloseTo(109, 1);
});

test('lines that the file has no room for are counted, and not calculated', () => {
  let calculated = 0;
  const many = Array.from({ length: 5 }, (_, index) =>
    indicator(`line ${index}`, () => {
      calculated++;
      return 1;
    }),
  );
  const { lines, leftOut } = indicatorLines(seriesWith(many), [own], 2 * rows + 1);
  expect([lines.length, leftOut]).toEqual([2, 3]);
  expect(calculated).toBe(2 * (rows + 2));
});
