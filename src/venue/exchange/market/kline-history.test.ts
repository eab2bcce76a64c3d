import { expect, it } from 'vitest';
import { memoryFeed } from '../../../../test/kit/exchange-stub.ts';
import { SimClock } from '../../../clock/sim-clock.ts';

const start = Date.UTC(2026, 0, 1, 12);
const minute = 60_000;
const row = (index: number, close = 100 + index) => ({
  idx: start + index * minute,
  open: '10',
  high: '1000',
  low: '5',
  close,
  vol: '1E0',
});

/** The last closed klines as `index:close`. */
async function history(count: number, answer: (url: URL, clock: SimClock) => unknown, atMs = 30_000) {
  const clock = new SimClock(start + atMs);
  const made = memoryFeed(clock, (url) => answer(url, clock));
  const asked = clock.track(made.feed.history('BTCUSDT', '1min', count));
  await clock.advanceTo(clock.now() + 5_000);
  const result = await asked;
  const read = result.kind === 'ok' ? result.value.map((k) => `${(k.openTime - start) / minute}:${k.close}`) : result;
  return { read, urls: made.http.urls.map((url) => url.search), seen: made.seen(), took: clock.now() };
}

const rows = [row(0), row(-1), row(-2), row(-3)];

it('gives closed klines alone, oldest first, whichever way they come and however they are wrapped', async () => {
  const wanted = ['-2:98', '-1:99'];
  expect((await history(2, () => rows)).read).toEqual(wanted);
  expect((await history(2, () => rows.toReversed())).read).toEqual(wanted);
  expect((await history(2, () => ({ list: rows }))).read).toEqual(wanted);
  expect((await history(2, () => ({ code: '0', msg: 'suc', data: rows }))).read).toEqual(wanted);
  expect((await history(2, () => rows.map((one) => ({ ...one, idx: one.idx / 1_000 })))).read).toEqual(wanted);
  expect((await history(2, () => rows.map(({ idx, ...one }) => ({ ...one, id: idx / 1_000 })))).read).toEqual(wanted);
  expect((await history(0, () => rows)).read).toEqual([]);
});

it('drops what cannot be a kline, and repeats', async () => {
  const { read, seen } = await history(9, (url) =>
    url.search.includes('endTime')
      ? []
      : [...rows, row(-1, 5), { ...row(-4), close: null }, { ...row(-5), low: -1 }, 7],
  );
  expect(read).toEqual(['-3:97', '-2:98', '-1:99']);
  expect(seen).toEqual({ 'unreadable kline': 3 });
});

it('pages back by time for more than one call gives, and ends where the exchange has no more', async () => {
  const all = Array.from({ length: 700 }, (_, index) => row(-index, 100));
  const paged = (url: URL) => {
    const end = url.searchParams.get('endTime');
    return all.filter(({ idx }) => end === null || idx <= Number(end)).slice(0, 300);
  };
  const { read, urls } = await history(650, paged);
  expect(read).toHaveLength(650);
  expect(urls).toHaveLength(3);
  expect((await history(5_000, paged)).read).toHaveLength(699);
});

it('does not take a page twice from an exchange that ignores the time', async () => {
  const page = Array.from({ length: 300 }, (_, index) => row(-index, 100));
  const { read, urls } = await history(650, () => page);
  expect(read).toHaveLength(299);
  expect(urls).toHaveLength(2);
});

it('just after a close waits out the grace when nothing proves that the newest kline is final', async () => {
  // At 12:00:00.5 the exchange still shows the kline of 11:59 as its last, and not yet in its final state.
  const { read, urls } = await history(1, (_, clock) => [row(-1, clock.now() < start + 1_500 ? 1 : 2), row(-2)], 500);
  expect(read).toEqual(['-1:2']);
  expect(urls).toHaveLength(2);
});

it('does not take the open kline for a closed one because of a row that is dated ahead of it', async () => {
  for (const ahead of [1, 60 * 24 * 365]) {
    const { read } = await history(2, () => [row(ahead), row(0), row(-1), row(-2)], 30_000);
    expect(read).toEqual(['-2:98', '-1:99']);
  }
});

it('fails, and gives no empty list, where the exchange gives none or no list', async () => {
  for (const body of [[], {}, { code: '-1121', msg: 'Invalid symbol.' }, new Error('reset')]) {
    expect((await history(3, () => body)).read).toMatchObject({ kind: 'failed' });
  }
});

it('leaves out a kline that was still open when it was asked for, as a clock that was ahead shows later', async () => {
  class AheadClock extends SimClock {
    aheadMs = 4_000;
    override now(): number {
      return super.now() + this.aheadMs;
    }
  }
  const clock = new AheadClock(start - 1_000);
  const { feed } = memoryFeed(clock, (url) => {
    if (!url.searchParams.has('endTime')) return [row(-1), row(-2)];
    clock.aheadMs = 0;
    return [];
  });
  const asked = clock.track(feed.history('BTCUSDT', '1min', 3));
  await clock.settle();
  expect(await asked).toMatchObject({ kind: 'ok', value: [{ openTime: start - 2 * minute }] });
});
