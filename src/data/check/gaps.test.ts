import { expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { findGaps, missingIn } from './gaps.ts';

const minute = 60_000;
const at = (...minutes: readonly number[]): Float64Array =>
  Float64Array.from(minutes, (one) => startTime + one * minute);

test('a hole is between the close of a kline and the open of the next, and klines that it cuts into are missing whole', () => {
  const gaps = findGaps({ symbol: 'BTCUSDT', interval: '1min' }, at(0, 1, 3, 4, 6.5));
  expect(gaps.map(({ from, to }) => [(from - startTime) / minute, (to - startTime) / minute])).toEqual([
    [2, 3],
    [5, 6.5],
  ]);
  expect(missingIn(gaps, { interval: '1min' })).toBe(1 + 2);
});
