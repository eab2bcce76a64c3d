/** A client that nobody here wrote, so to speak, has a whole day on the built-in exchange as it is by default. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Apart, openApart } from '../kit/apart.ts';
import { busy, everyKey, quiet, withdrawal } from '../kit/apart-world.ts';
import { connect, ExchangeError, type NewOrder, openFeed, pause } from '../third-party/client.ts';

let exchange: Apart;
let ours: ReturnType<typeof connect>;
let theirs: ReturnType<typeof connect>;

beforeAll(async () => {
  exchange = await openApart();
  const { restUrl: url, wsUrl } = exchange;
  ours = connect({ url, wsUrl, ...everyKey.main });
  theirs = connect({ url, wsUrl, ...everyKey.second });
});
afterAll(() => exchange.close());

const limit = (side: 'BUY' | 'SELL', price: number, volume: number): NewOrder => ({
  symbol: quiet,
  side,
  type: 'LIMIT',
  price,
  volume,
});
const statusOf = async (id: string): Promise<string> => (await ours.query(quiet, id)).status;
const balanceOf = async (wanted: string): Promise<{ free: number; locked: number }> => {
  const row = (await ours.account()).balances.find(({ asset }) => asset === wanted);
  return { free: Number(row?.free), locked: Number(row?.locked) };
};

test('it reads the market', async () => {
  await ours.ping();
  const { serverTime } = await ours.time();
  const { symbols } = await ours.symbols();
  expect(symbols.map(({ symbol }) => symbol.toUpperCase())).toEqual([busy, quiet]);
  const { bids, asks, time } = await ours.depth(busy, '10');
  expect(Number(bids[0]?.[0])).toBeLessThan(Number(asks[0]?.[0]));
  expect(time).toBeGreaterThanOrEqual(serverTime);
  expect(Number((await ours.ticker(busy)).last)).toBeGreaterThan(0);
  expect((await ours.trades(busy, '5')).list).toHaveLength(5);
  const klines = await ours.klines(busy, '1min');
  expect(klines).toHaveLength(100);
  expect(Number(klines[0]?.idx)).toBeGreaterThan(Number(klines[1]?.idx));
  await expect(ours.ticker('NOSUCH')).rejects.toMatchObject({ status: 400, code: -1121 });
});

test('it trades, and the money adds up', async () => {
  const before = await balanceOf('USDT');
  await ours.test(limit('BUY', 1_000, 1));
  const { orderIdString: bid, status } = await ours.create({ ...limit('BUY', 1_000, 1), newClientOrderId: 'my-first' });
  expect(status).toBe('NEW');
  expect((await ours.openOrders(quiet)).map(({ orderIdString }) => orderIdString)).toEqual([bid]);
  expect(await balanceOf('USDT')).toEqual({ free: before.free - 1_000, locked: before.locked + 1_000 });
  await theirs.create(limit('SELL', 990, 0.4));
  expect(await ours.query(quiet, bid)).toMatchObject({ orderId: bid, status: 'PARTIALLY_FILLED' });
  await theirs.create({ symbol: quiet, side: 'SELL', type: 'MARKET', volume: 0.6 });
  const order = await ours.query(quiet, bid);
  expect(order.status).toBe('FILLED');
  expect([Number(order.executedQty), Number(order.avgPrice)]).toEqual([1, 1_000]);
  const trades = await ours.myTrades(quiet);
  expect(trades.map(({ qty, isBuyer, isMaker }) => [Number(qty), isBuyer, isMaker])).toEqual([
    [0.6, true, true],
    [0.4, true, true],
  ]);
  expect((await balanceOf('USDT')).locked).toBe(before.locked);
  // A MARKET BUY says what to spend.
  await theirs.create(limit('SELL', 2_000, 1));
  const { orderIdString: bought } = await ours.create({ symbol: quiet, side: 'BUY', type: 'MARKET', volume: 500 });
  expect(Number((await ours.query(quiet, bought)).executedQty)).toBe(0.25);
});

test('it cancels, and is refused what cannot be', async () => {
  const { orderIdString: id } = await ours.create(limit('BUY', 500, 1));
  expect((await ours.cancel(quiet, id)).status).toBe('CANCELED');
  expect(await statusOf(id)).toBe('CANCELED');
  for (const refused of [
    () => ours.cancel(quiet, id),
    () => ours.query(quiet, '1'),
    () => ours.create(limit('BUY', 500, 1_000_000)),
    () => ours.create({ symbol: quiet, side: 'BUY', type: 'LIMIT', volume: 1 }),
    () => connect({ url: exchange.restUrl, wsUrl: exchange.wsUrl, key: everyKey.main.key, secret: 'wrong' }).account(),
  ])
    await expect(refused()).rejects.toThrow(ExchangeError);
});

test('it places and cancels batches', async () => {
  const orders = [510, 520, 530].map((price) => ({ price, volume: 1, side: 'BUY', batchType: 'LIMIT' }));
  const { idsString } = await ours.batch(quiet, orders);
  expect(idsString).toHaveLength(3);
  expect((await ours.openOrders(quiet)).map(({ orderIdString }) => orderIdString).toSorted()).toEqual(
    idsString.toSorted(),
  );
  const { success, failed } = await ours.batchCancel(quiet, [...idsString, '9000000000000000001']);
  expect([success.length, failed.length]).toEqual([3, 1]);
  expect(await Promise.all(idsString.map(statusOf))).toEqual(['CANCELED', 'CANCELED', 'CANCELED']);
});

test('it trades on margin, apart from its spot account', async () => {
  const spot = await ours.account();
  const { orderId } = await ours.marginCreate(limit('BUY', 800, 1));
  expect(await ours.marginQuery(quiet, orderId)).toMatchObject({ orderId, status: 'NEW' });
  expect((await ours.marginOpenOrders(quiet)).map((order) => order.orderId)).toEqual([orderId]);
  await theirs.create(limit('SELL', 800, 0.5));
  expect((await ours.marginQuery(quiet, orderId)).status).toBe('PARTIALLY_FILLED');
  expect((await ours.marginTrades(quiet)).map(({ qty }) => Number(qty))).toEqual([0.5]);
  expect((await ours.marginCancel(quiet, orderId)).status).toBe('CANCELED');
  expect(await ours.account()).toEqual(spot);
});

/** The operator, who decides at an address of his own. */
async function decide(id: number, to: string): Promise<void> {
  const answer = await fetch(`${exchange.controlUrl}/withdrawals/${id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ to, ...(to === 'reject' && { info: 'no reason' }) }),
  });
  expect(answer.status).toBe(200);
}

test.for([
  [['approve', 'pay', 'complete'], [0, 1, 3, 5], 'is gone'],
  [['approve', 'pay', 'fail'], [0, 1, 3, 4], 'is back'],
  [['reject'], [0, 2], 'is back'],
  [['approve', 'revoke'], [0, 1, 6], 'is back'],
] as const)(
  'it withdraws; the operator decides to %j, the states are %j, and the money %s',
  async ([steps, states, end]) => {
    const before = await balanceOf('USDT');
    const withdrawOrderId = `w-${steps.join('-')}`;
    const { id } = await ours.withdraw({ withdrawOrderId, ...withdrawal });
    const statuses = [];
    for (const step of ['', ...steps]) {
      if (step !== '') await decide(id, step);
      const { withdrawList } = await ours.withdrawals(withdrawOrderId);
      expect(withdrawList).toHaveLength(1);
      statuses.push(withdrawList[0]?.status);
    }
    expect(statuses).toEqual(states);
    const amount = end === 'is gone' ? Number(withdrawal.amount) : 0;
    expect(await balanceOf('USDT')).toEqual({ ...before, free: before.free - amount });
    await expect(ours.withdraw({ withdrawOrderId, ...withdrawal })).rejects.toThrow(ExchangeError);
  },
);

test('it reads the aggregated data', async () => {
  const [base, quote] = ['BTC', 'USDT'];
  expect((await ours.openTrades(base, quote)).data.trades.length).toBeGreaterThan(0);
  expect(Object.keys((await ours.openTicker()).data.ticker)).toContain('BTC_USDT');
  expect(Object.keys((await ours.openAssets()).data.asset)).toContain('USDT');
  expect((await ours.openDepth(base, quote)).data).toHaveProperty([`orderbook`, 'bids', '0', '0']);
  expect((await ours.openTickers()).data.ticker).toHaveLength(2);
});

describe('it listens', () => {
  test('to depth, trades, ticker and klines, until it has received enough, and is not thrown out', async () => {
    const feed = await openFeed(exchange.wsUrl);
    const name = `market_${busy.toLowerCase()}`;
    const channels = [`${name}_depth_step0`, `${name}_trade_ticker`, `${name}_ticker`, `${name}_kline_1min`];
    for (const channel of channels) feed.subscribe(channel);
    for (const wanted of channels) {
      const { tick } = await feed.next(({ channel, tick: has }) => channel === wanted && has !== undefined);
      const key = { depth: 'buys', trade: 'data', ticker: 'close', kline: 'id' }[wanted.split('_')[2] ?? ''];
      expect(tick).toHaveProperty(key ?? '');
    }
    feed.ask(`${name}_kline_5min`, { pageSize: 7 });
    const history = await feed.next(({ event_rep: rep, channel }) => rep === 'rep' && channel === `${name}_kline_5min`);
    expect(history.data).toHaveLength(7);
    expect(history.cb_id).toBe('mine');
    for (const channel of channels.slice(0, 3)) feed.unsubscribe(channel);
    await pause(500);
    const after = feed.frames.length;
    // Past one ping, which it answers.
    await pause(10_000);
    const late = new Set(feed.frames.slice(after).map(({ channel }) => channel));
    expect([...late].filter((channel) => channels.slice(0, 3).includes(channel))).toEqual([]);
    expect(feed.pings()).toBeGreaterThan(0);
    feed.close();
  });

  test('and hears of its own trade', async () => {
    const feed = await openFeed(exchange.wsUrl);
    const channel = `market_${quiet.toLowerCase()}_trade_ticker`;
    feed.subscribe(channel);
    feed.ask(channel);
    await feed.next(({ event_rep: rep }) => rep === 'rep');
    await theirs.create(limit('SELL', 1_500, 0.123));
    await ours.create(limit('BUY', 1_500, 0.123));
    const { tick } = await feed.next((frame) => frame.channel === channel && frame.tick !== undefined);
    expect(tick).toMatchObject({
      data: [{ side: 'buy', price: expect.stringMatching(/^1500/), vol: expect.stringMatching(/^0\.123/) }],
    });
    feed.close();
  });
});
