/** Every row of the table, carried out: its function sends what the table says, and takes what the table says from the budget. */
import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { btcusdt, desk, intent, letGo, orderId, stubbed } from '../../../test/kit/exchange-stub.ts';
import type { Exchange } from './exchange.ts';
import { channelOf, hasUnsub, klineChannel, socketOperations } from './market/channels.ts';
import { costOf, type Endpoint, endpoints } from './rest/endpoints.ts';

const at = stubbed();
const symbol = 'BTCUSDT';
const order = { symbol, orderId };

/** The compiler wants one for each row. */
const calls: Readonly<Record<keyof typeof endpoints, (x: Exchange) => Promise<unknown>>> = {
  ping: (x) => x.market.ping(),
  time: (x) => x.market.time(),
  symbols: (x) => x.instruments(),
  depth: (x) => x.market.depth(symbol, 5),
  ticker: (x) => x.market.ticker(symbol),
  trades: (x) => x.market.trades(symbol, 5),
  klines: (x) => x.market.klines(symbol, '1min', 5),
  create: created,
  orderTest: (x) => x.bulk.test(intent(), btcusdt),
  batchCreate: (x) => x.bulk.createMany([intent()], btcusdt),
  query: (x) => x.orders.query(order),
  cancel: (x) => x.orders.cancel(order),
  batchCancel: (x) => x.bulk.cancelMany(symbol, [orderId]),
  openOrders: (x) => x.orders.openOrders(symbol),
  myTrades: (x) => x.orders.tradesSince(symbol, '7'),
  account: (x) => x.account.balances(),
  marginCreate: created,
  marginQuery: (x) => x.orders.query(order),
  marginCancel: (x) => x.orders.cancel(order),
  marginOpenOrders: (x) => x.orders.openOrders(symbol),
  marginMyTrades: (x) => x.orders.tradesSince(symbol, '7'),
  withdrawQuery: (x) => x.withdrawals.query({ withdrawOrderId: 'w1', startTime: 1, page: 1 }),
  openTrades: (x) => x.openData.trades('BTC', 'USDT', 5),
  openTicker: (x) => x.openData.ticker(),
  openAsset: (x) => x.openData.asset(),
  openDepth: (x) => x.openData.depth('BTC', 'USDT', { step: 1 }),
  openAllTickers: (x) => x.openData.allTickers(),
};

async function created(x: Exchange): Promise<void> {
  await x.orders.admit(Number.MAX_SAFE_INTEGER);
  await x.orders.prepare(intent(), btcusdt).send(letGo);
}

const rows = Object.entries(endpoints) as [keyof typeof endpoints, Endpoint][];

describe('the operation', () => {
  it.each(rows.map(([key, row]) => [row.name, key, row] as const))('%s', async (_, key, row) => {
    const { exchange, spent } = at.open({ account: key.startsWith('margin') ? 'margin' : 'spot' });
    // The symbols are asked for once, before anything is read in their steps.
    at.answering(() => ({}));
    await exchange.instruments();
    if (key !== 'symbols') {
      at.stub.requests.length = 0;
      spent.length = 0;
      await calls[key](exchange);
    }
    expect(at.stub.requests).toHaveLength(1);
    const [{ method, target, headers, body } = { method: '', target: '', headers: {}, body: '' }] = at.stub.requests;
    const [path = ''] = target.split('?');
    expect([method, path]).toEqual([row.method, row.path]);
    expect(spent.map(({ cost }) => cost)).toEqual([costOf(row)]);
    if (row.security === 'NONE') expect(headers).not.toHaveProperty('x-ch-sign');
    else {
      const payload = `${String(headers['x-ch-ts'])}${method}${target}${body}`;
      expect(headers).toMatchObject({
        'x-ch-apikey': 'the-key',
        'x-ch-sign': createHmac('sha256', 'the-secret').update(payload).digest('hex'),
      });
    }
    if (method === 'GET') expect(body).toBe('');
    else expect(typeof JSON.parse(body)).toBe('object');
  });

  it('has a name of its own', () => {
    const all = [...Object.values<Endpoint>(endpoints), ...socketOperations];
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});

describe('the socket operation', () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  it.each(socketOperations.map((row) => [row.name, row] as const))('%s', async (_, { event, channel }) => {
    const on = desk();
    const name = channel.replace('<symbol>', 'btcusdt').replace('<interval>', '1min');
    const kind = (['depth', 'trades', 'ticker'] as const).find((one) => channelOf(one, symbol) === name);
    expect(kind === undefined ? klineChannel(symbol, '1min') : name).toBe(name);
    const streams = {
      depth: () => on.feed.depth(symbol).subscribe(),
      trades: () => on.feed.trades(symbol).subscribe(),
      ticker: () => on.feed.ticker(symbol).subscribe(),
    };
    const listening = kind === undefined ? on.feed.klines(symbol, '1min').subscribe() : streams[kind]();
    stops.push(
      () => listening.unsubscribe(),
      () => on.sockets.close(),
    );
    on.last().open();
    if (event === 'req') void on.sockets.ask(name, {});
    listening.unsubscribe();
    const said = on.last().sent.map((text) => JSON.parse(text) as unknown);
    expect(said).toContainEqual({ event, params: { channel: name, cb_id: name } });
    expect(said.some((one) => (one as { event: string }).event === 'unsub')).toBe(hasUnsub(name));
  });
});
