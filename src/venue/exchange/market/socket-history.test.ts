import { describe, expect, it } from 'vitest';
import { desk, start, tickerFrame } from '../../../../test/kit/exchange-stub.ts';
import { socketHistory } from './socket-history.ts';

const trades = 'market_btcusdt_trade_ticker';
const klines = 'market_btcusdt_kline_1min';
const rep = (channel: string, data: unknown) => ({
  event_rep: 'rep',
  channel,
  data,
  tick: null,
  ts: start,
  status: 'ok',
});
const print = (id: number) => ({ id, price: '2', vol: '1', amount: '2', side: 'SELL', ts: start + id, ds: '' });
const klineRow = (id: number) => ({ id, open: 1, high: 2, low: 1, close: 2, vol: 3, amount: 4 });

function past() {
  const at = desk();
  const history = socketHistory(at.sockets, () => {}, at.clock);
  return { ...at, history };
}
/** The desk's promises have been carried on. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe('the past over the socket', () => {
  it('connects, asks, answers oldest first, and lets go of a socket that nobody needs', async () => {
    const { history, last } = past();
    const answer = history.trades('BTCUSDT');
    expect(last().sent).toEqual([]);
    last().open();
    expect(last().sent).toEqual([`{"event":"req","params":{"channel":"${trades}","cb_id":"${trades}"}}`]);
    last().push(rep(trades, [print(2), print(1)]));
    expect(await answer).toMatchObject({ value: [{ time: start + 1 }, { time: start + 2, side: 'SELL' }] });
    await settled();
    expect(last().closedByClient).toBe(true);
  });

  it('asks for klines before a time by its second, and never with an empty id', async () => {
    const { history, last } = past();
    const answer = history.klines('BTCUSDT', '1min', { count: 2, before: 1_621_326_600_000 });
    last().open();
    expect(JSON.parse(last().sent[0] ?? '')).toEqual({
      event: 'req',
      params: { channel: klines, cb_id: klines, endIdx: '1621326600', pageSize: 2 },
    });
    last().push(rep(klines, [klineRow(1_621_326_540), klineRow(1_621_326_480)]));
    expect(await answer).toMatchObject({ value: [{ openTime: 1_621_326_480_000 }, { openTime: 1_621_326_540_000 }] });
    const none = history.klines('BTCUSDT', '1min');
    last().open();
    last().push(rep(klines, []));
    expect(await none).toMatchObject({ kind: 'failed' });
  });

  it('is asked one question at a time on a channel, since answers echo no id', async () => {
    const { history, last } = past();
    const [first, second] = [history.trades('BTCUSDT'), history.trades('BTCUSDT')];
    last().open();
    expect(last().sent).toHaveLength(1);
    last().push(rep(trades, [print(1)]));
    expect(last().sent).toHaveLength(2);
    last().push(rep(trades, [print(7)]));
    expect([await first, await second]).toMatchObject([
      { value: [{ time: start + 1 }] },
      { value: [{ time: start + 7 }] },
    ]);
  });

  it('fails loudly: no answer in time, a refusal, a lost socket', async () => {
    const { history, last, to, feed } = past();
    const late = history.trades('NOPEUSDT');
    last().open();
    await to(15_000);
    expect(await late).toMatchObject({ kind: 'failed', cause: expect.stringContaining('within 15 s') });
    const refused = history.trades('BTCUSDT');
    last().open();
    last().push({ event_rep: 'rep', channel: trades, status: 'error', err_msg: 'no' });
    expect(await refused).toMatchObject({ cause: expect.stringContaining('no') });
    const lost = history.trades('BTCUSDT');
    last().close('gone');
    expect(await lost).toMatchObject({ cause: expect.stringContaining('gone') });
    await settled();
    const listening = feed.ticker('BTCUSDT').subscribe();
    const beside = history.trades('BTCUSDT');
    last().open();
    last().push(tickerFrame);
    last().push(rep(trades, []));
    expect(await beside).toEqual({ kind: 'ok', value: [] });
    await settled();
    expect(last().closedByClient).toBe(false);
    listening.unsubscribe();
  });

  it('that is unsolicited is counted', () => {
    const { feed, last, seen } = past();
    feed.ticker('BTCUSDT').subscribe();
    last().open();
    last().push(rep(trades, []));
    expect(seen()).toEqual({ 'unsolicited reply': 1 });
  });
});
