import { expect, test } from 'vitest';
import { withinKlines } from './unpack.ts';

const at = (...times: readonly number[]) => times.map((time) => ({ time }));

test('fills of the last kline in view, and of the last of all, are in view', () => {
  const klines = at(0, 60, 120);
  const fills = at(0, 59, 60, 61, 119, 120, 179);
  expect(withinKlines(fills, klines, 0, 60)).toEqual(at(0, 59, 60, 61, 119));
  expect(withinKlines(fills, klines, 60, 120)).toEqual(at(60, 61, 119, 120, 179));
  expect(withinKlines(fills, klines, 0, 90.5)).toEqual(at(0, 59, 60, 61, 119));
});
