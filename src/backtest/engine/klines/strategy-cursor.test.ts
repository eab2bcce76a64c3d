import { expect, test } from 'vitest';
import type { Columns } from '../../../domain/market.ts';
import { type Indicator, sma } from '../../../strategy/indicators.ts';
import { ValueWindow } from './strategy-cursor.ts';

const rows = 10_000;
const numbers = Float64Array.from({ length: rows }, (_, row) => 5_000 + 100 * Math.sin(row / 7) + (row % 13) / 10);
const klines: Columns = {
  ...{ openTime: numbers.map((_, row) => row * 60_000), open: numbers, high: numbers, low: numbers },
  ...{ close: numbers, volume: numbers },
};
const tenth: Indicator = { ...sma('close', 7), column: () => numbers.map((value) => value / 10) };

/** The values at a row, as a strategy reads them. */
function at(window: ValueWindow, row: number): readonly (number | undefined)[] {
  window.reach(row);
  return window.columns.map((column) => column[row - window.from]);
}

test('every row has the values of the whole columns, of indicators without pieces too', () => {
  const indicators = [sma('close', 3), tenth, sma('close', 9_000)];
  const whole = indicators.map((one) => one.column(klines, '1min'));
  const window = new ValueWindow(indicators, klines, '1min');
  for (let row = 0; row < rows; row++) expect(at(window, row)).toEqual(whole.map((column) => column[row]));
});

test('rows may be passed over', () => {
  const slow = sma('close', 9_000);
  const whole = slow.column(klines, '1min');
  const window = new ValueWindow([slow], klines, '1min');
  for (const row of [8_999, 9_000, 9_999]) expect(at(window, row)).toEqual([whole[row]]);
});

test('a piece at a time is held', () => {
  const window = new ValueWindow([sma('close', 3)], klines, '1min');
  window.reach(rows - 1);
  expect(window.columns[0]?.length).toBeLessThan(rows / 2);
});

test("what stands in the place of an indicator's column stands in that of its pieces", () => {
  const window = new ValueWindow([tenth], klines, '1min');
  expect(at(window, 5_000)).toEqual([(numbers[5_000] ?? 0) / 10]);
});
