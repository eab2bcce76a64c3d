import { expect, test } from 'vitest';
import { draw } from './fill-chance.ts';
import { travelOf } from './latency.ts';
import { liquidityOf } from './liquidity.ts';
import { rulesets } from './rules.ts';

const day = 86_400_000;
/** One kline a day, closing at these prices, 1,000 traded on the first day, 1,100 on the second…. */
const daily = (...closes: readonly number[]) => {
  const of = (value: (row: number) => number): Float64Array => Float64Array.from(closes, (_, row) => value(row));
  const close = Float64Array.from(closes);
  return {
    openTime: of((row) => row * day),
    open: close,
    high: close,
    low: close,
    close,
    volume: of((row) => 1_000 + 100 * row),
  };
};

test('liquidity is that of the whole days before, and none where they are too few', () => {
  const at = liquidityOf(daily(100, 101, 100, 101, 100, 101, 100), '1day');
  // Of the days so far, so that what is large can be said.
  expect(at(5 * day)).toEqual({ volume: 1_250, deviation: undefined });
  expect(at(-1)).toBeUndefined();
  // Days 1 to 5; their returns are about -1 %, 1 %, -1 %, 1 %.
  expect(at(6 * day + 5)).toEqual({ volume: 1_300, deviation: expect.closeTo(0.01149, 5) });
});

test('what comes later never changes it', () => {
  const [short, long] = [daily(100, 101, 100, 101, 100, 101, 100), daily(100, 101, 100, 101, 100, 101, 999, 1)];
  expect(liquidityOf(long, '1day')(6 * day)).toEqual(liquidityOf(short, '1day')(6 * day));
});

test('a week of trading counts as seven days of a seventh, and its return as that of so many', () => {
  const weeks = daily(100, 101, 100, 101, 100, 101, 100);
  const openTime = weeks.openTime.map((at) => 7 * at);
  expect(liquidityOf({ ...weeks, openTime }, '1week')(7 * 6 * day + 2 * day)).toEqual({
    volume: expect.closeTo(1_300 / 7, 9),
    deviation: expect.closeTo(0.01149 / Math.sqrt(7), 5),
  });
});

test('latencies are those of the last row before, or drawn, the same for the same request', () => {
  const row = (time: number, entryMs: number) => ({ time, entryMs, responseMs: 7 });
  const rows = [row(10, 100), row(20, 200), row(30, 300)];
  const recorded = { ...rulesets.sluice, latency: { kind: 'recorded', rows } as const };
  expect([0, 10, 25, 99].map((at) => travelOf(recorded, at, 'a', 1).entryMs)).toEqual([100, 100, 200, 300]);
  const drawn = { ...rulesets.sluice, latency: { kind: 'distribution', travels: rows } as const };
  const many = Array.from({ length: 300 }, (_, seq) => travelOf(drawn, 0, 'a', seq).entryMs);
  expect(many).toEqual(Array.from({ length: 300 }, (_, seq) => travelOf(drawn, 5, 'a', seq).entryMs));
  for (const entryMs of [100, 200, 300]) expect(many.filter((one) => one === entryMs).length).toBeGreaterThan(60);
});

test('draws are spread evenly over [0, 1)', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let seq = 0; seq < 10_000; seq++) {
    const tenth = Math.floor(draw(1, 'order', seq) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(120);
});
