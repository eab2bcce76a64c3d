import { describe, expect, it } from 'vitest';
import { AheadClock, desk, inTime, start, tickerAt } from '../../../../test/kit/exchange-stub.ts';

const minute = 60_000;

describe('klines', () => {
  const channel = 'market_btcusdt_kline_1min';
  const frame = (index: number, close: number) => ({
    event_rep: '',
    channel,
    data: null,
    tick: { id: (start + index * minute) / 1_000, open: '10', high: '20', low: 5, close, vol: '3', amount: 1, ds: '' },
    ts: start,
    status: 'ok',
  });
  /** The exchange's own klines, `close` 100 + index, the newest first, up to the open one. */
  const restRows = (clock: () => number, first = -5) => {
    const rows = [];
    for (let index = Math.floor((clock() - start) / minute); index >= first; index--) {
      rows.push({ idx: start + index * minute, open: '10', high: '200', low: '5', close: 100 + index, vol: '1' });
    }
    return rows;
  };
  const closes = (made: ReturnType<typeof desk>) => {
    made.feed.klines('BTCUSDT', '1min').subscribe((kline) => {
      made.received.push(`${(kline.openTime - start) / minute}:${kline.close}@${kline.seenAt - start}`);
    });
    made.last().open();
  };
  const say = (made: ReturnType<typeof desk>, index: number, close: number) =>
    made.last().push({ ...frame(index, close), ts: made.clock.now() });
  /** Two frames: the first after a subscription may be stale. */
  const both = (made: ReturnType<typeof desk>, index: number, close: number) => {
    say(made, index, close - 1);
    say(made, index, close);
  };

  /** The socket stays up by its pings, and by data of another channel. */
  const alive = async (made: ReturnType<typeof desk>, from: number, to: number) => {
    made.feed.ticker('BTCUSDT').subscribe();
    for (let ms = from; ms < to; ms += 2_500) {
      await made.to(ms);
      made.last().push(tickerAt(ms));
    }
    await made.to(to);
  };

  it('close when a later id comes, with what was last said of them', async () => {
    const made = desk();
    closes(made);
    await alive(made, 0, 50_000);
    both(made, 0, 11);
    await alive(made, 52_000, 60_300);
    say(made, 1, 12);
    say(made, 1, 13);
    say(made, 0, 99);
    await alive(made, 62_000, 120_100);
    say(made, 2, 14);
    expect(made.received).toEqual(['0:11@60300', '1:13@120100']);
    expect(made.seen()).toMatchObject({ 'kline after its close': 1 });
    expect(made.http.urls).toHaveLength(0);
    expect(made.gaps).toEqual([]);
  });

  it('that REST does not have are asked for over the socket', async () => {
    const made = desk(() => new Error('ECONNRESET'));
    closes(made);
    await alive(made, 0, 50_000);
    say(made, 0, 11);
    await alive(made, 50_000, 73_000);
    const asked = made.last().sent.find((text) => text.includes('"req"'));
    expect(JSON.parse(asked ?? '{}')).toMatchObject({ params: { channel } });
    expect(made.received).toEqual([]);
    const rows = [0, 1].map((index) => frame(index, 100 + index).tick);
    made.last().push({ event_rep: 'rep', channel, data: rows, tick: null, ts: start, status: 'ok' });
    await made.to(73_100);
    expect(made.received).toEqual(['0:100@73000']);
    expect(made.gaps).toEqual([]);
  });

  it('close by the clock after the grace where none comes, once', async () => {
    const made = desk(() => []);
    closes(made);
    await alive(made, 0, 56_000);
    both(made, 0, 11);
    await alive(made, 58_000, 61_100);
    made.last().push(tickerAt(61_100));
    await made.to(62_199);
    expect(made.received).toEqual([]);
    await made.to(62_200);
    expect(made.received).toEqual(['0:11@62200']);
    say(made, 0, 12);
    say(made, 1, 13);
    expect(made.received).toHaveLength(1);
  });

  it('are not over when a clock that is set back meanwhile says so no more', async () => {
    const clock = new AheadClock(start);
    const made = desk(() => [], clock);
    closes(made);
    await alive(made, 0, 55_000);
    both(made, 0, 11);
    clock.aheadMs = 0;
    await alive(made, 57_000, 59_900);
    expect(made.received).toEqual([]);
    say(made, 0, 12);
    await made.to(61_100);
    made.last().push(tickerAt(61_100));
    await made.to(62_200);
    expect(made.received).toEqual(['0:12@62200']);
  });

  it('of which the end was missed while the connection was away are asked for over REST', async () => {
    for (const back of [61_000, 70_000]) {
      const made = desk(() => restRows(() => made.clock.now()));
      closes(made);
      made.feed.ticker('BTCUSDT').subscribe();
      await made.to(50_000);
      both(made, 0, 11);
      await made.to(55_000);
      made.last().close('read ECONNRESET');
      await made.to(Math.min(back, 62_000));
      // Another channel alone is received again.
      if (back < 62_000) {
        made.last().open();
        made.last().push(tickerAt(back));
      }
      await made.to(62_500);
      expect(made.received).toEqual(['0:100@62200']);
    }
  });

  it('in which nothing came over the socket for a while are asked for over REST: a venue that hangs drops what it had to say', async () => {
    const made = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await alive(made, 0, 50_000);
    both(made, 0, 11);
    await made.to(60_100);
    say(made, 1, 12);
    await made.to(60_200);
    expect(made.received).toEqual(['0:100@60100']);
    expect(made.gaps).toEqual([]);
  });

  it('in which the exchange skipped some seconds are asked for over REST, also where all it did say came at once', async () => {
    const made = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await alive(made, 0, 50_000);
    await made.to(60_100);
    for (const ms of [50_500, 51_500]) made.last().push({ ...frame(0, 11), ts: start + ms });
    made.last().push(tickerAt(59_000));
    made.last().push({ ...frame(1, 12), ts: start + 60_050 });
    await made.to(60_200);
    expect(made.received).toEqual(['0:100@60100']);
    expect(made.gaps).toEqual([]);
  });

  it.each([
    ['sent before it, however late it comes', tickerAt(59_900)],
    ['sent within the second in which the exchange says its last word on it', tickerAt(60_900)],
    ['of a time that has not come', tickerAt(3_600_000)],
    ['without a time', { ...tickerAt(0), ts: 0 }],
    ['that is a ping sent before it', { ping: start / 1_000 + 59 }],
  ])('are not proven over by a frame %s', async (_, late) => {
    const made = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await alive(made, 0, 59_000);
    both(made, 0, 11);
    await made.to(61_500);
    made.last().push(late);
    await made.to(62_300);
    expect(made.received).toEqual(['0:100@62200']);
    expect(made.gaps).toEqual([]);
  });

  it('are proven over by a ping sent a second after their end', async () => {
    const made = desk(() => []);
    closes(made);
    await alive(made, 0, 59_000);
    both(made, 0, 11);
    await made.to(61_500);
    made.last().push({ ping: start / 1_000 + 61 });
    await made.to(62_200);
    expect(made.received).toEqual(['0:11@62200']);
  });

  it('after whose end nothing comes over the socket are asked for over REST, and are as we saw them where that has none', async () => {
    const made = desk(() => new Error('ECONNRESET'));
    closes(made);
    await alive(made, 0, 59_900);
    both(made, 0, 11);
    await made.to(62_700);
    expect(made.received).toEqual([]);
    expect(made.http.urls.length).toBeGreaterThan(0);
    await alive(made, 62_800, 90_000);
    expect(made.received).toMatchObject([expect.stringMatching(/^0:11@/)]);
    expect(made.gaps).toEqual([]);
  });

  it('seen by a single frame after subscribing, or last received of long ago, are asked for over REST', async () => {
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await made.to(59_000);
    say(made, 0, 11);
    await made.to(60_300);
    say(made, 1, 12);
    await made.to(61_000);
    expect(made.received).toEqual(['0:100@60300']);
    await alive(made, 62_000, 122_300);
    expect(made.received).toEqual(['0:100@60300', '1:101@122200']);
    expect(made.gaps).toEqual([]);
    expect(made.http.urls[0]?.pathname).toBe('/sapi/v1/klines');
    expect(made.http.urls[0]?.search).toBe('?symbol=BTCUSDT&interval=1min&limit=300');
  });

  it('that ended during a break are fetched and come before those that follow, and the gap says healed', async () => {
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await made.to(59_000);
    both(made, 0, 11);
    made.last().close('gone');
    await made.to(61_000);
    made.last().open();
    say(made, 1, 20);
    say(made, 1, 21);
    await alive(made, 62_000, 120_000);
    say(made, 1, 22);
    await made.to(120_100);
    say(made, 2, 23);
    expect(made.received).toEqual(['0:100@61000', '1:22@120100']);
    expect(made.gaps).toEqual([
      { symbol: 'BTCUSDT', channel: 'klines', from: 59_000, to: 61_000, cause: 'gone', healed: true },
    ]);
  });

  it('keep coming over REST while the socket is down', async () => {
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await made.to(30_000);
    both(made, 0, 11);
    made.last().close('gone');
    await made.to(200_000);
    made.last().open();
    both(made, 3, 21);
    await alive(made, 205_000, 240_000);
    both(made, 3, 22);
    await made.to(240_100);
    say(made, 4, 23);
    expect(made.received).toEqual(['0:100@62200', '1:101@122200', '2:102@182200', '3:22@240100']);
    expect(made.gaps).toMatchObject([
      { from: minute, cause: 'the subscription went silent', healed: true },
      { from: 2 * minute, cause: 'the subscription went silent', healed: true },
      { from: 30_000, to: 200_000, cause: 'gone', healed: true },
    ]);
  });

  it('a break within one kline misses none: the gap is healed at once', async () => {
    const made = desk();
    closes(made);
    both(made, 0, 11);
    made.last().close('gone');
    await made.to(10_000);
    made.last().open();
    both(made, 0, 12);
    await alive(made, 15_000, 59_000);
    both(made, 0, 13);
    await made.to(60_100);
    say(made, 1, 14);
    expect(made.gaps).toMatchObject([{ channel: 'klines', from: 0, to: 10_000, healed: true }]);
    expect(made.received).toEqual(['0:13@60100']);
  });

  it('whose first frame after a break may be stale is not trusted with it', async () => {
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await made.to(58_000);
    both(made, 0, 11);
    made.last().close('gone');
    await made.to(59_000);
    made.last().open();
    say(made, 0, 10);
    await made.to(60_100);
    say(made, 1, 20);
    await made.to(60_200);
    expect(made.received).toEqual(['0:100@60100']);
  });

  it('that REST does not give are given up after five attempts; the gap stays, and the stream goes on', async () => {
    const made = desk(() => new Error('down'));
    closes(made);
    await alive(made, 1_000, 59_000);
    both(made, 0, 11);
    await made.to(61_000);
    say(made, 2, 20);
    for (let ms = 61_000; ms <= 121_000; ms += 2_500) {
      await made.to(ms);
      say(made, 2, 21);
    }
    expect(made.http.urls).toHaveLength(5);
    say(made, 3, 22);
    expect(made.received).toEqual(['0:11@61000', '2:21@121000']);
    expect(made.gaps).toMatchObject([{ channel: 'klines', from: minute, healed: false }]);
  });

  it('that REST shows late are waited for, and what comes meanwhile keeps its place', async () => {
    let lagging = true;
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now() - (lagging ? minute : 0)));
    closes(made);
    await made.to(59_000);
    say(made, 0, 11);
    await made.to(60_100);
    say(made, 1, 12);
    await made.to(60_500);
    say(made, 1, 13);
    expect(made.received).toEqual([]);
    lagging = false;
    await made.to(70_000);
    expect(made.received).toMatchObject([expect.stringMatching(/^0:100@/)]);
    for (let ms = 71_000; ms < 120_000; ms += 2_500) {
      await made.to(ms);
      say(made, 1, 14);
    }
    await made.to(120_100);
    say(made, 2, 15);
    expect(made.received.slice(1)).toEqual(['1:14@120100']);
  });

  it('of a channel that went deaf alone are found over REST, and it is subscribed again', async () => {
    const made: ReturnType<typeof desk> = desk(() => restRows(() => made.clock.now()));
    closes(made);
    say(made, 0, 10);
    await alive(made, 0, 58_000);
    both(made, 0, 11);
    await alive(made, 60_000, 61_100);
    made.last().push(tickerAt(61_100));
    const subs = (): number => made.last().sent.filter((text) => text.includes('_kline_')).length;
    await alive(made, 61_200, 125_000);
    expect(made.received).toEqual(['0:11@62200', '1:101@122200']);
    expect(made.gaps).toMatchObject([{ cause: 'the subscription went silent', healed: true }]);
    expect(subs()).toBe(2);
  });

  it.each([
    ['in microseconds', start * 1_000],
    ['of no number that a clock shows', 1e18],
    ['beyond the numbers that an interval can be added to', 1e22],
    ['of the next century', Date.UTC(2100, 0, 1) / 1_000],
    ['two intervals ahead', start / 1_000 + 180],
    ['between two of the interval', start / 1_000 + 61],
  ])('at a time that none can have are counted and change nothing: %s', async (_, id) => {
    const made = desk(() => restRows(() => made.clock.now()));
    closes(made);
    await alive(made, 1_000, 59_000);
    both(made, 0, 11);
    await made.to(60_100);
    both(made, 1, 12);
    inTime(1_000, () => made.last().push({ ...frame(1, 13), tick: { ...frame(1, 13).tick, id } }));
    both(made, 1, 14);
    await alive(made, 61_000, 119_000);
    both(made, 1, 15);
    await made.to(120_100);
    both(made, 2, 16);
    expect(made.received).toEqual(['0:11@60100', '1:15@120100']);
    expect(made.seen()).toMatchObject({ 'kline at an impossible time': 1 });
    expect(made.seen()).not.toHaveProperty('kline after its close');
    expect(made.gaps).toEqual([]);
  });

  it('of months that an exchange counts in its own zone close at the end of its month', async () => {
    const made = desk();
    const opens = Date.UTC(2025, 11, 31, 16);
    const month = { ...frame(0, 1), channel: 'market_btcusdt_kline_1month' };
    made.feed.klines('BTCUSDT', '1month').subscribe(({ openTime }) => made.received.push(openTime));
    made.last().open();
    for (let close = 10; close < 14; close++) {
      made.last().push({ ...month, tick: { ...month.tick, id: opens / 1_000, close } });
      await made.to(close * 1_000);
    }
    expect(made.received).toEqual([]);
    expect(made.seen()).toEqual({});
  });

  it('stop with their last listener, timers and all', async () => {
    const made = desk();
    const subscription = made.feed.klines('BTCUSDT', '1min').subscribe((kline) => made.received.push(kline));
    made.last().open();
    both(made, 0, 11);
    subscription.unsubscribe();
    await made.to(10 * minute);
    expect(made.received).toEqual([]);
    expect(made.http.urls).toHaveLength(0);
    expect(made.ends).toHaveLength(1);
  });
});
