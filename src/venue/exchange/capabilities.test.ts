import { describe, expect, it } from 'vitest';
import { btcusdt, intent, letGo, memoryWs, type SeenRequest, stubbed } from '../../../test/kit/exchange-stub.ts';
import { ScaledClock } from '../../clock/clock.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { probeSocket } from './probe-socket.ts';

const at = stubbed();
const sample = { order: intent(), at: btcusdt };
const order = { symbol: 'btcusdt', orderId: 1800000000000000001n.toString(), clientOrderId: 'mine', status: 'NEW' };
const kline = (idx: number) => ({ idx, open: 1, close: 1, high: 1, low: 1, vol: 1 });

/** A deployment that answers like this, by path; a query by client id alone gets `byClientId`. */
function deployment(
  paths: Readonly<Record<string, unknown>>,
  byClientId: unknown = { code: -1102, msg: 'missing' },
): void {
  at.stub.answer = (request: SeenRequest, response) => {
    const { target, method } = request;
    const path = target.split('?')[0]?.replace('/sapi/v1/', '') ?? '';
    if (target.includes('SLUICENOSUCH')) {
      response.statusCode = Number(paths['errorStatus'] ?? 200);
      return paths['error'] ?? { code: '-1121', msg: 'Invalid symbol.' };
    }
    if (path === 'order' && method === 'GET' && !/[?&]orderId=/.test(target)) return byClientId;
    const answer = paths[path];
    return (
      (typeof answer === 'function' ? (answer as (request: SeenRequest) => unknown)(request) : answer) ?? {
        code: -1000,
      }
    );
  };
}
const usual = {
  ticker: { last: '1' },
  trades: { list: [] },
  klines: [kline(120_000), kline(60_000)],
  openOrders: [order],
};

const tooLate = { code: -1021, msg: 'outside of the recvWindow' };
/** A test of an order that heeds the window under one name; `others` is what it says to the other names. */
const heeding =
  (name: string | undefined, others: object = {}) =>
  ({ headers, body }: SeenRequest): object => {
    const ageMs = new ScaledClock().now() - Number(headers['x-ch-ts']);
    const given = /,"(rec\w+)":(\d+)}/i.exec(body);
    if (given?.[1] === undefined) return ageMs > 5_000 ? tooLate : {};
    return given[1] === name ? (ageMs > Number(given[2]) ? tooLate : {}) : others;
  };

describe('the name of the time window', () => {
  const unknownParameter = { code: -1103, msg: 'unknown parameter' };
  it.each([
    ['recvWindow', heeding('recvWindow'), 'recvWindow', 4_000],
    ['recvwindow, others passed over', heeding('recvwindow'), 'recvwindow', 4_000],
    ['recwwindow, others refused', heeding('recwwindow', unknownParameter), 'recwwindow', 4_000],
    ['none, all passed over', heeding(undefined), 'none', 5_000],
    ['none, all refused', heeding(undefined, unknownParameter), 'none', 5_000],
  ])('is found out by tests of an order: %s', async (_, test, name, longestMs) => {
    deployment({ ...usual, 'order/test': test });
    const { exchange: x, spent } = at.open();
    expect(await x.probe('BTCUSDT', sample)).toMatchObject({ recvWindow: name });
    expect(x.time.against()).not.toContain('refused for its time');
    expect(spent.reduce((sum, { cost }) => sum + cost.weight, 0)).toBeLessThanOrEqual(30);
    // And gone by, in what is sent and in what is reckoned with.
    const prepared = x.orders.prepare(intent(), btcusdt);
    await prepared.send(letGo);
    const { recvWindowMs } = prepared;
    const sent = at.stub.requests.at(-1)?.body ?? '';
    expect(/,"(rec\w+)":/i.exec(sent)?.[1] ?? 'none').toBe(name);
    expect(recvWindowMs).toBeLessThanOrEqual(longestMs);
    expect(recvWindowMs === 5_000).toBe(name === 'none');
  });

  it.each<[string, object]>([
    ['the test is refused for something else', { code: -2015, msg: 'no' }],
    ['it is always too late', tooLate],
    ['the codes decide nothing', { code: -1000, msg: 'fail' }],
  ])('stays unknown where %s', async (_, answer) => {
    deployment({ ...usual, 'order/test': answer });
    expect(await at.open().exchange.probe('BTCUSDT', sample)).toMatchObject({ recvWindow: 'unknown' });
  });

  it('is changed by the refusal of a create, told once the next one is taken, and not asked about again', async () => {
    const seen: string[] = [];
    const { exchange: x } = at.open({ windowSeen: (quirk) => void seen.push(quirk) });
    at.stub.answer = ({ body }) => (body.includes('recvwindow') ? {} : unknownParameter);
    for (let count = 0; count < 3; count++) await x.orders.prepare(intent(), btcusdt).send(letGo);
    const names = at.stub.requests.map(({ body }) => /,"(rec\w+)":/i.exec(body)?.[1]);
    expect(names).toEqual(['recvWindow', 'recvwindow', 'recvwindow']);
    expect(seen).toEqual(['recvwindow']);
    // Not refused is not heeded.
    expect(x.orders.prepare(intent(), btcusdt).recvWindowMs).toBe(5_000);
    at.stub.answer = () => unknownParameter;
    await x.orders.prepare(intent(), btcusdt).send(letGo);
    await x.orders.prepare(intent(), btcusdt).send(letGo);
    expect(at.stub.requests.at(-1)?.body).toContain('"recvwindow"');
  });
});

describe('what a deployment does', () => {
  it('is told from queries alone', async () => {
    deployment({ ...usual, 'order/test': heeding('recvwindow') }, order);
    const found = await at.open().exchange.probe('BTCUSDT', sample);
    expect(found).toEqual({
      errorStatus: '200',
      errorCode: 'text',
      anySymbolCase: 'yes',
      lists: 'bare',
      publicTrades: 'wrapped',
      klines: 'newest first',
      orderTest: 'yes',
      recvWindow: 'recvwindow',
      clientIdEchoed: 'yes',
      queryByClientId: 'yes',
      cancel: 'unknown',
    });
    const changing = at.stub.requests.filter(
      ({ method, target }) => method === 'POST' && target !== '/sapi/v1/order/test',
    );
    expect(changing).toEqual([]);
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
      'order/test': { code: -2015, msg: 'no' },
    });
    expect(await at.open().exchange.probe('BTCUSDT', sample)).toMatchObject({
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
    deployment({ ...usual, openOrders: { list: [listed, { ...order, orderId: '5' }] } });
    expect(await about()).toMatchObject({ clientIdEchoed: 'yes' });
    deployment({ ...usual, openOrders: { list: [listed] } });
    expect(await about()).toMatchObject({ clientIdEchoed: 'unknown' });
  });

  it.each([
    [{ ...order, clientOrderId: null }, undefined, 'unknown'],
    [{ ...order, clientOrderId: null }, '5', 'unknown'],
    [{ ...order, clientOrderId: null }, order.orderId, 'no'],
    [order, order.orderId, 'yes'],
  ])('concludes that client ids are not given back only from an order that was sent with one', async (...given) => {
    const [answer, echoTestOrderId, clientIdEchoed] = given;
    const query = ({ target }: SeenRequest): object =>
      target.includes(order.orderId) ? answer : { code: -2013, msg: 'no such order' };
    deployment({ ...usual, openOrders: [{ ...order, clientOrderId: '' }], order: query });
    const found = await at.open().exchange.probe('BTCUSDT', undefined, echoTestOrderId);
    expect(found).toMatchObject({ clientIdEchoed });
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
  const seen: string[] = [];
  const { exchange } = at.open({ cancelSeen: (quirk) => void seen.push(quirk) });
  const answers = [{ code: -2013, msg: 'no such order' }, {}, { status: 'NEW' }, { status: 'PENDING_CANCEL' }];
  for (const answer of [...answers, { status: 'CANCELED' }]) {
    at.stub.answer = () => answer;
    await exchange.orders.cancel({ symbol: 'BTCUSDT', orderId: '7' });
  }
  expect(seen).toEqual(['asynchronous']);
  const other = at.open({ cancelSeen: (quirk) => void seen.push(quirk) });
  await other.exchange.orders.cancel({ symbol: 'BTCUSDT', orderId: '7' });
  expect(seen).toEqual(['asynchronous', 'at once']);
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
