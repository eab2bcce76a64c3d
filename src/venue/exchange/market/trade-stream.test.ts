import { describe, expect, it } from 'vitest';
import { desk, start, tickerFrame } from '../../../../test/kit/exchange-stub.ts';

const prints = (rows: object[], ts = start) => ({
  event_rep: '',
  channel: 'market_btcusdt_trade_ticker',
  data: null,
  tick: { data: rows, ts },
  ts,
  status: 'ok',
});

describe('trades', () => {
  const print = (id: number | undefined, second: number, price = '100') => ({
    ...(id === undefined ? {} : { id }),
    amount: '1',
    ds: '2026-01-01 20:00:00',
    price,
    side: 'BUY',
    ts: start + second * 1_000,
    vol: '0.5',
  });

  it('newest first in a frame are delivered oldest first, in either spelling of the side', () => {
    const { feed, last, received, seen } = desk();
    feed.trades('BTCUSDT').subscribe((trade) => received.push(trade));
    last().open();
    last().push(prints([{ ...print(3, 2), side: 'sell' }, print(2, 1), print(1, 1)]));
    last().push(prints([{ price: 'x' }]));
    last().push({ channel: 'market_btcusdt_trade_ticker', tick: { close: 1, open: 1 }, ts: start });
    const common = { symbol: 'BTCUSDT', price: 100, quantity: 0.5, seenAt: start };
    expect(received).toEqual([
      { ...common, time: start + 1_000, side: 'BUY' },
      { ...common, time: start + 1_000, side: 'BUY' },
      { ...common, time: start + 2_000, side: 'SELL' },
    ]);
    expect(seen()).toEqual({ 'unreadable trade': 1, 'unreadable trades': 1 });
  });

  it('whose ids are numbers beyond 2^53 are all delivered: rounded, neighbours would share one', () => {
    const { feed, last, received } = desk();
    feed.trades('BTCUSDT').subscribe(({ price }) => received.push(price));
    last().open();
    const row = (id: string, price: number): string =>
      `{"id":${id},"price":"${price}","vol":"1","side":"BUY","ts":${start}}`;
    const rows = [row('1938321163093077687', 3), row('1938321163093077686', 2), row('1938321163093077685', 1)];
    last().bytes(
      Buffer.from(`{"channel":"market_btcusdt_trade_ticker","tick":{"data":[${rows.join()}]},"ts":${start}}`),
    );
    expect(received).toEqual([1, 2, 3]);
  });

  it('take the time of their frame where they have none of their own', () => {
    const { feed, last, received } = desk();
    feed.trades('BTCUSDT').subscribe(({ time }) => received.push(time));
    last().open();
    last().push({
      ...prints([]),
      tick: { data: [{ side: 'buy', price: '1', vol: '1', amount: '1', ds: 'x' }] },
      ts: start + 7,
    });
    expect(received).toEqual([start + 7]);
  });

  async function again(ids: boolean) {
    const made = desk();
    const id = (n: number) => (ids ? n : undefined);
    made.feed.trades('BTCUSDT').subscribe(({ price }) => made.received.push(price));
    made.last().open();
    made.last().push(prints([print(id(2), 1, '12'), print(id(1), 1, '11')]));
    made.last().push(prints([print(id(3), 2, '13')]));
    made.last().close('x');
    await made.to(1_000);
    made.last().open();
    made
      .last()
      .push(prints([print(id(5), 3, '14'), print(id(4), 2, '13'), print(id(3), 2, '13'), print(id(2), 1, '12')]));
    made.last().push(prints([print(id(6), 3, '14')]));
    await made.to(4_000);
    made.last().push(prints([print(id(7), 1, '11')]));
    return made.received;
  }

  const past = (rows: object[]) => ({ ...prints([]), event_rep: 'rep', tick: null, data: rows, ts: start + 5_000 });
  const question = {
    event: 'req',
    params: { channel: 'market_btcusdt_trade_ticker', cb_id: 'market_btcusdt_trade_ticker' },
  };

  /** A break after print 2; print 5 comes first after it, and the exchange answers with these when it is asked. */
  async function broken(ids: boolean, answer: number[]) {
    const made = desk();
    const one = (n: number) => print(ids ? n : undefined, n, `${n}`);
    made.feed.trades('BTCUSDT').subscribe(({ price }) => made.received.push(price));
    made.last().open();
    made.last().push(prints([one(2), one(1)]));
    made.last().close('x');
    await made.to(1_000);
    made.last().open();
    made.last().push(prints([one(5)]));
    expect(JSON.parse(made.last().sent.at(-1) ?? '')).toEqual(question);
    made.last().push(prints([one(6)]));
    expect(made.received).toEqual([1, 2]);
    made.last().push(past(answer.map(one)));
    await made.to(1_001);
    made.last().push(prints([one(7)]));
    await made.to(10_000);
    return made;
  }

  it.each([true, false])('missed in a break are fetched and come in their order, each once (ids: %s)', async (ids) => {
    const { received, gaps } = await broken(ids, [6, 5, 4, 3, 2]);
    expect(received).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(gaps).toMatchObject([{ channel: 'trades', healed: true }]);
  });

  it.each([true, false])(
    'of a past that does not go back far enough come, too, but the hole stays (ids: %s)',
    async (ids) => {
      const { received, gaps } = await broken(ids, [5, 4]);
      expect(received).toEqual([1, 2, 4, 5, 6, 7]);
      expect(gaps).toMatchObject([{ channel: 'trades', healed: false }]);
    },
  );

  it('wait no longer than 3 s for the past, and a late one changes nothing', async () => {
    const { received, gaps, last, to, feed } = desk();
    const listening = feed.trades('BTCUSDT').subscribe(({ price, seenAt }) => received.push([price, seenAt - start]));
    last().open();
    last().push(prints([print(1, 1, '1')]));
    last().close('x');
    await to(1_000);
    last().open();
    last().push(prints([print(3, 3, '3')]));
    await to(3_999);
    expect(received).toHaveLength(1);
    await to(4_000);
    last().push(past([print(3, 3, '3'), print(2, 2, '2')]));
    await to(5_000);
    expect(received).toEqual([
      [1, 0],
      [3, 1_000],
    ]);
    expect(gaps).toMatchObject([{ channel: 'trades', healed: false }]);
    last().close('x');
    await to(6_000);
    last().open();
    last().push(prints([print(4, 4, '4')]));
    listening.unsubscribe();
    await to(20_000);
    expect(received).toHaveLength(2);
  });

  /** A print as the specification shows it: without an id or a time that can be read. */
  const documented = (second: number, price: string) => ({
    amount: '1',
    ds: `2026-01-01 20:00:${String(second).padStart(2, '0')}`,
    price,
    side: 'BUY',
    vol: '0.5',
  });

  it('without an id or a time are told again in the past by their text, and none of before our time comes', async () => {
    const { received, gaps, last, to, feed } = desk();
    feed.trades('BTCUSDT').subscribe(({ price }) => received.push(price));
    last().open();
    last().push(prints([documented(2, '2')], start + 2_000));
    last().close('x');
    await to(1_000);
    last().open();
    last().push(prints([documented(5, '5')], start + 5_000));
    last().push({ ...past([5, 4, 3, 2, 1].map((second) => documented(second, `${second}`))), ts: start + 5_100 });
    await to(1_100);
    expect(received).toEqual([2, 3, 4, 5]);
    expect(gaps).toMatchObject([{ channel: 'trades', healed: true }]);
  });

  it.each([
    ['before anything was known', { data: [{ price: 'x' }] }, documented(1, '1')],
    ['that say nothing of when they were', { data: [print(1, 1, '1')] }, { price: '7', side: 'BUY', vol: '0.5' }],
  ])('of the past %s are left alone: old prices would be received as those of now', async (_about, first, old) => {
    const { received, gaps, last, to, feed } = desk();
    feed.trades('BTCUSDT').subscribe(({ price }) => received.push(price));
    last().open();
    last().push(prints(first.data));
    last().close('x');
    await to(1_000);
    last().open();
    last().push(prints([print(5, 5, '5')]));
    received.splice(0);
    last().push(past([old]));
    await to(1_100);
    expect(received).toEqual([5]);
    expect(gaps).toMatchObject([{ channel: 'trades', healed: false }]);
  });

  /** Print 1, then `seconds` in which only the ticker speaks; what of prints is asked and subscribed is answered so. */
  async function silence(seconds: number, answer: ((second: number) => number[]) | undefined, ids = true) {
    const made = desk();
    const one = (n: number) => print(ids ? n : undefined, n, `${n}`);
    made.feed.trades('BTCUSDT').subscribe(({ price }) => made.received.push(price));
    made.feed.ticker('BTCUSDT').subscribe();
    made.last().open();
    made.last().push(prints([one(1)]));
    const said: string[] = [];
    const pass = async (until: number): Promise<void> => {
      for (let second = (made.clock.now() - start) / 1_000 + 1; second <= until; second++) {
        const before = made.last().sent.length;
        await made.to(second * 1_000);
        made.last().push(tickerFrame);
        const fresh = made.last().sent.slice(before);
        for (const text of fresh) said.push(`${second} ${text.includes('"req"') ? 'req' : 'sub'}`);
        if (answer !== undefined && fresh.some((text) => text.includes('"req"')))
          made.last().push(past(answer(second).map(one)));
      }
    };
    await pass(seconds);
    return { ...made, said, pass, one };
  }

  it.each([true, false])(
    'that do not come while others do are asked for once a minute, and what was missed is a healed hole (ids: %s)',
    async (ids) => {
      const { received, gaps, said } = await silence(
        130,
        (second) => (second < 100 ? [3, 2, 1, 0] : [4, 3, 2, 1]),
        ids,
      );
      expect(said).toEqual(['61 sub', '61 req', '122 sub', '122 req']);
      expect(received).toEqual([1, 2, 3, 4]);
      const common = { symbol: 'BTCUSDT', channel: 'trades', cause: 'the channel went silent', healed: true };
      expect(gaps).toEqual([
        { ...common, from: 0, to: 61_000 },
        { ...common, from: 61_000, to: 122_000 },
      ]);
    },
  );

  it('of a quiet market are no hole, and the first after it waits only for the answer', async () => {
    const { received, gaps, seen, last, one, to, said } = await silence(130, () => [1]);
    expect(gaps).toEqual([]);
    last().push(prints([one(2)]));
    expect(received).toEqual([1]);
    last().push(past([one(2), one(1)]));
    await to(130_100);
    expect(received).toEqual([1, 2]);
    expect(gaps).toEqual([]);
    expect(seen()).toEqual({});
    expect(said).toHaveLength(4);
  });

  it('that were missed just before the channel came back come before those that end the silence', async () => {
    const { received, gaps, last, one, to } = await silence(100, () => [1]);
    last().push(prints([one(4)]));
    last().push(past([one(4), one(3), one(2), one(1)]));
    await to(100_100);
    expect(received).toEqual([1, 2, 3, 4]);
    expect(gaps).toMatchObject([{ from: 61_000, to: 100_000, healed: true }]);
  });

  it('do not wait after a silence where nobody answers, and the hole is told', async () => {
    const { received, gaps, last, one } = await silence(100, undefined);
    last().push(prints([one(2)]));
    expect(received).toEqual([1, 2]);
    expect(gaps).toMatchObject([{ from: 0, to: 100_000, healed: false }]);
  });

  it('that a reconnect brings again are dropped, by their ids', async () => {
    expect(await again(true)).toEqual([11, 12, 13, 13, 14, 14, 11]);
  });

  it('or, without ids, as often as they were seen and in the first frame only: real twins stay', async () => {
    expect(await again(false)).toEqual([11, 12, 13, 13, 14, 14, 11]);
  });
});
