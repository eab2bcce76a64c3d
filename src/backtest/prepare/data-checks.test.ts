import { expect, test } from 'vitest';
import { spanNotes, type Warming } from './data-checks.ts';

const day = 86_400_000;
const from = Date.UTC(2024, 0, 1);
/** Ten days that begin five days after the run. */
const late = {
  ...{ symbol: 'BTCUSDT', interval: '1day' as const, source: 'a file' },
  openTime: Float64Array.from({ length: 10 }, (_, row) => from + (5 + row) * day),
};
const strategy: Warming = { id: 'one', of: '1day', needs: [{ warmup: 3 }] };

test('a symbol that begins late moves the begin of a strategy that trades it alone', () => {
  expect(spanNotes({ from }, late, { first: 0, end: 10 }, [strategy])).toEqual([
    'BTCUSDT: from is 2024-01-01T00:00Z, its first kline after that opens 2024-01-06T00:00Z: the run begins there',
    'BTCUSDT: 3 klines warm up and 0 lie before from: the first decision comes at 2024-01-09T00:00Z, when the last of them closes; import earlier klines for an earlier start',
  ]);
});

test('in a list it is left out until it has the klines of its warm-up', () => {
  expect(spanNotes({ from }, late, { first: 0, end: 10 }, [{ ...strategy, mayLack: true }])).toEqual([
    'BTCUSDT: from is 2024-01-01T00:00Z, its first kline after that opens 2024-01-06T00:00Z: it is left out until then',
    'BTCUSDT: 3 klines warm up and 0 lie before from: it is left out of the list until 2024-01-09T00:00Z, when the last of them closes',
  ]);
});
