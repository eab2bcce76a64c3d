import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { alice, bob, exchange, limitOrder, place, type Row, startTime } from '../../../test/kit/simulator.ts';
import type { Quirks } from '../simulator.ts';

const depth = 'market_btcusdt_depth_step0';

/** A socket that takes text and binary frames alike. */
async function connected(quirks: Partial<Quirks>) {
  const one = await exchange({ quirks });
  const frames: { readonly frame: Row; readonly isBinary: boolean }[] = [];
  const seen: (() => void)[] = [];
  const socket = new WebSocket(one.simulator.wsUrl);
  onTestFinished(() => socket.terminate());
  socket.on('message', (bytes: Buffer, isBinary) => {
    const text = isBinary ? gunzipSync(bytes).toString() : bytes.toString();
    frames.push({ frame: JSON.parse(text) as Row, isBinary });
    for (const look of seen) look();
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.on('open', resolve));
  const frame = (wanted: (frame: Row) => boolean): Promise<Row> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find((each) => wanted(each.frame));
        if (found !== undefined) resolve(found.frame);
      };
      seen.push(look);
      look();
    });
  const send = (event: string, channel: string) =>
    socket.send(JSON.stringify({ event, params: { channel, cb_id: 'mine' } }));
  /** Once this has come back, everything sent before it was dealt with. */
  const settled = async () => {
    const before = frames.length;
    send('req', 'market_btcusdt_trade_ticker');
    await frame((each) => each.event_rep === 'rep' && frames.findIndex((one) => one.frame === each) >= before);
  };
  return { ...one, socket, frames, frame, send, settled, closed };
}
const isDepth = (frame: Row) => frame.channel === depth && frame.tick !== undefined;

test('frames may be plain text', async () => {
  const { frames, frame, send } = await connected({ frames: 'text' });
  send('sub', depth);
  await frame(isDepth);
  expect(frames.map(({ isBinary }) => isBinary)).toEqual([false]);
});

test('a socket may say that it is ready', async () => {
  const { frame } = await connected({ greeting: true });
  expect(await frame(() => true)).toEqual({ channel: 'system', data: { status: 'ready' }, ts: String(startTime) });
});

test('bids may be called so, and more levels be shown', async () => {
  const { frame, send } = await connected({ bidsKey: 'bids' });
  send('sub', depth);
  expect((await frame(isDepth)).tick).toEqual({ asks: [], bids: [] });
});

test('an unknown channel may be answered with an error', async () => {
  const { frame, send } = await connected({ socketErrors: 'answered' });
  send('sub', 'market_BTCUSDT_ticker');
  expect(await frame(() => true)).toMatchObject({ status: 'error', channel: 'market_BTCUSDT_ticker', cb_id: 'mine' });
});

test('pings start with the connection as §6.1 says, may be in ms, or never come', async () => {
  const documented = await connected({});
  await documented.clock.advanceTo(startTime + 10_000);
  expect(await documented.frame(({ ping }) => ping !== undefined)).toEqual({ ping: startTime / 1_000 + 10 });
  const inMs = await connected({ ping: 'ms' });
  await inMs.clock.advanceTo(startTime + 10_000);
  expect(await inMs.frame(({ ping }) => ping !== undefined)).toEqual({ ping: startTime + 10_000 });
  for (const quirks of [{ ping: 'never' }, { pingFrom: 'subscription' }] as const) {
    const { frames, clock, settled } = await connected(quirks);
    await clock.advanceTo(startTime + 20_000);
    await settled();
    expect(frames.filter(({ frame }) => frame.ping !== undefined)).toEqual([]);
  }
});

test('a client’s own ping, or what is no JSON, may end the socket; a pong does not', async () => {
  for (const text of ['{"ping":1}', 'hello']) {
    const { socket, settled, closed } = await connected({ strangeMessage: 'closes' });
    socket.send('{"pong":1}');
    await settled();
    socket.send(text);
    expect(await closed).toBe(1000);
  }
});

test('the first book may be seconds old', async () => {
  const { simulator, clock, frame, send } = await connected({ firstDepth: 'stale' });
  await place(simulator, bob, limitOrder({ side: 'SELL', price: '9000' }));
  await clock.advanceTo(startTime + 6_000);
  await place(simulator, bob, limitOrder({ side: 'SELL', price: '8999' }));
  send('sub', depth);
  expect(await frame(isDepth)).toMatchObject({ ts: startTime, tick: { asks: [[9000, 1]] } });
});

test('a socket may stay open and fall silent', async () => {
  const { simulator, clock, socket, frames, frame, send } = await connected({ stallAfterMs: 60_000 });
  send('sub', depth);
  await frame(isDepth);
  await clock.advanceTo(startTime + 60_000);
  await frame(({ ping }) => ping === startTime / 1_000 + 50);
  const before = frames.length;
  await place(simulator, bob, limitOrder({ side: 'SELL' }));
  await clock.advanceTo(startTime + 300_000);
  await place(simulator, bob, limitOrder({ side: 'SELL' }));
  expect(frames.slice(before).filter(({ frame: one }) => Number(one.ts ?? 0) >= startTime + 60_000)).toEqual([]);
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test.each([
  ['documented', ['side', 'price', 'vol', 'amount', 'ds']],
  ['ts', ['side', 'price', 'vol', 'amount', 'ds', 'ts']],
  ['id and ts', ['id', 'side', 'price', 'vol', 'amount', 'ds', 'ts']],
] as const)('prints may have a time and a number of their own: %s', async (printFields, fields) => {
  const { simulator, frame, send, settled } = await connected({ printFields });
  const channel = 'market_btcusdt_trade_ticker';
  send('sub', channel);
  await settled();
  await place(simulator, bob, limitOrder({ side: 'SELL' }));
  await place(simulator, alice, limitOrder());
  const { tick } = await frame((each) => each.channel === channel && each.tick !== undefined);
  const [print] = (tick as { data: object[] }).data;
  expect(Object.keys(print ?? {})).toEqual(fields);
});

test.each([
  ['ignored', 1],
  ['answered', 2],
] as const)('a sub of what is subscribed already is %s', async (repeatedSub, count) => {
  const { frames, send, settled } = await connected({ repeatedSub });
  send('sub', depth);
  send('sub', depth);
  await settled();
  expect(frames.filter((each) => isDepth(each.frame))).toHaveLength(count);
});
