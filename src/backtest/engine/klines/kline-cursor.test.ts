import { expect, test } from 'vitest';
import { KlineCursor } from './kline-cursor.ts';

test('the kline that a strategy gets stays what it was, as does a copy of it', () => {
  const column = (...values: readonly number[]): Float64Array => Float64Array.from(values);
  const columns = {
    ...{
      openTime: column(0, 60_000),
      open: column(1, 2),
      high: column(3, 4),
      low: column(0.5, 1),
      close: column(2, 3),
    },
    volume: column(7, 8),
  };
  const cursor = new KlineCursor({ symbol: 'BTCUSDT', interval: '1min', columns, gaps: [], first: 0, end: 2 });
  const { kline: first } = cursor;
  expect(cursor.kline).toBe(first);
  // Others see it, too: a strategy that writes on it is told.
  expect(() => Object.assign(cursor.kline, { close: 5 })).toThrow(TypeError);
  cursor.row = 1;
  const prices = { symbol: 'BTCUSDT', interval: '1min', openTime: 0, open: 1, high: 3, low: 0.5, close: 2, volume: 7 };
  expect(first).toEqual({ ...prices, seenAt: 60_000 });
  expect({ ...cursor.kline }).toMatchObject({ openTime: 60_000, close: 3, seenAt: 120_000 });
});
