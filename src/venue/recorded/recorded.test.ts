import { expect, test } from 'vitest';
import type { Columns, FeedGap, Kline } from '../../domain/market.ts';
import { RecordedSeries } from './recorded.ts';

const minute = 60_000;
function columns(...minutes: readonly number[]): Columns {
  const of = (value: (at: number) => number): Float64Array => Float64Array.from(minutes, value);
  return {
    openTime: of((at) => at * minute),
    open: of((at) => 100 + at),
    high: of((at) => 103 + at),
    low: of((at) => 99 + at),
    close: of((at) => 101 + at),
    volume: of(() => 5),
  };
}
const hole = (from: number, to: number): FeedGap => ({
  symbol: 'XBTUSD',
  channel: 'klines',
  from: from * minute,
  to: to * minute,
  cause: 'not in the recorded data',
  healed: false,
});

function drain(series: RecordedSeries): void {
  for (let kline = series.next(); kline !== undefined; kline = series.next()) series.push(kline);
}

test('rows come out as klines in order, a hole as a message before the kline after it', () => {
  const series = new RecordedSeries({
    symbol: 'XBTUSD',
    interval: '1min',
    columns: columns(0, 1, 4),
    gaps: [hole(2, 4)],
  });
  const seen: (Kline | FeedGap)[] = [];
  series.gaps.subscribe((gap) => seen.push(gap));
  series.klines.subscribe((kline) => seen.push(kline));
  drain(series);
  expect(seen.map((one) => ('cause' in one ? `hole to ${one.to}` : one.openTime))).toEqual([
    0,
    minute,
    `hole to ${4 * minute}`,
    4 * minute,
  ]);
  expect(seen[0]).toEqual({
    symbol: 'XBTUSD',
    interval: '1min',
    openTime: 0,
    open: 100,
    high: 103,
    low: 99,
    close: 101,
    volume: 5,
    seenAt: minute,
  });
});

test('history is what lies before the next row, and never more', () => {
  const series = new RecordedSeries({
    symbol: 'XBTUSD',
    interval: '1min',
    columns: columns(0, 1, 2, 5),
    gaps: [hole(3, 5)],
    first: 2,
  });
  const opens = (count: number): number[] => series.before(count).map((kline) => kline.openTime / minute);
  expect(opens(5)).toEqual([0, 1]);
  expect(opens(1)).toEqual([1]);
  const kline = series.next();
  if (kline !== undefined) series.push(kline);
  expect([opens(5), series.row]).toEqual([[0, 1, 2], 3]);
});

test('holes before the first row are history too', () => {
  const series = new RecordedSeries({
    symbol: 'XBTUSD',
    interval: '1min',
    columns: columns(0, 3, 4, 9),
    gaps: [hole(1, 3), hole(5, 9)],
    first: 2,
  });
  const seen: number[] = [];
  series.gaps.subscribe(({ to }) => seen.push(to / minute));
  drain(series);
  expect(seen).toEqual([9]);
});
