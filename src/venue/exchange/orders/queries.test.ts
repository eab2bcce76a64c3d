import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { btcusdt, orderId, stubbed } from '../../../../test/kit/exchange-stub.ts';
import { lots, ticks, units } from '../../../domain/money.ts';

const at = stubbed();
const { open, answering } = at;

describe('a query', () => {
  it('is signed with its query, goes by the reconcile lane, and gives the order in our words', async () => {
    answering(
      () => `{"orderId":${orderId},"symbol":"btcusdt","side":"SELL","type":"MARKET","status":"Partially Filled/Cancelled",
      "executedQty":1.2E-3,"origQty":"100.0000000000000000","clientOrderId":""}`,
    );
    const { exchange, spent } = open();
    expect(await exchange.orders.query({ symbol: 'BTCUSDT', orderId })).toEqual({
      kind: 'ok',
      value: {
        orderId,
        clientOrderId: undefined,
        symbol: 'BTCUSDT',
        side: 'SELL',
        type: 'MARKET',
        status: 'CANCELED',
        executed: 120n,
        quantity: 10_000_000n,
      },
    });
    const request = at.stub.requests[1];
    expect(request?.target).toBe(`/sapi/v1/order?orderId=${orderId}&symbol=BTCUSDT`);
    const payload = `${String(request?.headers['x-ch-ts'])}GET${request?.target}`;
    expect(request?.headers['x-ch-sign']).toBe(createHmac('sha256', 'the-secret').update(payload).digest('hex'));
    expect(spent.map(({ lane, cost }) => [lane, cost.weight])).toEqual([
      ['reconcile', 1],
      ['reconcile', 1],
    ]);
  });

  it.each([
    ['a MARKET BUY, of which origQty is the amount', { side: 'BUY', type: 'MARKET' }, { amount: units('12.5') }],
    ['a MARKET SELL', { side: 'SELL', type: 'MARKET', price: '0' }, { quantity: lots('12.5', btcusdt) }],
    ['a LIMIT', { type: 'LIMIT', price: 9 }, { quantity: lots('12.5', btcusdt), price: ticks('9', btcusdt) }],
  ])('says what was asked for and when: %s', async (_, fields, asked) => {
    const common = { orderId, side: 'BUY', status: 'NEW', executedQty: '0', origQty: '12.50', symbol: 'btcusdt' };
    answering(() => ({ ...common, transactTime: '1574327555669', ...fields }));
    const answer = await open().exchange.orders.query({ symbol: 'BTCUSDT', orderId });
    expect(answer).toMatchObject({ kind: 'ok', value: { createdAt: 1_574_327_555_669, ...asked } });
    if (answer.kind === 'ok' && 'amount' in asked) expect(answer.value).not.toHaveProperty('quantity');
  });

  it.each<[string, unknown]>([
    ['another order', { orderId: '7', side: 'BUY', status: 'NEW', executedQty: '0' }],
    ['no readable quantity', { orderId, side: 'BUY', status: 'FILLED', executedQty: 'NaN' }],
    ['an empty object', {}],
    ['nothing', { code: '0', data: null }],
    ['"not found"', { code: -2013, msg: 'Order does not exist.' }],
  ])('that answers with %s fails and proves nothing', async (_, body) => {
    answering(() => body);
    const answer = await open().exchange.orders.query({ symbol: 'BTCUSDT', orderId });
    expect(answer).toMatchObject(body === undefined ? {} : { kind: 'failed' });
    if (JSON.stringify(body).includes('2013')) expect(answer).toMatchObject({ code: '-2013' });
  });

  it('takes a status that it does not know for an open order, and counts it', async () => {
    answering(() => ({ orderId, side: 'BUY', status: 'Halted!', executedQty: '0' }));
    const { exchange, lines } = open();
    expect(await exchange.orders.query({ symbol: 'BTCUSDT', orderId })).toMatchObject({ value: { status: 'NEW' } });
    expect(exchange.counters()).toMatchObject({ 'unknown order status': 1 });
    expect(JSON.stringify(lines)).toContain('Halted!');
  });

  it('by client id alone exists for margin only, and holds only when the id is echoed', async () => {
    expect('queryByClientId' in open().exchange.orders).toBe(false);
    const { orders } = open({ account: 'margin' }).exchange;
    const order = { orderId, side: 'BUY', status: 'NEW', executedQty: '0' };
    answering(() => ({ ...order, clientOrderId: 'SABC' }));
    expect(await orders.queryByClientId?.('BTCUSDT', 'sabc')).toMatchObject({ kind: 'ok', value: { orderId } });
    expect(at.stub.requests.at(-1)?.target).toBe('/sapi/v1/margin/order?newClientOrderId=sabc&symbol=BTCUSDT');
    answering(() => ({ ...order, clientOrderId: null }));
    expect(await orders.queryByClientId?.('BTCUSDT', 'sabc')).toMatchObject({ kind: 'failed' });
  });

  it('of a symbol that the exchange does not list fails before anything is asked of it', async () => {
    answering(() => ({}));
    const answer = await open().exchange.orders.query({ symbol: 'NOPEUSDT', orderId });
    expect(answer).toMatchObject({ kind: 'failed', cause: 'the exchange lists no symbol NOPEUSDT' });
    expect(at.stub.requests).toHaveLength(1);
  });

  it('for which the budget has no room is not sent', async () => {
    const { exchange } = open({ spend: () => Promise.resolve(false) });
    expect(await exchange.orders.openOrders('BTCUSDT')).toMatchObject({ kind: 'failed' });
    expect(at.stub.requests).toHaveLength(0);
  });
});

describe('lists', () => {
  const row = { orderId, symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', status: 'NEW_', executedQty: '0' };

  it.each<[string, unknown, number]>([
    ['bare', [row], 1],
    ['under list', { list: [row, row] }, 2],
    ['in an envelope', { code: 0, msg: 'suc', data: { list: [row] } }, 1],
    ['as null in an envelope', { code: '0', msg: 'suc', data: null }, 0],
    ['as null alone', 'null', 0],
  ])('of open orders are read %s', async (_, body, length) => {
    answering(() => body);
    const answer = await open().exchange.orders.openOrders('BTCUSDT');
    expect(answer).toMatchObject({ kind: 'ok', value: { full: false } });
    expect(answer.kind === 'ok' && answer.value.rows).toHaveLength(length);
    expect(at.stub.requests.at(-1)?.target).toBe('/sapi/v1/openOrders?limit=1000&symbol=BTCUSDT');
  });

  it('say when they reached their limit', async () => {
    answering(() => Array.from({ length: 1_000 }, () => row));
    expect(await open().exchange.orders.openOrders('BTCUSDT')).toMatchObject({ value: { full: true } });
  });

  it.each<[string, unknown]>([
    ['an object', {}],
    ['an empty body', ''],
    ['a row without an id', [row, { ...row, orderId: 'x' }]],
    ['an error under 200', { code: '-1003', msg: 'x' }],
  ])('fail as a whole for %s', async (_, body) => {
    answering(() => body);
    expect(await open().exchange.orders.openOrders('BTCUSDT')).toMatchObject({ kind: 'failed' });
  });

  it.each([
    [200, '<html>\u001b[31m\n down</html>', 'open orders: HTTP 200 with a body that is not JSON: [31m down'],
    [503, `<html>${'x'.repeat(200)}`, `open orders: HTTP 503: ${'x'.repeat(80)}`],
    [502, '<!DOCTYPE html><head><title>Bad gateway</title>', 'open orders: HTTP 502: Bad gateway'],
    [404, 'null', 'open orders: HTTP 404 without an error code: null'],
    [200, '{"rows":[]}', 'open orders: the answer is not a list, HTTP 200: {"rows":[]}'],
  ])('say what was received instead: HTTP %s with %s', async (status, body, cause) => {
    answering((_, response) => {
      response.statusCode = status;
      return body;
    });
    expect(await open().exchange.orders.openOrders('BTCUSDT')).toEqual({ kind: 'failed', cause });
  });
});

describe('own trades', () => {
  const raw = `{"symbol":"btcusdt","side":"BUY","fee":6.6E-4,"isMaker":true,"isBuyer":true,"bidId":1938321163093077686,"bidUserId":10083,
    "price":86650.65,"qty":2.1E-4,"askId":1938321163093077999,"id":9007199254740993,"time":1701243281850,"isSelf":false,"feeCoin":"btc"}`;
  const trades = async (body: string, fromId?: string) => {
    answering(() => body);
    return open().exchange.orders.tradesSince('BTCUSDT', fromId);
  };

  it('keep every digit of their ids and amounts', async () => {
    expect(await trades(`[${raw}]`, '77')).toEqual({
      kind: 'ok',
      value: {
        full: false,
        rows: [
          {
            tradeId: '9007199254740993',
            symbol: 'BTCUSDT',
            price: 8_665_065n,
            quantity: 21n,
            orderIds: ['1938321163093077686'],
            side: 'BUY',
            maker: true,
            fee: units('0.00066'),
            feeAsset: 'BTC',
            time: 1_701_243_281_850,
            raw: expect.objectContaining({ id: '9007199254740993', price: 86650.65 }),
          },
        ],
      },
    });
    expect(at.stub.requests.at(-1)?.target).toBe('/sapi/v1/myTrades?limit=1000&fromId=77&symbol=BTCUSDT');
  });

  it('name our own order: the ask of a seller, both of a self-trade, flagged or told by the users', async () => {
    const ids = async (body: string) => {
      const answer = await trades(`{"list":[${body}]}`);
      return answer.kind === 'ok' ? answer.value.rows[0]?.orderIds : answer;
    };
    const both = ['1938321163093077686', '1938321163093077999'];
    expect(await ids(raw.replace('"isBuyer":true', '"isBuyer":false'))).toEqual([both[1]]);
    expect(await ids(raw.replace('"isSelf":false', '"isSelf":true'))).toEqual(both);
    expect(await ids(raw.replace('"isSelf":false', '"askUserId":10083'))).toEqual(both);
    // Where users are not told both are 0.
    const nobody = raw.replace('"bidUserId":10083', '"bidUserId":0').replace('"isSelf":false', '"askUserId":0');
    expect(await ids(nobody)).toEqual([both[0]]);
    expect(await ids(raw.replace('"isBuyer":true,', ''))).toEqual([both[0]]);
  });

  it.each([
    ['price', raw.replace('86650.65', '"NaN"')],
    ['price', raw.replace('86650.65', '1e400')],
    ['quantity', raw.replace('2.1E-4', '0.0000000021')],
    ['quantity', raw.replace('2.1E-4', '-0.0000000001')],
    ['time', raw.replace('1701243281850', '0')],
    ['fee', raw.replace('"fee":6.6E-4', '"fee":null')],
    ['feeAsset', raw.replace('"feeCoin":"btc"', '"feeCoin":""')],
    ['side', raw.replace('"isBuyer":true,', '').replace('"side":"BUY",', '')],
    ['order id', raw.replace('"bidId":1938321163093077686,', '')],
  ])('say of one whose %s cannot be read that it cannot be booked, and the others are read', async (field, body) => {
    expect(body).not.toBe(raw);
    expect(await trades(`[${raw},${body}]`)).toMatchObject({
      kind: 'ok',
      value: {
        rows: [
          expect.not.objectContaining({ unreadable: expect.anything() }),
          { tradeId: '9007199254740993', unreadable: `it has no readable ${field}` },
        ],
      },
    });
  });

  it('fail as a whole where one has no id', async () => {
    expect(await trades(`[${raw},${raw.replace('9007199254740993', 'null')}]`)).toMatchObject({ kind: 'failed' });
  });
});
