import { describe, expect, onTestFinished, test } from 'vitest';
import {
  alice,
  bob,
  call,
  exchange,
  limitOrder,
  minutes,
  openSocket,
  place,
  startTime,
} from '../../../test/kit/simulator.ts';
import type { SimulatorOptions } from '../simulator.ts';

/** An exchange with a socket to it. */
async function connected(options: Partial<SimulatorOptions> = {}) {
  const started = await exchange(options);
  const socket = await openSocket(started.simulator);
  onTestFinished(() => socket.close());
  /** Once an answer has come over HTTP, everything sent to the socket before it has been dealt with. */
  const settled = async () => {
    socket.send({ event: 'req', params: { channel: 'market_btcusdt_trade_ticker', cb_id: `settled ${++count}` } });
    await socket.frame((frame) => frame.event_rep === 'rep' && frame.cb_id === `settled ${count}`);
  };
  let count = 0;
  const subscribe = (name: string) => socket.send({ event: 'sub', params: { channel: `market_btcusdt_${name}` } });
  return { ...started, socket, settled, subscribe };
}

const sell = limitOrder({ side: 'SELL', volume: '0.5' });
const buy = limitOrder({ volume: '0.25' });
const klines = minutes(
  Array.from({ length: 500 }, (_, index) => [9000 + index, 9010 + index, 8990 + index, 9001 + index, 20] as const),
  startTime - 400 * 60_000,
);
const replay = { markets: [{ kind: 'klines', symbol: 'BTCUSDT', klines, startIndex: 400 }] } as const;
const named = (name: string) => (frame: { readonly channel?: unknown }) => frame.channel === `market_btcusdt_${name}`;

describe('pushed frames', () => {
  test('depth comes at once as a whole book, and again when it changed, at most once a second', async () => {
    const { simulator, clock, socket, subscribe, settled } = await connected();
    subscribe('depth_step0');
    expect(await socket.frame(named('depth_step0'))).toEqual({
      channel: 'market_btcusdt_depth_step0',
      ts: startTime,
      tick: { asks: [], buys: [] },
    });
    await place(simulator, bob, sell);
    await place(simulator, bob, { ...sell, price: '9001' });
    await clock.advanceTo(startTime + 999);
    await settled();
    expect(socket.frames.filter(named('depth_step0'))).toHaveLength(1);
    await clock.advanceTo(startTime + 1_000);
    const second = await socket.frame((frame) => named('depth_step0')(frame) && frame.ts === startTime + 1_000);
    expect(second.tick).toEqual({
      asks: [
        [9000, 0.5],
        [9001, 0.5],
      ],
      buys: [],
    });
  });

  test('an unchanged book is repeated every 10 s', async () => {
    const { clock, socket, subscribe } = await connected();
    subscribe('depth_step0');
    await socket.frame(named('depth_step0'));
    await clock.advanceTo(startTime + 10_000);
    await socket.frame((frame) => named('depth_step0')(frame) && frame.ts === startTime + 10_000);
  });

  test('trades leave at once, with the side in lower case', async () => {
    const { simulator, socket, subscribe, settled } = await connected();
    subscribe('trade_ticker');
    await settled();
    await place(simulator, bob, sell);
    await place(simulator, alice, buy);
    const frame = await socket.frame((one) => named('trade_ticker')(one) && one.tick !== undefined);
    expect(frame).toEqual({
      channel: 'market_btcusdt_trade_ticker',
      ts: startTime,
      tick: { data: [{ side: 'buy', price: '9000', vol: '0.25', amount: '2250', ds: '2020-03-12 08:00:00' }] },
    });
  });

  test('klines have their open time in seconds as id and no closed flag; a new id follows each minute', async () => {
    const { clock, socket, subscribe } = await connected(replay);
    subscribe('kline_1min');
    await socket.frame(named('kline_1min'));
    await clock.advanceTo(startTime + 61_000);
    await socket.frame(
      (frame) => named('kline_1min')(frame) && (frame.tick as { id: number }).id === startTime / 1_000 + 60,
    );
    const first = socket.frames.filter(
      (frame) => (frame.tick as { id?: number } | undefined)?.id === startTime / 1_000,
    );
    expect(first.at(-1)?.tick).toEqual({
      id: startTime / 1_000,
      open: 9400,
      high: 9410,
      low: 9390,
      close: 9401,
      vol: 20,
    });
  });

  test('a kline is pushed once more as it ended before the next one, even when its last trade came just before', async () => {
    const { simulator, clock, socket, subscribe, settled } = await connected();
    await place(simulator, bob, sell);
    subscribe('kline_1min');
    await settled();
    const tradeAt = async (ms: number) => {
      await clock.advanceTo(startTime + ms);
      await place(simulator, alice, { ...buy, volume: '0.1' });
    };
    await tradeAt(59_500);
    await tradeAt(59_900);
    await tradeAt(60_050);
    await clock.advanceTo(startTime + 62_000);
    const id = startTime / 1_000;
    await socket.frame((frame) => named('kline_1min')(frame) && (frame.tick as { id: number }).id === id + 60);
    const pushed = socket.frames.filter(named('kline_1min')).map(({ tick }) => tick as { id: number; vol: number });
    expect(pushed.slice(-2).map(({ id: one, vol }) => [one, vol])).toEqual([
      [id, 0.2],
      [id + 60, 0.1],
    ]);
  });

  test('the ticker shows the last 24 hours', async () => {
    const { clock, socket, subscribe } = await connected(replay);
    subscribe('ticker');
    const frame = await socket.frame(named('ticker'));
    expect(frame.tick).toMatchObject({ open: '9000', high: '9409', low: '8990' });
    await clock.advanceTo(startTime + 5_000);
  });

  test('nothing more comes after unsub', async () => {
    const { simulator, socket, subscribe, settled } = await connected();
    subscribe('trade_ticker');
    socket.send({ event: 'unsub', params: { channel: 'market_btcusdt_trade_ticker' } });
    await settled();
    await place(simulator, bob, sell);
    await place(simulator, alice, buy);
    await settled();
    expect(socket.frames.filter((frame) => frame.tick !== undefined)).toEqual([]);
  });
});

describe('history', () => {
  const ids = (data: unknown) => (data as { id: number }[]).map(({ id }) => id);

  test('klines before an id, the newest first, with cb_id echoed; at most 300', async () => {
    const { socket } = await connected(replay);
    const channel = 'market_btcusdt_kline_1min';
    const endIdx = String(startTime / 1_000 - 60);
    socket.send({ event: 'req', params: { channel, cb_id: 'a', endIdx, pageSize: 3 } });
    const reply = await socket.frame((frame) => frame.cb_id === 'a');
    expect(reply).toMatchObject({ event_rep: 'rep', channel, ts: startTime });
    expect(ids(reply.data)).toEqual([2, 3, 4].map((back) => startTime / 1_000 - back * 60));
    socket.send({ event: 'req', params: { channel, cb_id: 'b', pageSize: 1_000 } });
    expect(ids((await socket.frame((frame) => frame.cb_id === 'b')).data)).toHaveLength(300);
  });

  test('trades, the newest first, with a status', async () => {
    const { simulator, socket } = await connected();
    await place(simulator, bob, sell);
    await place(simulator, alice, buy);
    await place(simulator, alice, { ...buy, volume: '0.1' });
    socket.send({ event: 'req', params: { channel: 'market_btcusdt_trade_ticker', cb_id: 'a' } });
    const reply = await socket.frame((frame) => frame.cb_id === 'a');
    expect(reply).toMatchObject({ event_rep: 'rep', status: 'ok', data: [{ vol: '0.1' }, { vol: '0.25' }] });
  });
});

describe('the connection', () => {
  test('pings in seconds every 10 s once something is subscribed, unanswered or not', async () => {
    const { clock, socket, subscribe } = await connected();
    subscribe('depth_step0');
    await socket.frame(named('depth_step0'));
    for (const seconds of [10, 20, 30, 40]) {
      await clock.advanceTo(startTime + seconds * 1_000);
      await socket.frame(({ ping }) => ping === startTime / 1_000 + seconds);
    }
  });

  test('a socket without subscription is cut after 30 s', async () => {
    const { clock, socket } = await connected();
    await clock.advanceTo(startTime + 30_000);
    await socket.closed;
  });

  test('what it does not know it passes over in silence: upper case, unknown channels, garbage, pongs, pings', async () => {
    const { simulator, socket, settled } = await connected();
    for (const channel of ['market_BTCUSDT_ticker', 'market_nopeusdt_ticker', 'market_btcusdt_kline_1h', 'x'])
      socket.send({ event: 'sub', params: { channel } });
    for (const text of [
      'no json',
      '[]',
      '1',
      'null',
      '{"pong":1}',
      '{"ping":1}',
      '{"event":"sub","params":null}',
      '{"event":"nope","params":{"channel":"market_btcusdt_ticker"}}',
    ])
      socket.send(text);
    await settled();
    expect(socket.frames).toHaveLength(1);
    expect((await call(`${simulator.restUrl}/sapi/v1/ping`, 'GET')).text).toBe('{}');
  });
});

describe('the observed profile', () => {
  test('frames have the live envelope, whole seconds, sides in upper case and no cb_id', async () => {
    const { simulator, clock, socket, subscribe } = await connected({ profile: 'observed' });
    await clock.advanceTo(startTime + 1_500);
    await place(simulator, bob, sell);
    subscribe('trade_ticker');
    socket.send({ event: 'req', params: { channel: 'market_btcusdt_trade_ticker', cb_id: 'a' } });
    const reply = await socket.frame((frame) => frame.event_rep === 'rep');
    expect(reply).toEqual({
      event_rep: 'rep',
      channel: 'market_btcusdt_trade_ticker',
      ts: startTime + 1_000,
      status: 'ok',
      data: [],
      tick: null,
    });
    await place(simulator, alice, buy);
    const pushed = await socket.frame((frame) => frame.event_rep === '');
    expect(pushed).toMatchObject({
      data: null,
      status: 'ok',
      ts: startTime + 1_000,
      tick: { data: [{ side: 'BUY', ts: startTime + 1_500 }] },
    });
  });

  test('a quirk can be turned alone: acknowledgements', async () => {
    const { socket, subscribe } = await connected({ quirks: { acknowledge: true } });
    subscribe('ticker');
    expect(await socket.frame((frame) => frame.event_rep === 'subed')).toMatchObject({ status: 'ok' });
  });
});
