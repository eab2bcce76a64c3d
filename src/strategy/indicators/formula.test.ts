import { expect, test } from 'vitest';
import { type Columns, formula, type Indicator, sma } from '../indicators.ts';
import { joinedPrices, joinKlines, of } from '../markets/joined-klines.ts';

const klines = (closes: readonly number[]): Columns => {
  const close = Float64Array.from(closes);
  return { openTime: close.map((_, row) => row * 60_000), open: close, high: close, low: close, close, volume: close };
};
const column = (indicator: Indicator, columns: Columns): number[] => [...indicator.column(columns, '1min')];

test('calculates at each kline from its sources, as a column and as a stream', () => {
  const excess = formula(['close', sma('close', 2)], (close, average) => close - average);
  const columns = klines([1, 3, 4, 8]);
  expect(excess.warmup).toBe(2);
  expect(column(excess, columns)).toEqual([Number.NaN, 1, 0.5, 2]);
  const next = excess.stream('1min');
  const rows = [...columns.close].map((close, row) => ({
    ...{ openTime: row * 60_000, open: close, high: close, low: close, close, volume: close },
  }));
  expect(rows.map(next)).toEqual([Number.NaN, 1, 0.5, 2]);
});

test('calculates over two markets where both have a kline, and can be the source of another indicator', () => {
  const ratio = formula([of('lead', 'close'), of('lag', 'close')], (lead, lag) => lead / lag);
  const lead = { columns: klines([2, 4, 6, 8]), interval: '1min' } as const;
  const lag = { columns: klines([1, 2, 1, 2]), interval: '1min' } as const;
  expect(column(ratio, joinKlines({ lead, lag }))).toEqual([2, 2, 6, 4]);
  expect(column(sma(ratio, 2), joinKlines({ lead, lag }))).toEqual([Number.NaN, 2, 4, 5]);
  const kline = { openTime: 0, open: 6, high: 6, low: 6, close: 6, volume: 6 };
  const next = ratio.stream('1min');
  expect(next(joinedPrices(60_000, { lead: { kline, interval: '1min' }, lag: undefined }))).toBe(Number.NaN);
});

test('has no value where the formula returns NaN, and throws where it returns something else than a number', () => {
  const columns = klines([1, -1]);
  expect(column(formula(['close'], Math.sqrt), columns)).toEqual([1, Number.NaN]);
  const text = formula(['close'], ((close: number) => `${close}`) as never);
  expect(() => text.column(columns, '1min')).toThrow("formula(): it returned '1' instead of a number");
});
