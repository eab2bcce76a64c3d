/** Orders that nobody could attribute, and fills that are shown again with other numbers: neither is ever settled by a guess. */
import { describe, expect, test } from 'vitest';
import { btc } from '../../../test/kit/builders.ts';
import { TestDesk } from '../../../test/kit/desk.ts';
import type { VenueOrder } from '../../../test/kit/scripted-venue.ts';
import { lots, noUnits, ticks, unitsText } from '../../domain/money.ts';
import { DoubtfulOrders } from './unproven-owners.ts';

const texts = (desk: TestDesk): string => desk.notices.map(({ text }) => text).join('\n');
const halts = (desk: TestDesk): string[] => desk.assembled.execution.halts.inForce.map(({ cause }) => cause);
const expected = (desk: TestDesk, asset: string): string =>
  unitsText(desk.assembled.execution.books?.ledger.expected().get(asset) ?? noUnits);

async function ready(): Promise<TestDesk> {
  const desk = new TestDesk().listen();
  await desk.finish(desk.assembled.trader.recover());
  return desk;
}

/** An order whose answer was lost, that filled, and that the exchange does not know when it is asked for it. */
async function forgotten() {
  const desk = await ready();
  desk.venue.creates = ['acceptLost', 'accept'];
  const { order, carried } = desk.begin({ price: '100' });
  await desk.clock.settle();
  desk.venue.fill('1001', '0.4');
  const kept = desk.venue.order('1001');
  desk.venue.orders.delete('1001');
  await desk.finish(carried);
  return { desk, order, kept };
}

const comesBack = (desk: TestDesk, kept: VenueOrder): unknown => desk.venue.orders.set(kept.orderId, kept);

describe('an order that the exchange does not know for five minutes', () => {
  test('counts as somebody else’s, and what it may be is quarantined, never absent', async () => {
    const { desk, order } = await forgotten();
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    expect(texts(desk)).toContain('cannot be attributed');
    expect(desk.assembled.execution.foreign.has('1001')).toBe(true);
    await desk.pass(600_000);
    expect(order.state).toBe('quarantined');
  });

  test('is not given up sooner', async () => {
    const desk = await ready();
    desk.venue.creates = ['acceptLost'];
    const { order } = desk.begin({ price: '100' });
    await desk.clock.settle();
    desk.venue.fill('1001', '0.4');
    desk.venue.orders.delete('1001');
    await desk.pass(290_000);
    expect(order.state).toBe('unknown');
    expect(desk.assembled.execution.foreign.has('1001')).toBe(false);
  });

  test('is ours when it is known again: its fills are booked, once, and the ledger is right', async () => {
    const { desk, order, kept } = await forgotten();
    expect(await desk.fillRows()).toEqual([]);
    const before = [expected(desk, 'BTC'), expected(desk, 'USDT')];
    comesBack(desk, kept);
    await desk.pass(60_000);
    await desk.sweep();
    expect(order.state).toBe('open');
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect([expected(desk, 'BTC'), expected(desk, 'USDT')]).toEqual(before);
    expect(unitsText(desk.assembled.execution.books?.ledger.ownOf('BTC') ?? noUnits)).toBe('0.4');
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is known again after a restart, too', async () => {
    const { desk, order, kept } = await forgotten();
    await desk.written();
    desk.crash();
    desk.listen();
    comesBack(desk, kept);
    await desk.finish(desk.assembled.trader.recover());
    await desk.pass(60_000);
    await desk.sweep();
    expect(await desk.stateOf(order)).toBe('open');
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
    await desk.written();
    desk.crash();
    desk.listen();
    expect(desk.assembled.execution.foreign.has('1001')).toBe(false);
    await desk.finish(desk.assembled.trader.recover());
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is somebody else’s when that is what it turns out to be: what may have been it is absent then', async () => {
    const desk = await ready();
    desk.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.clock.settle();
    const human = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(human.orderId, '0.4');
    desk.venue.orders.delete(human.orderId);
    await desk.finish(carried);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    comesBack(desk, human);
    await desk.pass(180_000);
    expect(await desk.stateOf(order)).toBe('absent');
    expect(await desk.fillRows()).toEqual([]);
  });

  test('has fills that come later booked, also after a human closed the order', async () => {
    const desk = await ready();
    const order = await desk.placed();
    const kept = desk.venue.order('1001');
    desk.venue.orders.delete('1001');
    void desk.assembled.sweeps.watch('BTCUSDT');
    await desk.pass(320_000);
    expect(order.state).toBe('quarantined');
    const id = order.intent.clientOrderId;
    await desk.finish(desk.assembled.resolveByHand(id, 'canceled', 'operator', 'support says so'));
    comesBack(desk, kept);
    desk.venue.fill('1001', '0.3');
    await desk.pass(10_000);
    expect(await desk.fillRows()).toEqual(['1 1001 0.3']);
  });
});

test('an order that a human closed and that rests at the exchange is told of and cancelled, not one that a list shows late', async () => {
  const desk = await ready();
  const order = await desk.placed();
  const kept = desk.venue.order('1001');
  desk.venue.orders.delete('1001');
  void desk.assembled.sweeps.watch('BTCUSDT');
  await desk.pass(320_000);
  expect(order.state).toBe('quarantined');
  const said = desk.assembled.resolveByHand(order.intent.clientOrderId, 'canceled', 'operator', 'support says so');
  await desk.finish(said);
  comesBack(desk, kept);
  await desk.sweep();
  desk.venue.orders.delete('1001');
  await desk.pass(10_000);
  expect(desk.asked('cancel')).toBe(0);
  comesBack(desk, kept);
  await desk.pass(30_000);
  expect(kept.status).toBe('CANCELED');
  expect(desk.asked('cancel')).toBe(1);
  expect(texts(desk)).toContain('the exchange has it as open');
});

test('an order that a human closed without an id is open again when the exchange shows it', async () => {
  const desk = await ready();
  desk.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = desk.begin({ price: '100' });
  await desk.pass(5_000);
  const id = order.intent.clientOrderId;
  await desk.finish(desk.assembled.resolveByHand(id, 'quarantined', 'operator', 'let me look'));
  await desk.finish(carried);
  await desk.finish(desk.assembled.resolveByHand(id, 'filled', 'operator', 'I think so'));
  desk.venue.place({ clientOrderId: id });
  desk.venue.fill('1001', '0.5');
  await desk.sweep();
  await desk.pass(30_000);
  await desk.sweep();
  expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.5' });
  expect(texts(desk)).toContain('resolved it as filled');
});

test('an order that a human quarantined heals by proof, as any other', async () => {
  const desk = await ready();
  desk.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = desk.begin({ price: '100' });
  await desk.pass(5_000);
  const said = desk.assembled.resolveByHand(order.intent.clientOrderId, 'quarantined', 'operator', 'let me look');
  await desk.finish(said);
  await desk.finish(carried);
  expect(order.state).toBe('quarantined');
  await desk.pass(200_000);
  expect(await desk.stateOf(order)).toBe('absent');
});

describe('a booked fill that is shown with other numbers', () => {
  /** The exchange shows its first trade with another quantity from now on. */
  const change = (desk: TestDesk): void => {
    const [first] = desk.venue.trades;
    if (first !== undefined) desk.venue.trades[0] = { ...first, quantity: lots('0.3', btc), price: ticks('99', btc) };
  };

  test('quarantines its order, and the row stays', async () => {
    const desk = await ready();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    await desk.sweep();
    change(desk);
    for (let times = 0; times < 3; times++) await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'changed', filled: '0.4' });
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    const events = desk.db
      .prepare("SELECT detail FROM events WHERE client_order_id = ? AND event = 'quarantined'")
      .all(order.intent.clientOrderId) as { detail: string }[];
    expect(events).toHaveLength(1);
    expect(events[0]?.detail).toContain('0.3 at 99');
    const said = desk.assembled.resolveByHand(order.intent.clientOrderId, 'canceled', 'operator', 'bust');
    expect(await desk.finish(said)).toBeUndefined();
  });

  test('halts when its order is closed, and says it once', async () => {
    const desk = await ready();
    const order = await desk.placed();
    desk.venue.fill('1001');
    await desk.sweep();
    change(desk);
    for (let times = 0; times < 3; times++) await desk.sweep();
    expect(await desk.stateOf(order)).toBe('filled');
    expect(halts(desk)).toEqual(['changedFill']);
    expect((await desk.steps(order)).filter((step) => step === 'contradicted')).toHaveLength(1);
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('is noticed after a restart, too', async () => {
    const desk = await ready();
    await desk.placed();
    desk.venue.fill('1001');
    await desk.sweep();
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.sweep();
    change(desk);
    await desk.sweep();
    expect(halts(desk)).toEqual(['changedFill']);
  });
});

describe('asking for doubtful orders', () => {
  const row = (orderId: string) => ({ orderId, symbol: 'BTCUSDT', at: 0, why: 'forgotten' }) as const;

  test('takes turns, waits twice as long each time, and an hour at most', () => {
    const orders = new DoubtfulOrders([row('1'), row('2')]);
    expect(orders.due('BTCUSDT', 29_999)).toBeUndefined();
    expect([orders.due('BTCUSDT', 30_000), orders.due('BTCUSDT', 30_000), orders.due('BTCUSDT', 30_000)]).toEqual([
      '1',
      '2',
      undefined,
    ]);
    expect(orders.due('BTCUSDT', 89_999)).toBeUndefined();
    let now = 90_000;
    for (let times = 0; times < 20; times++) {
      while (orders.due('BTCUSDT', now) !== undefined);
      now += 3_600_000;
    }
    expect(orders.due('BTCUSDT', now)).toBe('1');
    expect(orders.due('BTCUSDT', now + 3_599_999)).toBe('2');
    expect(orders.due('ETHUSDT', now)).toBeUndefined();
  });

  test('gives the trades of one that is ours, once, and none of one that is not', () => {
    const orders = new DoubtfulOrders([row('1'), row('2')]);
    const side = { trade: { tradeId: '9' } as never, side: 'BUY' } as const;
    orders.keep('1', side);
    orders.keep('2', side);
    orders.keep('3', side);
    orders.settle('2', false);
    expect(orders.takeReclaimed()).toEqual([]);
    orders.settle('1', true);
    expect(orders.takeReclaimed()).toEqual([side]);
    expect(orders.takeReclaimed()).toEqual([]);
  });
});
