import { describe, expect, it } from 'vitest';
import { stubbed } from '../../../../test/kit/exchange-stub.ts';
import { ScaledClock } from '../../../clock/clock.ts';

const at = stubbed();
const { open } = at;

describe('the market by asking', () => {
  it('gives depth, ticker and trades', async () => {
    const { exchange } = open({ clock: new ScaledClock(1) });
    at.stub.answer = () => '{"time":null,"bids":[["3.9","431.0",431]],"asks":[[4.0,"1.2E1"]]}';
    expect(await exchange.market.depth('BTCUSDT')).toMatchObject({ value: { bids: [[3.9, 431]], asks: [[4, 12]] } });
    at.stub.answer = () => ({
      high: '9',
      vol: '1',
      last: '8',
      low: 7,
      rose: '+0.05',
      open: '7.5',
      time: 1_595_563_624_731,
    });
    expect(await exchange.market.ticker('BTCUSDT')).toMatchObject({ value: { last: 8, time: 1_595_563_624_731 } });
    at.stub.answer = () => ({
      list: [
        { side: 'sell', price: '2', qty: '1', time: 1_595_563_624_732 },
        { side: 'BUY', price: 1, qty: 1, time: 1_595_563_624_731 },
      ],
    });
    expect(await exchange.market.trades('BTCUSDT')).toMatchObject({
      value: [{ price: 1 }, { price: 2, side: 'SELL' }],
    });
    expect(at.stub.requests.map(({ target }) => target)).toEqual(
      ['depth', 'ticker', 'trades'].map((path) => `/sapi/v1/${path}?symbol=BTCUSDT`),
    );
  });
});

describe('klines by asking', () => {
  const minute = 60_000;
  const noon = Date.UTC(2026, 0, 1, 12);
  const row = (idx: number) => ({ idx, open: '1', high: '2', low: '1', close: '2', vol: '3' });

  it.each([
    ['newest first, in ms', [row(noon), row(noon - minute)]],
    ['oldest first, in s', [row((noon - minute) / 1_000), row(noon / 1_000)]],
    ['under list', { list: [row(noon), row(noon - minute)] }],
  ])('come oldest first, and the one that runs is marked: %s', async (_, body) => {
    const { exchange } = open({ clock: new ScaledClock(1, noon + 1_000) });
    at.stub.answer = () => body;
    const answer = await exchange.market.klines('BTCUSDT', '1min', 2);
    expect(answer).toMatchObject({
      value: [
        { openTime: noon - minute, closed: true },
        { openTime: noon, closed: false },
      ],
    });
    expect(at.stub.requests[0]?.target).toBe('/sapi/v1/klines?symbol=BTCUSDT&interval=1min&limit=2');
  });

  it('fail where there are none, since that is all a wrong interval gives', async () => {
    at.stub.answer = () => [];
    expect(await open().exchange.market.klines('BTCUSDT', '1min')).toMatchObject({
      kind: 'failed',
      cause: expect.stringContaining('is the interval spelled correctly?'),
    });
  });
});

describe('klines of the past', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  const row = (idx: number) => ({ idx, open: '1', high: '2', low: '1', close: '2', vol: '3' });

  it('come by pages of 300, and those are none that are not older: a deployment may not heed the time', async () => {
    const { exchange } = open({ clock: new ScaledClock(1, noon + 1_000) });
    at.stub.answer = () => [row(noon), row(noon - 60_000)];
    expect(await exchange.market.klinesBefore('BTCUSDT', '1min', noon)).toMatchObject({
      value: [{ openTime: noon - 60_000 }],
    });
    expect(at.stub.requests[0]?.target).toBe(
      `/sapi/v1/klines?symbol=BTCUSDT&interval=1min&limit=300&endTime=${noon - 1}`,
    );
    expect(await exchange.market.klinesBefore('BTCUSDT', '1min', noon - 60_000)).toEqual({ kind: 'ok', value: [] });
  });
});

describe('ping and time', () => {
  it('take whatever a ping answers, and the time under either name', async () => {
    const { exchange } = open();
    at.stub.answer = () => ({});
    expect(await exchange.market.ping()).toEqual({ kind: 'ok', value: undefined });
    at.stub.answer = () => ({ server_time: '1595563624731' });
    expect(await exchange.market.time()).toEqual({ kind: 'ok', value: 1_595_563_624_731 });
    at.stub.answer = () => ({});
    expect(await exchange.market.time()).toMatchObject({ kind: 'failed' });
    at.stub.answer = () => '<html>busy</html>';
    expect(await exchange.market.ping()).toMatchObject({ kind: 'failed' });
  });
});
