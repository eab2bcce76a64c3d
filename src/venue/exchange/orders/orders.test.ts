import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Answerer, btcusdt, intent, letGo, orderId, stubbed } from '../../../../test/kit/exchange-stub.ts';
import { ScaledClock } from '../../../clock/clock.ts';
import { ticks, units } from '../../../domain/money.ts';
import type { Outcome } from '../../../domain/order.ts';
import { definiteCodes } from '../rest/classify.ts';

const at = stubbed();
const { open, answering } = at;

async function create(answer: Answerer, given = intent()): Promise<Outcome> {
  answering(answer);
  return open().exchange.orders.prepare(given, btcusdt).send(letGo);
}

describe('a create', () => {
  it('is signed over the very bytes that arrive, which hold exact numbers, our id and a short window', async () => {
    const { exchange } = open();
    const prepared = exchange.orders.prepare(intent(), btcusdt);
    expect(at.stub.requests).toHaveLength(0);
    await prepared.send(letGo);
    const [request] = at.stub.requests;
    expect(request?.body).toBe(
      '{"symbol":"BTCUSDT","volume":0.00125,"side":"BUY","type":"LIMIT","price":86650.65,' +
        '"newClientOrderId":"saaaaabbbbcccdddddddd12345678","recvWindow":2000}',
    );
    const payload = `${prepared.signedAt}POST/sapi/v1/order${request?.body}`;
    expect(request?.headers).toMatchObject({
      'x-ch-apikey': 'the-key',
      'x-ch-ts': `${prepared.signedAt}`,
      'x-ch-sign': createHmac('sha256', 'the-secret').update(payload).digest('hex'),
      'content-type': 'application/json',
    });
    expect(prepared.bodyHash).toBe(
      createHash('sha256')
        .update(request?.body ?? '')
        .digest('hex'),
    );
    // No test has shown yet that the window is heeded: the exchange's own may hold.
    expect(prepared.recvWindowMs).toBe(5_000);
  });

  it('for a MARKET BUY asks for the amount of quote, and a price of many digits stays as it is', async () => {
    const { exchange } = open();
    await exchange.orders.prepare(intent({ type: 'MARKET', volume: { amount: units('25.5') } }), btcusdt).send(letGo);
    await exchange.orders.prepare(intent({ price: ticks('98765432109876543.21', btcusdt) }), btcusdt).send(letGo);
    expect(at.stub.requests[0]?.body).toContain('"volume":25.5,');
    expect(at.stub.requests[1]?.body).toContain('"price":98765432109876543.21,');
  });

  it('at 60 times real time gives the exchange as much real time', () => {
    const { exchange } = open({ clock: new ScaledClock(60), window: { name: 'recvWindow', isHeeded: true } });
    expect(exchange.orders.prepare(intent(), btcusdt).recvWindowMs).toBe(120_000);
  });

  it.each([
    ['was shown to be heeded', { name: 'recvwindow', isHeeded: true } as const, 2_000],
    ['was only not refused', { name: 'recvwindow', isHeeded: false } as const, 5_000],
    ['is not known', undefined, 5_000],
  ])('asks for a short window and reckons with the longest that may hold, where its name %s', (_, window, ms) => {
    const { exchange } = open({ window });
    expect(exchange.orders.prepare(intent(), btcusdt).recvWindowMs).toBe(ms);
  });

  it('takes its weight by admit alone', async () => {
    const { exchange, spent } = open();
    expect(await exchange.orders.admit(17)).toBe(true);
    await exchange.orders.prepare(intent(), btcusdt).send(letGo);
    expect(spent).toEqual([
      { lane: 'create', cost: { weight: 5, frequency: { endpoint: 'order create', max: 100 } }, until: 17 },
    ]);
  });

  it('without a secret is not sent', async () => {
    const { exchange } = open({ apiSecret: undefined });
    expect(await exchange.orders.prepare(intent(), btcusdt).send(letGo)).toMatchObject({ kind: 'notSent' });
    expect(at.stub.requests).toHaveLength(0);
  });
});

describe('what came of a create', () => {
  const good = {
    orderIdString: orderId,
    orderId: 1,
    clientOrderId: intent().clientOrderId,
    symbol: 'btcusdt',
    status: 'NEW',
    executedQty: '0',
  };

  it.each([
    ['the documented reply', JSON.stringify({ ...good, side: 'BUY', type: 'LIMIT' })],
    ['an id beyond 2^53 as a number', `{"orderId":${orderId},"symbol":"btcusdt","status":0}`],
    ['an id in a list of one', `{"orderId":[${orderId}],"status":"0","clientOrderId":"0"}`],
    ['an envelope', `{"code":"0","msg":"suc","data":{"orderId":"${orderId}","clientOrderId":null}}`],
    ['our id in capitals', JSON.stringify({ ...good, clientOrderId: good.clientOrderId.toUpperCase() })],
  ])('is accepted: %s', async (_, body) => {
    expect(await create(() => body)).toMatchObject({
      kind: 'accepted',
      report: { orderId, status: 'NEW', side: 'BUY', type: 'LIMIT', symbol: 'BTCUSDT', executed: 0n },
    });
  });

  it('a status that says it is over counts only with a quantity that can be read', async () => {
    expect(await create(() => ({ ...good, status: 'FILLED', executedQty: 0.00125 }))).toMatchObject({
      report: { status: 'FILLED', executed: 125n },
    });
    expect(await create(() => ({ ...good, status: 'CANCELED', executedQty: undefined }))).toMatchObject({
      report: { status: 'NEW' },
    });
    for (const executedQty of [undefined, 'much', '0.000000001', '-1', '0E-16']) {
      expect(await create(() => ({ ...good, status: 'FILLED', executedQty }))).toMatchObject({
        kind: 'accepted',
        report: { status: 'NEW', executed: 0n },
      });
    }
  });

  it('is rejected for exactly the listed codes, under 200 and 4XX, as number or text', async () => {
    expect(Object.keys(definiteCodes)).toEqual(
      expect.arrayContaining([
        '-1021',
        '-1022',
        '-1111',
        '-1121',
        '-1136',
        '-1138',
        '-2015',
        '-2017',
        '10062',
        '110049',
      ]),
    );
    expect(Object.keys(definiteCodes)).toHaveLength(12);
    for (const code of Object.keys(definiteCodes)) {
      const outcome = { kind: 'rejected', code, message: '余额不足' };
      expect(await create(() => ({ code: Number(code), msg: '余额不足' }))).toEqual(outcome);
      const refused: Answerer = (_, response) => {
        response.statusCode = 400;
        return { code, msg: '余额不足', data: null };
      };
      expect(await create(refused)).toEqual(outcome);
    }
  });

  it('is rejected by status, unless something was executed', async () => {
    expect(await create(() => ({ ...good, status: 'REJECTED' }))).toMatchObject({ kind: 'rejected', code: 'REJECTED' });
    expect(await create(() => ({ ...good, status: 'REJECTED', executedQty: '1' }))).toMatchObject({ kind: 'unknown' });
  });

  it.each<[string, Answerer]>([
    ['500', (_, r) => void r.writeHead(500).end('{"code":-1121,"msg":"x"}')],
    ['504', (_, r) => void r.writeHead(504).end()],
    ['408', (_, r) => void r.writeHead(408).end('{"code":-1121,"msg":"x"}')],
    ['410', (_, r) => void r.writeHead(410).end('{"code":-1121,"msg":"x"}')],
    ['418', (_, r) => void r.writeHead(418).end('{"code":-1121,"msg":"x"}')],
    ['429', (_, r) => void r.writeHead(429).end('{"code":-1121,"msg":"x"}')],
    ['a redirect', (_, r) => void r.writeHead(302, { location: '/elsewhere' }).end()],
    ['a codeless 404', (_, r) => void r.writeHead(404).end('{"status":404,"error":"Not Found","path":"/"}')],
    ['a firewall’s page', (_, r) => void r.writeHead(403).end('<html>denied</html>')],
    ['an undetermined code', () => ({ code: -1006, msg: 'x' })],
    ['a code that is not listed', () => ({ code: '-1102', msg: 'x' })],
    ['a positive code', () => ({ code: 1, msg: 'fail' })],
    ['succ:false', () => ({ code: '0', succ: false, data: good })],
    ['no orderId', () => ({ ...good, orderId: null, orderIdString: '' })],
    ['another client id', () => ({ ...good, clientOrderId: 'somebody' })],
    ['a list', () => [good]],
    ['an empty envelope', () => ({ code: 0, data: null })],
    ['HTML under 200', () => '<html>'],
    ['nothing under 200', () => ''],
    ['null under 200', () => 'null'],
    [
      'half a body',
      (_, r) => void r.writeHead(200, { 'content-length': 500 }).write('{"orderId":"1"', () => r.destroy()),
    ],
    ['half a chunked body', (_, r) => void r.writeHead(200).write('{"orderId":"1"}', () => r.destroy())],
    ['a reset', (_, r) => void r.destroy()],
  ])('is unknown after %s', async (_, answer) => {
    expect(await create(answer)).toMatchObject({ kind: 'unknown', signedAt: expect.any(Number) });
    expect(at.stub.requests).toHaveLength(1);
  });

  it('is not sent when nobody listens', async () => {
    await at.stub.close();
    expect(await create(() => ({}))).toMatchObject({ kind: 'notSent', cause: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('a cancel', () => {
  const cancel = (answer: Answerer) => {
    answering(answer);
    return open().exchange.orders.cancel({ symbol: 'BTCUSDT', orderId });
  };

  it.each<[string, unknown, object]>([
    ['PENDING_CANCEL', `{"orderId":[${orderId}],"status":"PENDING_CANCEL"}`, { kind: 'requested' }],
    ['CANCELED without ids', { clientOrderId: '0', status: 'CANCELED' }, { kind: 'requested' }],
    ['no such order', { code: '-2013', msg: 'x' }, { kind: 'refused', code: '-2013' }],
    ['a fault inside', { code: -1000, msg: 'x' }, { kind: 'unknown' }],
    ['another order', { orderId: '5' }, { kind: 'unknown' }],
    ['HTML', '<html>', { kind: 'unknown' }],
  ])('answered with %s', async (_, body, outcome) => {
    expect(await cancel(() => body)).toMatchObject(outcome);
    expect(at.stub.requests[0]).toMatchObject({
      method: 'POST',
      target: '/sapi/v1/cancel',
      body: `{"orderId":"${orderId}","symbol":"BTCUSDT"}`,
    });
  });
});

describe('limits', () => {
  it.each([410, 418, 429] as const)('HTTP %i is passed on with its Retry-After', async (status) => {
    answering((_, response) => void response.writeHead(status, { 'retry-after': '7' }).end('{}'));
    const { exchange, notices } = open();
    await exchange.account.balances();
    expect(notices).toEqual([{ status, retryAfterMs: 7_000 }]);
  });

  it('the body form counts as a 429', async () => {
    answering(() => ({ code: -1003, msg: 'Requests exceed the limit too frequently.' }));
    const { exchange, notices } = open();
    await exchange.account.balances();
    expect(notices).toEqual([{ status: 429, retryAfterMs: undefined }]);
  });
});
