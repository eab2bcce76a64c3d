import { expect, test } from 'vitest';
import { day, fill, instruments, minute, series } from '../../../test/kit/statistics.ts';
import { rulesets } from '../../fill/rules.ts';
import { fillTable } from '../../research/fill-table.ts';
import { unmovedOrders } from './large-orders.ts';

/** Ten days of minute klines, of which each trades 5: 7,200 a day. */
const klines = { ...series(Array.from({ length: 14_400 }, () => 100)), gaps: [] };
const given = { rules: rulesets.plain, series: [klines] };
const at = 8 * day + minute;
const countOf = (fills: readonly ReturnType<typeof fill>[], more: Partial<typeof given> = {}) =>
  unmovedOrders({ ...given, ...more }, fillTable(fills, instruments));

test('orders that took a thousandth of a usual day are counted, whole, where rules know no impact', () => {
  const small = fill(at, 'BUY', '100', '7.1');
  expect(countOf([small])).toBeNull();
  expect(countOf([small, fill(at + minute, 'SELL', '100', '7.2')])).toEqual({ orders: 1, largestShare: 0.001 });
  const parts = ['4', '5', '5'].map((part) => fill(at, 'BUY', '100', part, { orderId: '7', clientOrderId: '7' }));
  expect(countOf(parts)).toEqual({ orders: 1, largestShare: 14 / 7_200 });
});

test('what rests, or walks a book, takes nothing at the price of a small order; rules with impact move theirs', () => {
  expect(countOf([fill(at, 'BUY', '100', '50', { maker: true })])).toBeNull();
  expect(countOf([fill(at, 'BUY', '100', '50', { evidence: { rule: 'depth-walk' } })])).toBeNull();
  expect(countOf([fill(at, 'BUY', '100', '50')], { rules: rulesets.sluice })).toBeNull();
  const without = { ...klines, columns: { ...klines.columns, volume: new Float64Array(klines.end) } };
  expect(countOf([fill(at, 'BUY', '100', '50')], { series: [without] })).toBeNull();
});
