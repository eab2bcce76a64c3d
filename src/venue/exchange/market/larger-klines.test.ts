import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { SimClock } from '../../../clock/sim-clock.ts';
import type { Kline } from '../../../domain/market.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import { withAllIntervals } from './larger-klines.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Eight o'clock, UTC. */
const eight = Date.UTC(2026, 0, 1, 8);

/** The kline that opens so many hours after eight. */
const hourly = (index: number): Kline => ({
  symbol: 'BTCUSDT',
  interval: '60min',
  openTime: eight + index * hour,
  open: 100 + index,
  high: 110 + index,
  low: 90 + index,
  close: 101 + index,
  volume: 1,
  seenAt: eight + (index + 1) * hour,
});

interface ExchangeOptions {
  readonly now: number;
  readonly first?: number;
  /** An hour without trades. */
  readonly missing?: number;
  readonly failures?: number;
}

/** An exchange at a time, which has the hours from the first one on; its first answers fail. */
function exchange({ now, first = -40, missing, failures = 0 }: ExchangeOptions) {
  const clock = new SimClock(now);
  const hours = new Subject<Kline>();
  const asked: string[] = [];
  let failing = failures;
  const feed = withAllIntervals(clock, {
    klines: () => hours,
    history(_, interval, count): Promise<Answer<readonly Kline[]>> {
      asked.push(`${count} of ${interval}`);
      if (failing-- > 0) return Promise.resolve(failed('busy'));
      const closed = Math.floor((clock.now() - eight) / hour);
      const all = Array.from({ length: Math.max(0, closed - first) }, (_, at) => first + at);
      const indices = all.filter((index) => index !== missing);
      if (indices.length === 0) return Promise.resolve({ ...failed('none'), isEmpty: true });
      return Promise.resolve(ok(indices.slice(-count).map(hourly)));
    },
  });
  const seen: string[] = [];
  const listen = () =>
    feed
      .klines('BTCUSDT', '240min')
      .subscribe(({ interval, openTime, open, high, low, close, volume, seenAt }) =>
        seen.push(
          `${(openTime - eight) / hour} ${interval}: ${open} ${high} ${low} ${close} ${volume} at ${(seenAt - eight) / hour}`,
        ),
      );
  return { clock, hours, asked, feed, seen, listen };
}

test('a stream that begins in the middle of four hours emits them whole when they close', async () => {
  const { clock, hours, asked, seen, listen } = exchange({ now: eight + 2.5 * hour });
  listen();
  await clock.loop();
  expect(asked).toEqual(['4 of 60min']);
  hours.next(hourly(2));
  expect(seen).toEqual([]);
  for (const index of [3, 4, 5, 6]) hours.next(hourly(index));
  expect(seen).toEqual(['0 240min: 100 113 90 104 4 at 4']);
  hours.next(hourly(7));
  expect(seen.slice(1)).toEqual(['4 240min: 104 117 94 108 4 at 8']);
});

test('what closes while the history is on its way is neither lost nor counted twice', async () => {
  const { clock, hours, seen, listen } = exchange({ now: eight + 3 * hour, failures: 1 });
  listen();
  await clock.loop();
  await clock.advanceTo(eight + 3 * hour + 1_000);
  hours.next(hourly(3));
  expect(seen).toEqual([]);
  await clock.advanceTo(eight + 4 * hour + 10_000);
  expect(seen).toEqual(['0 240min: 100 113 90 104 4 at 4']);
});

test('four hours whose first hour had no trades are emitted, too', async () => {
  for (const now of [eight, eight + 0.5 * hour, eight + 1.5 * hour]) {
    const { clock, hours, seen, listen } = exchange({ now, missing: 0 });
    listen();
    await clock.loop();
    for (const index of [1, 2, 3]) hours.next(hourly(index));
    expect(seen).toEqual(['0 240min: 101 113 91 104 3 at 4']);
  }
});

test('the first klines of a market that has just begun are left out, and its history is asked for once', async () => {
  const { clock, hours, asked, seen, listen } = exchange({ now: eight + 1.5 * hour, first: 2 });
  listen();
  await clock.advanceTo(eight + 2 * hour);
  for (const index of [2, 3, 4, 5, 6, 7]) hours.next(hourly(index));
  expect(seen).toEqual(['4 240min: 104 117 94 108 4 at 8']);
  expect(asked.length).toBe(1);
});

test('an hour that is missing leaves four hours without it, which close with the next', async () => {
  const { clock, hours, seen, listen } = exchange({ now: eight });
  listen();
  await clock.loop();
  for (const index of [0, 1, 2, 4]) hours.next(hourly(index));
  expect(seen).toEqual(['0 240min: 100 112 90 103 3 at 5']);
});

test('history of an interval that the exchange does not have is made of whole klines that have closed', async () => {
  const { asked, feed } = exchange({ now: eight + 2.5 * hour });
  const answer = await feed.history('BTCUSDT', '240min', 2);
  expect(asked).toEqual(['12 of 60min']);
  expect(answer).toMatchObject({
    value: [
      { interval: '240min', openTime: eight - 8 * hour, open: 92, close: 96, volume: 4 },
      { interval: '240min', openTime: eight - 4 * hour, open: 96, close: 100, volume: 4 },
    ],
  });
});

test('an interval that the exchange has is passed on as it is', async () => {
  const { asked, feed } = exchange({ now: eight });
  await feed.history('BTCUSDT', '15min', 7);
  expect(asked).toEqual(['7 of 15min']);
});
