import { describe, expect, it } from 'vitest';
import { desk, start, tickerFrame } from '../../../../test/kit/exchange-stub.ts';

const depthChannel = 'market_btcusdt_depth_step0';
const book = (ts: unknown, bid = 99, ask = 100) => ({
  event_rep: '',
  channel: depthChannel,
  data: null,
  tick: { asks: [[ask, 1]], buys: [[bid, 2]] },
  ts,
  status: 'ok',
});
const prints = (rows: object[], ts = start) => ({
  event_rep: '',
  channel: 'market_btcusdt_trade_ticker',
  data: null,
  tick: { data: rows, ts },
  ts,
  status: 'ok',
});

describe('a subscription', () => {
  it('is made when somebody listens, once for all who do, and ended with the last', async () => {
    const { feed, ends, last, to } = desk();
    await to(0);
    expect(ends).toHaveLength(0);
    const one = feed.depth('BTCUSDT').subscribe();
    last().open();
    const two = feed.depth('BTCUSDT').subscribe();
    const other = feed.trades('BTCUSDT').subscribe();
    one.unsubscribe();
    expect(last().sent).toEqual([
      `{"event":"sub","params":{"channel":"${depthChannel}","cb_id":"${depthChannel}"}}`,
      '{"event":"sub","params":{"channel":"market_btcusdt_trade_ticker","cb_id":"market_btcusdt_trade_ticker"}}',
    ]);
    two.unsubscribe();
    expect(last().sent.at(-1)).toBe(
      `{"event":"unsub","params":{"channel":"${depthChannel}","cb_id":"${depthChannel}"}}`,
    );
    expect(last().closedByClient).toBe(false);
    other.unsubscribe();
    expect(last().closedByClient).toBe(true);
    expect(ends).toHaveLength(1);
    feed.depth('BTCUSDT').subscribe();
    expect(ends).toHaveLength(2);
  });

  it('without data is repeated after 5 s, then said loudly and tried once a minute', async () => {
    const { feed, last, to, lines, seen } = desk();
    feed.depth('BTCUSDT').subscribe();
    feed.ticker('BTCUSDT').subscribe();
    last().open();
    const at: number[] = [];
    for (let ms = 0; ms <= 150_000; ms += 1_000) {
      const before = last().sent.length;
      await to(ms);
      last().push(tickerFrame);
      if (
        last()
          .sent.slice(before)
          .some((text) => text.includes(depthChannel))
      )
        at.push(ms);
    }
    expect(at).toEqual([5_000, 10_000, 15_000, 75_000, 135_000]);
    expect(lines.filter((line) => line.startsWith('no data since'))).toHaveLength(1);
    expect(seen()).toEqual({ 'subscription without data': 1 });
    last().push(book(start + 150_000));
    await to(160_000);
    last().push(tickerFrame);
    await to(170_000);
    last().push(tickerFrame);
    await to(300_000);
    expect(at).toHaveLength(5);
  });

  it('is given its quick attempts again after a reconnect', async () => {
    const { feed, last, to } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    for (let ms = 0; ms <= 61_000; ms += 1_000) {
      await to(ms);
      last().push({ ping: ms });
    }
    await to(61_500);
    last().open();
    await to(67_000);
    expect(last().sent).toHaveLength(2);
  });

  it('refused by an older deployment is counted', () => {
    const { feed, last, seen } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    last().push({
      err_msg: 'subscription rejected: malformed',
      channel: depthChannel,
      event_rep: 'subed',
      status: 'error',
    });
    expect(seen()).toEqual({ 'refused subscription': 1 });
  });
});

it.each(['depth', 'ticker'] as const)(
  'a deaf channel of %s is subscribed again once a minute while others pour',
  async (kind) => {
    const { feed, last, to, seen, gaps } = desk();
    if (kind === 'depth') feed.depth('BTCUSDT').subscribe();
    else feed.ticker('BTCUSDT').subscribe();
    feed.ticker('ETHUSDT').subscribe();
    last().open();
    last().push(kind === 'depth' ? book(start) : tickerFrame);
    const at: string[] = [];
    for (let ms = 1_000; ms <= 200_000; ms += 1_000) {
      const before = last().sent.length;
      await to(ms);
      last().push({ ...tickerFrame, channel: 'market_ethusdt_ticker' });
      for (const text of last().sent.slice(before)) at.push(`${ms} ${/market_\w+/.exec(text)?.[0]}`);
    }
    const channel = kind === 'depth' ? depthChannel : tickerFrame.channel;
    expect(at).toEqual([`61000 ${channel}`, `122000 ${channel}`, `183000 ${channel}`]);
    expect(seen()).toEqual({ 'channel gone silent': 3 });
    expect(gaps).toEqual([]);
    last().push(kind === 'depth' ? book(start + 200_000) : tickerFrame);
    const hole = { from: 0, to: 200_000, cause: 'the channel went silent', healed: false };
    expect(gaps).toEqual([{ symbol: 'BTCUSDT', channel: kind, ...hole }]);
  },
);

describe('the order of books', () => {
  /** One book each second from 1 s on, dated `stepMs` from then on; how many were taken. */
  async function taken(made: ReturnType<typeof desk>, stepMs: number, seconds: number): Promise<number> {
    const before = made.received.length;
    const from = made.clock.now() - start;
    for (let ms = from + 1_000; ms <= from + seconds * 1_000; ms += 1_000) {
      await made.to(ms);
      made.last().push(book(start + ms + stepMs));
    }
    return made.received.length - before;
  }
  const opened = () => {
    const made = desk();
    made.feed.depth('BTCUSDT').subscribe(({ time }) => made.received.push(time - start));
    made.last().open();
    return made;
  };

  it('of an exchange whose clock was set back is refused for three seconds, and the hole is told', async () => {
    const made = opened();
    expect(await taken(made, 9_000, 5)).toBe(5);
    expect(await taken(made, -60_000, 30)).toBe(27);
    expect(made.seen()).toEqual({ 'older depth': 3 });
    const cause = "the exchange's clock was set back";
    expect(made.gaps).toEqual([{ symbol: 'BTCUSDT', channel: 'depth', from: 5_000, to: 9_000, cause, healed: false }]);
  });

  it('that is old is refused where it comes alone, again and again, out of order, or all at once', async () => {
    const made = opened();
    expect(await taken(made, 0, 5)).toBe(5);
    // Of a replica that stands still.
    for (let count = 0; count < 10; count++) {
      await made.to(6_000 + count * 1_000);
      made.last().push(book(start + 2_000));
    }
    for (let ms = 1_000; ms < 4_000; ms += 100) made.last().push(book(start + ms));
    for (let ms = 4_000; ms > 1_000; ms -= 1_000) {
      await made.to(20_000 - ms);
      made.last().push(book(start + ms));
    }
    expect(made.received).toHaveLength(5);
    made.last().push(book(start + 19_000));
    expect(made.received).toHaveLength(6);
  });
});

describe('the connection', () => {
  it('answers pings with the same number and never pings by itself', async () => {
    const { feed, last, to } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    for (const ping of [1_790_145_583, 1_790_145_583_123]) last().push({ ping });
    last().push({ ts: '2026-09-23T04:38:11Z', ping: 7 });
    await to(4_000);
    expect(last().sent.slice(1)).toEqual(['{"pong":1790145583}', '{"pong":1790145583123}', '{"pong":7}']);
  });

  it('is given up after 15 s without a frame, and made anew with growing, capped waits', async () => {
    const { feed, ends, last, to, gaps, lines } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    last().push(book(start));
    await to(15_000);
    expect(last().closedByClient).toBe(false);
    await to(16_000);
    expect(last().closedByClient).toBe(true);
    const made: number[] = [];
    for (let ms = 16_000; ms < 200_000; ms += 500) {
      const before = ends.length;
      await to(ms);
      if (ends.length === before) continue;
      made.push(ms);
      last().close('connect ECONNREFUSED');
    }
    const waits = made.map((ms, index) => ms - (made[index - 1] ?? 16_000));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]);
    expect(gaps).toEqual([]);
    expect(lines.at(-1)).toContain('connecting again');
  });

  it('says why it is not there after 3 s, also where it never was', async () => {
    const { feed, last, to, sockets } = desk();
    expect(sockets.against()).toBeUndefined();
    const received = feed.depth('BTCUSDT').subscribe();
    await to(3_000);
    expect(sockets.against()).toBeUndefined();
    await to(3_100);
    expect(sockets.against()).toBe('ws://x: connecting');
    last().close('connect ECONNREFUSED');
    expect(sockets.against()).toBe('ws://x: connect ECONNREFUSED');
    await to(4_100);
    last().open();
    expect(sockets.against()).toBeUndefined();
    last().close('cut');
    await to(7_100);
    expect(sockets.against()).toBeUndefined();
    await to(7_200);
    expect(sockets.against()).toBe('ws://x: cut');
    last().open();
    expect(sockets.against()).toBeUndefined();
    last().close('cut again');
    await to(12_000);
    received.unsubscribe();
    expect(sockets.against()).toBeUndefined();
  });

  it('with pings but no data is given up after a minute', async () => {
    const { feed, ends, last, to } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    for (let second = 0; second <= 60; second += 10) {
      await to(second * 1_000);
      last().push({ ping: second });
    }
    expect(ends[0]?.closedByClient).toBe(false);
    await to(61_000);
    expect(ends[0]?.closedByClient).toBe(true);
  });

  it('that lived for long is made anew at once after its break, subscribes all again, and reports one gap a channel', async () => {
    const { feed, ends, last, to, gaps } = desk();
    feed.depth('BTCUSDT').subscribe();
    feed.trades('BTCUSDT').subscribe();
    feed.ticker('BTCUSDT').subscribe();
    last().open();
    for (let second = 0; second <= 40; second += 10) {
      await to(second * 1_000);
      last().push(book(start + second * 1_000));
    }
    last().push(prints([{ price: '1', vol: '1', side: 'BUY', ts: start }]));
    await to(41_000);
    last().close('closed with code 1006');
    await to(41_500);
    expect(ends).toHaveLength(2);
    last().open();
    expect(last().sent.map((text) => text.includes('"sub"'))).toEqual([true, true, true]);
    await to(43_000);
    last().push(book(start + 43_000));
    last().push(book(start + 44_000));
    await to(50_000);
    last().push(prints([{ price: '2', vol: '1', side: 'BUY', ts: start + 50_000 }]));
    // The ticker never had data: nothing that was seen is missing.
    last().push(tickerFrame);
    // Nobody answers the question for the prints of the hole.
    await to(53_000);
    const common = { symbol: 'BTCUSDT', from: 40_000, cause: 'closed with code 1006', healed: false };
    expect(gaps).toEqual([
      { ...common, channel: 'depth', to: 43_000 },
      { ...common, channel: 'trades', to: 50_000 },
    ]);
  });

  it('is closed on a frame above 1 MiB, and only counts what is malformed or not subscribed', async () => {
    const { feed, last, to, seen } = desk();
    feed.depth('BTCUSDT').subscribe();
    last().open();
    last().bytes(Buffer.from('<html>'));
    last().push({ event: 'nope', params: {} });
    last().push({ channel: 'mark_price_e_btcusdt', tick: {} });
    expect(last().closedByClient).toBe(false);
    last().bytes(Buffer.alloc(1_048_577, ' '));
    expect(last().closedByClient).toBe(true);
    await to(0);
    expect(seen()).toEqual({ 'malformed frame': 1, 'frame of an unsubscribed channel': 1, 'oversized frame': 1 });
  });

  it('that was given up says nothing any more', async () => {
    const { feed, ends, last, to, received } = desk();
    feed.depth('BTCUSDT').subscribe((depth) => received.push(depth));
    last().open();
    await to(16_000);
    ends[0]?.push(book(start + 16_000));
    ends[0]?.close('late');
    await to(17_000);
    expect(ends).toHaveLength(2);
    expect(received).toEqual([]);
  });
});

describe('depth', () => {
  it('comes as whole books, and crossed, empty, zero and older ones are refused and counted', () => {
    const { feed, last, received, seen } = desk();
    feed.depth('BTCUSDT').subscribe((depth) => received.push(depth));
    last().open();
    last().push(book(start - 2_000));
    last().push(book(start - 1_000, 98));
    last().push(book(start - 1_500, 97));
    last().push(book(start, 100, 100));
    last().push({ ...book(start), tick: { asks: [], buys: [] } });
    last().push({ ...book(start), tick: { asks: [[0.69, 5]], buys: [[0, 0]] } });
    last().push(book(start - 1_000, 96));
    expect(received).toEqual([
      { symbol: 'BTCUSDT', time: start - 2_000, bids: [[99, 2]], asks: [[100, 1]], seenAt: start },
      { symbol: 'BTCUSDT', time: start - 1_000, bids: [[98, 2]], asks: [[100, 1]], seenAt: start },
      { symbol: 'BTCUSDT', time: start - 1_000, bids: [[96, 2]], asks: [[100, 1]], seenAt: start },
    ]);
    expect(seen()).toEqual({ 'older depth': 1, 'crossed depth': 1, 'empty depth': 1, 'zero in depth': 1 });
  });

  it('with no time, zero, or one far ahead is taken as of now, and shuts nothing out', () => {
    const { feed, last, received } = desk();
    feed.depth('BTCUSDT').subscribe(({ time }) => received.push(time - start));
    last().open();
    for (const ts of [undefined, 0, start + 3_600_000, `${start - 500}`, '2026-01-01T11:59:59.900Z'])
      last().push(book(ts));
    expect(received).toEqual([0, 0, 0, -500, -100]);
  });
});

it('the ticker comes as numbers', () => {
  const { feed, last, received, seen } = desk();
  feed.ticker('BTCUSDT').subscribe((ticker) => received.push(ticker));
  last().open();
  const tick = {
    amount: '3',
    close: '86650.67',
    high: '86822.69',
    low: '85114',
    open: '85616.23',
    rose: '0.012',
    vol: '3570.3',
  };
  last().push({ channel: 'market_btcusdt_ticker', tick, ts: start - 5 });
  last().push({ channel: 'market_btcusdt_ticker', tick: { ...tick, close: null }, ts: start });
  expect(received).toEqual([
    {
      symbol: 'BTCUSDT',
      time: start - 5,
      open: 85_616.23,
      high: 86_822.69,
      low: 85_114,
      last: 86_650.67,
      volume: 3_570.3,
      seenAt: start,
    },
  ]);
  expect(seen()).toEqual({ 'unreadable ticker': 1 });
});
