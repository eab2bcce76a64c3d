import { expect, test } from 'vitest';
import { btc, eth, kline, startTime } from '../../../test/kit/builders.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import type { Kline } from '../../domain/market.ts';
import type { JoinedMoment } from '../../strategy/markets/several-markets-host.ts';
import { Moments, missingAfterMs } from './moments.ts';

const minute = 60_000;

/** Two markets of one minute, or of what is given; klines arrive by market and the minute in which they open. */
function joining(
  intervals: readonly Kline['interval'][] = ['1min', '1min'],
  histories: readonly (readonly Kline[])[] = intervals.map(() => []),
  clock = new SimClock(startTime),
) {
  const seen: string[] = [];
  const silent: string[] = [];
  const shown = ({ time, klines, isNew, isLate }: JoinedMoment): string =>
    `${(time - startTime) / minute}: ${klines.map((one) => one?.close ?? '-').join(' ')}${isNew ? '' : ' of history'}${isLate ? ' late' : ''}`;
  const moments = new Moments({
    intervals,
    clock,
    closed: (moment) => void seen.push(shown(moment)),
    silent: (index, isSilent) => void silent.push(`${index} ${isSilent}`),
  });
  const history = moments.begin(histories).map(shown);
  moments.release();
  const symbols = [btc.symbol, eth.symbol];
  const arrive = (index: number, close: number, opened: number): void =>
    moments.arrive(index, { ...kline(close, opened, symbols[index]), interval: intervals[index] ?? '1min' });
  return { clock, moments, history, seen, silent, arrive };
}

const minutesOf = (count: number, from = 0): Kline[] => Array.from({ length: count }, (_, at) => kline(at, from + at));

test('klines that close together are one moment, in whatever order they come', () => {
  const { seen, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)]);
  arrive(1, 20, 1);
  expect(seen).toEqual([]);
  arrive(0, 10, 1);
  arrive(0, 11, 2);
  arrive(1, 21, 2);
  expect(seen).toEqual(['2: 10 20', '3: 11 21']);
});

test('a kline that has not come counts as missing after a time, and later only feeds the indicators', async () => {
  const { clock, seen, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)]);
  arrive(0, 10, 1);
  await clock.advanceTo(clock.now() + missingAfterMs - 1);
  expect(seen).toEqual([]);
  await clock.advanceTo(clock.now() + 1);
  arrive(1, 20, 1);
  expect(seen).toEqual(['2: 10 -', '2: - 20 late']);
});

test('that time is real, also where the market is faster', async () => {
  class Faster extends SimClock {
    override machine(ms: number): number {
      return ms * 60;
    }
  }
  const { clock, seen, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)], new Faster(startTime));
  arrive(0, 10, 1);
  await clock.advanceTo(clock.now() + missingAfterMs * 60 - 1);
  expect(seen).toEqual([]);
  await clock.advanceTo(clock.now() + 1);
  expect(seen).toEqual(['2: 10 -']);
});

test('a later kline of a market shows that one before is missing', () => {
  const { seen, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)]);
  arrive(0, 10, 1);
  arrive(1, 21, 2);
  expect(seen).toEqual(['2: 10 -']);
});

test('a moment waits for a larger interval only when one of its klines is due', () => {
  const { seen, arrive } = joining(['1min', '5min'], [minutesOf(5), [{ ...kline(50), interval: '5min' }]]);
  for (const opened of [5, 6, 7, 8, 9]) arrive(0, opened, opened);
  expect(seen).toEqual(['6: 5 -', '7: 6 -', '8: 7 -', '9: 8 -']);
  arrive(1, 51, 5);
  expect(seen.at(-1)).toBe('10: 9 51');
});

test('nothing waits for a market that never had a kline, and it comes in with its first', () => {
  const { seen, arrive } = joining(['1min', '1min'], [minutesOf(1), []]);
  arrive(0, 10, 1);
  arrive(1, 20, 2);
  arrive(0, 11, 2);
  arrive(0, 12, 3);
  expect(seen).toEqual(['2: 10 -', '3: 11 20']);
});

test('nothing waits any more for a market that has missed three klines in a row, until it has one', async () => {
  const { clock, seen, silent, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)]);
  for (const opened of [1, 2, 3]) {
    arrive(0, opened, opened);
    await clock.advanceTo(clock.now() + missingAfterMs);
  }
  expect(silent).toEqual(['1 true']);
  arrive(0, 4, 4);
  expect(seen.at(-1)).toBe('5: 4 -');
  arrive(1, 25, 5);
  arrive(0, 5, 5);
  expect(silent).toEqual(['1 true', '1 false']);
  arrive(0, 6, 6);
  expect(seen.at(-1)).toBe('6: 5 25');
});

test('history ends where a market may still get its kline over its feed', () => {
  const { history, seen, arrive } = joining(['1min', '1min'], [minutesOf(3), minutesOf(2)]);
  expect([history, seen]).toEqual([['1: 0 0 of history', '2: 1 1 of history'], []]);
  arrive(1, 22, 2);
  expect(seen).toEqual(['3: 2 22']);
});

test('on hold nothing passes, and afterwards everything does that waited', async () => {
  const { clock, moments, seen, arrive } = joining(['1min', '1min'], [minutesOf(1), minutesOf(1)]);
  moments.hold();
  arrive(0, 10, 1);
  arrive(1, 20, 1);
  arrive(0, 11, 2);
  await clock.advanceTo(clock.now() + missingAfterMs);
  expect(seen).toEqual([]);
  moments.release();
  expect(seen).toEqual(['2: 10 20', '3: 11 -']);
});
