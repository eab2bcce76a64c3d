import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { at, balanceTexts, fees, instruments, intent, letGo, purse, refOf } from '../../../test/kit/paper.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import type { Depth, Side, Trade } from '../../domain/market.ts';
import { lots, rate, units } from '../../domain/money.ts';
import type { Intent, Outcome } from '../../domain/order.ts';
import { rulesets } from '../../fill/rules.ts';
import { type PaperOnFeedOptions, paperOnFeed } from './paper.ts';

/** A venue whose clock and market the test moves. */
function world(options: Partial<PaperOnFeedOptions> = {}, clock = new SimClock(1_000_000)) {
  const trades = new Subject<Trade>();
  const depth = new Subject<Depth>();
  const paper = paperOnFeed({
    clock,
    feed: { trades: () => trades, depth: () => depth },
    symbols: ['XZ'],
    instruments,
    rules: rulesets.sluice,
    fees,
    balances: purse({ Z: '1000' }),
    ...options,
  });
  /** Lets a request travel to the exchange and back while time passes, and gives its answer. */
  async function within<T>(ms: number, work: Promise<T>): Promise<T> {
    const tracked = clock.track(work);
    await clock.advanceTo(clock.now() + ms);
    return tracked;
  }
  const send = (order: Intent): Promise<Outcome> => within(300, paper.orders.prepare(order, at).send(letGo));
  const print = (side: Side, price: number, quantity: number): void => {
    const time = clock.now();
    trades.next({ symbol: 'XZ', time, price, quantity, side, seenAt: time });
  };
  const balances = async (): Promise<string[]> => {
    const answer = await within(300, paper.account.balances());
    return answer.kind === 'ok' ? balanceTexts(answer.value) : [];
  };
  const show = (bid: number, ask: number, quantity: number): void => {
    const time = clock.now();
    depth.next({ symbol: 'XZ', time, bids: [[bid, quantity]], asks: [[ask, quantity]], seenAt: time });
  };
  return { clock, paper, send, print, show, balances, within };
}

test('an order is at the exchange after the entry latency and answered after the response latency', async () => {
  const { clock, paper, print } = world();
  let answered = 0;
  const sent = clock.track(paper.orders.prepare(intent({ price: '100' }), at).send(letGo)).then((outcome) => {
    answered = clock.now();
    return outcome;
  });
  await clock.advanceTo(1_000_120);
  print('SELL', 99, 5);
  await clock.advanceTo(1_000_200);
  print('SELL', 99, 0.25);
  await clock.advanceTo(1_000_500);
  expect((await sent).kind).toBe('accepted');
  expect(answered).toBe(1_000_300);
  const trades = clock.track(paper.orders.tradesSince('XZ', undefined));
  await clock.advanceTo(1_001_000);
  // What was printed on the way did not fill it.
  expect(await trades).toMatchObject({ kind: 'ok', value: { rows: [{ quantity: 2500n, maker: true }], full: false } });
});

test('latency is of the time of the market, however fast that passes', async () => {
  const clock = new SimClock(1_000_000);
  clock.machine = (realMs) => realMs * 60;
  const { paper } = world({}, clock);
  void clock.track(paper.orders.prepare(intent({ price: '100' }), at).send(letGo));
  await clock.advanceTo(clock.now() + 300);
  expect(clock.busy).toBe(false);
});

test('a MARKET order fills by the next print, and money follows', async () => {
  const { send, print, balances, paper, within } = world();
  const ref = refOf(await send(intent({ amount: '500' })));
  print('BUY', 100, 1);
  expect(await balances()).toEqual(['Z 500.00002+0', 'X 4.989002+0']);
  expect(await within(300, paper.orders.query(ref))).toMatchObject({ value: { status: 'FILLED', executed: 49_990n } });
});

test('a cancel travels too: what is printed before it arrives still fills (golden case L1)', async () => {
  const { clock, paper, send, print, within } = world();
  const ref = refOf(await send(intent({ price: '100' })));
  const canceled = clock.track(paper.orders.cancel(ref));
  await clock.advanceTo(clock.now() + 120);
  print('SELL', 99.99, 1);
  await clock.advanceTo(clock.now() + 300);
  expect(await canceled).toMatchObject({ kind: 'refused' });
  expect(await within(300, paper.orders.query(ref))).toMatchObject({ value: { status: 'FILLED' } });
});

test('a canceled order frees its funds', async () => {
  const { paper, send, balances, within } = world();
  const ref = refOf(await send(intent({ price: '100' })));
  expect(await balances()).toEqual(['Z 900+100']);
  expect(await within(300, paper.orders.cancel(ref))).toEqual({ kind: 'requested' });
  expect(await balances()).toEqual(['Z 1000+0']);
});

test('orders that the exchange would refuse are rejected, and it has no news of its own: fills are found by asking', async () => {
  const { paper, send } = world();
  expect(await send(intent({ price: '1000.01' }))).toMatchObject({ kind: 'rejected', code: '-2017' });
  expect(await send(intent({ symbol: 'YZ', price: '1' }))).toMatchObject({ kind: 'rejected', code: '-1121' });
  expect(paper.orders.news).toBeUndefined();
});

test('after a restart, open orders of the journal are back with what had filled; ids go on higher', async () => {
  const resting = intent({ id: 'resting', price: '100', lots: '3' });
  const lost = intent({ id: 'lost', price: '90' });
  const unpaid = intent({ id: 'unpaid', price: '99', lots: '100' });
  const { paper, print, within, balances } = world({
    restored: [
      { orderId: '77', intent: resting, executed: lots('2', at) },
      { intent: lost, executed: lots('0', at) },
      { orderId: '78', intent: unpaid, executed: lots('0', at) },
    ],
  });
  expect(await balances()).toEqual(['Z 810+190']);
  const open = await within(300, paper.orders.openOrders('XZ'));
  expect(open).toMatchObject({
    value: {
      rows: [
        { orderId: '77', status: 'PARTIALLY_FILLED', executed: 20_000n },
        { orderId: '1000000000', clientOrderId: 'lost' },
      ],
    },
  });
  expect(await within(300, paper.orders.query({ symbol: 'XZ', orderId: '78' }))).toMatchObject({
    value: { status: 'CANCELED' },
  });
  print('SELL', 99, 5);
  expect(await within(300, paper.orders.query({ symbol: 'XZ', orderId: '77' }))).toMatchObject({
    value: { status: 'FILLED', executed: 30_000n },
  });
});

test.each([
  ['MARKET BUY', intent({ amount: '100' })],
  ['MARKET SELL', intent({ side: 'SELL' })],
  ['LIMIT', intent({ price: '90' })],
])('after a restart, a %s order whose fill is a row already is filled and takes no more', async (_, order) => {
  const { paper, print, within, balances } = world({
    balances: purse({ Z: '900', X: '0.5' }),
    restored: [{ orderId: '77', intent: order, executed: lots('1', at) }],
  });
  print('BUY', 80, 5);
  print('SELL', 80, 5);
  expect(await balances()).toEqual(['Z 900+0', 'X 0.5+0']);
  expect(await within(300, paper.orders.query({ symbol: 'XZ', orderId: '77' }))).toMatchObject({
    value: { status: 'FILLED', executed: 10_000n },
  });
  expect(await within(300, paper.orders.openOrders('XZ'))).toMatchObject({ value: { rows: [] } });
});

test('ids go on above those of a run whose market time was later', async () => {
  const { send } = world({ firstId: 5_000_000_000 });
  expect(refOf(await send(intent({ price: '100' }))).orderId).toBe('5000000000');
  expect(refOf(await world({ firstId: 5 }).send(intent({ price: '100' }))).orderId).not.toBe('5');
});

test('after close, prints fill nothing', async () => {
  const { paper, send, print, within } = world();
  const ref = refOf(await send(intent({ price: '100' })));
  paper.close();
  print('SELL', 90, 9);
  expect(await within(300, paper.orders.query(ref))).toMatchObject({ value: { status: 'NEW' } });
});

test('where a book is shown a MARKET order walks it, and a resting one waits for its turn', async () => {
  const { send, show, print, balances } = world();
  show(99, 101, 2);
  expect((await send(intent({ amount: '101' }))).kind).toBe('accepted');
  expect(await balances()).toEqual(['Z 899+0', 'X 0.998+0']);
  show(99, 101, 2);
  await send(intent({ price: '99', lots: '1' }));
  print('SELL', 99, 2);
  expect(await balances()).toEqual(['Z 800+99', 'X 0.998+0']);
  print('SELL', 99, 1);
  expect(await balances()).toEqual(['Z 800+0', 'X 1.997+0']);
});

test('fees follow the symbol, and the volume of the days before', async () => {
  const none = { maker: rate('0'), taker: rate('0') };
  const own = world({ fees: { ...fees, bySymbol: { XZ: none } } });
  own.show(99, 100, 2);
  await own.send(intent({ amount: '100' }));
  expect(await own.balances()).toEqual(['Z 900+0', 'X 1+0']);
  const tiered = world({ fees: { ...fees, tiers: [{ volume: units('100'), ...none }] } });
  tiered.show(99, 100, 2);
  await tiered.send(intent({ amount: '100' }));
  expect(await tiered.balances()).toEqual(['Z 900+0', 'X 0.998+0']);
  await tiered.clock.advanceTo(tiered.clock.now() + 86_400_000);
  tiered.show(99, 100, 3);
  await tiered.send(intent({ amount: '100' }));
  expect(await tiered.balances()).toEqual(['Z 800+0', 'X 1.998+0']);
});
