import { describe, expect, it } from 'vitest';
import { SimClock } from '../../clock/sim-clock.ts';
import { failed, ok } from '../venue.ts';
import { probeSocket } from './probe-socket.ts';
import { stubbed } from './stub-builder.ts';
import { memoryWs, type SeenRequest } from './test-kit.ts';

const at = stubbed();
const order = { symbol: 'btcusdt', orderId: 1800000000000000001n.toString(), clientOrderId: 'mine', status: 'NEW' };
const kline = (idx: number) => ({ idx, open: 1, close: 1, high: 1, low: 1, vol: 1 });

/** A deployment that answers like this, by path; a query by client id alone gets `byClientId`. */
function deployment(
  paths: Readonly<Record<string, unknown>>,
  byClientId: unknown = { code: -1102, msg: 'missing' },
): void {
  at.stub.answer = ({ target, method }: SeenRequest, response) => {
    const path = target.split('?')[0]?.replace('/sapi/v1/', '') ?? '';
    if (target.includes('SLUICENOSUCH')) {
      response.statusCode = Number(paths['errorStatus'] ?? 200);
      return paths['error'] ?? { code: '-1121', msg: 'Invalid symbol.' };
    }
    if (path === 'order' && method === 'GET' && !/[?&]orderId=/.test(target)) return byClientId;
    return paths[path] ?? { code: -1000 };
  };
}
const usual = {
  ticker: { last: '1' },
  trades: { list: [] },
  klines: [kline(120_000), kline(60_000)],
  openOrders: [order],
};

describe('what a deployment does', () => {
  it('is told from queries alone', async () => {
    deployment(usual, order);
    const found = await at.open().exchange.probe('BTCUSDT', () => Promise.resolve(ok(undefined)));
    expect(found).toEqual({
      errorStatus: '200',
      errorCode: 'text',
      anySymbolCase: 'yes',
      lists: 'bare',
      publicTrades: 'wrapped',
      klines: 'newest first',
      orderTest: 'yes',
      clientIdEchoed: 'yes',
      queryByClientId: 'yes',
      cancel: 'unknown',
    });
    expect(at.stub.requests.filter(({ method }) => method === 'POST')).toEqual([]);
    expect(at.stub.requests.at(-1)?.target).toBe('/sapi/v1/order?newClientorderId=mine&symbol=BTCUSDT');
  });

  it('is told where it differs, envelopes and all', async () => {
    const enveloped = (data: unknown) => ({ code: '0', msg: 'suc', data });
    deployment({
      errorStatus: 400,
      error: { code: -1121, msg: 'Invalid symbol.' },
      ticker: { code: -1121 },
      trades: [],
      klines: enveloped([kline(60), kline(120)]),
      openOrders: enveloped({ list: [{ ...order, clientOrderId: null }] }),
    });
    expect(await at.open().exchange.probe('BTCUSDT', () => Promise.resolve(failed('no', '-2015')))).toMatchObject({
      errorStatus: '4XX',
      errorCode: 'number',
      anySymbolCase: 'no',
      publicTrades: 'bare',
      klines: 'oldest first',
      orderTest: 'no',
      lists: 'enveloped',
    });
  });

  it('asks for the order itself where the list leaves client ids out', async () => {
    const { clientOrderId: _, ...listed } = order;
    deployment({ ...usual, openOrders: { list: [listed] }, order });
    const about = () => at.open().exchange.probe('BTCUSDT');
    expect(await about()).toMatchObject({ clientIdEchoed: 'yes', queryByClientId: 'no' });
    deployment({ ...usual, openOrders: { list: [listed] }, order: listed });
    expect(await about()).toMatchObject({ clientIdEchoed: 'no' });
    deployment({ ...usual, openOrders: { list: [listed] } });
    expect(await about()).toMatchObject({ clientIdEchoed: 'unknown' });
  });

  it('goes by the order of the newest trade where none is open', async () => {
    const trade = { id: 7, bidId: order.orderId, askId: '1', isBuyer: true };
    deployment({ ...usual, openOrders: { list: [] }, myTrades: { list: [trade] }, order }, order);
    expect(await at.open().exchange.probe('BTCUSDT')).toMatchObject({
      lists: 'wrapped',
      clientIdEchoed: 'yes',
      queryByClientId: 'yes',
      orderTest: 'unknown',
    });
  });

  it.each([
    ['a refusal', { code: -1102, msg: 'missing' }],
    ['another order', { ...order, orderId: '5' }],
  ])('a query by client id alone is not proven by %s', async (_, answer) => {
    deployment(usual, answer);
    expect(await at.open().exchange.probe('BTCUSDT')).toMatchObject({ queryByClientId: 'no' });
  });

  it('stays unknown without orders, without a key, and without answers', async () => {
    deployment({ ...usual, openOrders: [], myTrades: [] });
    const unknown = { clientIdEchoed: 'unknown', queryByClientId: 'unknown' };
    expect(await at.open().exchange.probe('BTCUSDT')).toMatchObject(unknown);
    expect(await at.open({ apiSecret: undefined }).exchange.probe('BTCUSDT')).toMatchObject({
      ...unknown,
      lists: 'unknown',
    });
    at.stub.answer = (_, response) => void response.socket?.destroy();
    expect(await at.open().exchange.probe('BTCUSDT')).toMatchObject({ ...unknown, errorStatus: 'unknown' });
  });

  it('lets the client ask for a spot order by its client id only where that was proven', () => {
    expect(at.open().exchange.orders).not.toHaveProperty('queryByClientId');
    expect(at.open({ byClientId: true }).exchange.orders).toHaveProperty('queryByClientId');
  });
});

it('whether a cancel ends an order at once is told of the first answer that says so, and of no other', async () => {
  const told: string[] = [];
  const { exchange } = at.open({ cancelSeen: (habit) => void told.push(habit) });
  const answers = [{ code: -2013, msg: 'no such order' }, {}, { status: 'NEW' }, { status: 'PENDING_CANCEL' }];
  for (const answer of [...answers, { status: 'CANCELED' }]) {
    at.stub.answer = () => answer;
    await exchange.orders.cancel({ symbol: 'BTCUSDT', orderId: '7' });
  }
  expect(told).toEqual(['asynchronous']);
  const other = at.open({ cancelSeen: (habit) => void told.push(habit) });
  await other.exchange.orders.cancel({ symbol: 'BTCUSDT', orderId: '7' });
  expect(told).toEqual(['asynchronous', 'at once']);
});

describe('what a socket does', () => {
  const channel = 'market_btcusdt_depth_step0';
  const listen = () => {
    const clock = new SimClock(0);
    const wire = memoryWs();
    return { clock, wire, found: probeSocket(wire.ws, 'ws://x', 'BTCUSDT', clock) };
  };

  it('is told from its first data, acknowledgement and ping, which is answered', async () => {
    const { clock, wire, found } = listen();
    const end = wire.last();
    end.open();
    await clock.advanceTo(300);
    end.push({ event_rep: 'subed', channel, status: 'ok' });
    end.push({ channel, ts: 1, tick: { asks: [], buys: [] } });
    end.push({ ping: 1_790_145_583_000 });
    expect(await found).toEqual({ firstDataMs: 300, acknowledges: true, ping: 'ms', closed: undefined });
    expect(end.sent.at(-1)).toBe('{"pong":1790145583000}');
    expect(end.closedByClient).toBe(true);
  });

  it('is told after eleven seconds of silence, and at once when it closes', async () => {
    const silent = listen();
    silent.wire.last().open();
    await silent.clock.advanceTo(11_000);
    expect(await silent.found).toMatchObject({ firstDataMs: undefined, ping: 'none seen' });
    const refused = listen();
    refused.wire.last().close('Unexpected server response: 404');
    expect(await refused.found).toMatchObject({ closed: 'Unexpected server response: 404' });
  });
});
