/** Orders that nobody could attribute, and fills that are shown again with other numbers: neither is ever settled by a guess. */
import { describe, expect, test } from 'vitest';
import { btc } from '../../../test/kit/builders.ts';
import type { VenueOrder } from '../../../test/kit/scripted-venue.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { lots, noUnits, ticks, unitsText } from '../../domain/money.ts';
import { DoubtfulOrders } from './unproven-owners.ts';

const texts = (rig: TestRig): string => rig.notices.map(({ text }) => text).join('\n');
const halts = (rig: TestRig): string[] => rig.assembled.execution.halts.inForce.map(({ cause }) => cause);
const expected = (rig: TestRig, asset: string): string =>
  unitsText(rig.assembled.execution.books?.ledger.expected().get(asset) ?? noUnits);

async function ready(): Promise<TestRig> {
  const rig = new TestRig().listen();
  await rig.finish(rig.assembled.trader.recover());
  return rig;
}

/** An order whose answer was lost, that filled, and that the exchange does not know when it is asked for it. */
async function forgotten() {
  const rig = await ready();
  rig.venue.creates = ['acceptLost', 'accept'];
  const { order, carried } = rig.begin({ price: '100' });
  await rig.clock.settle();
  rig.venue.fill('1001', '0.4');
  const kept = rig.venue.order('1001');
  rig.venue.orders.delete('1001');
  await rig.finish(carried);
  return { rig, order, kept };
}

const comesBack = (rig: TestRig, kept: VenueOrder): unknown => rig.venue.orders.set(kept.orderId, kept);

describe('an order that the exchange does not know for five minutes', () => {
  test('counts as somebody else’s, and what it may be is quarantined, never absent', async () => {
    const { rig, order } = await forgotten();
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    expect(texts(rig)).toContain('cannot be attributed');
    expect(rig.assembled.execution.foreign.has('1001')).toBe(true);
    await rig.pass(600_000);
    expect(order.state).toBe('quarantined');
  });

  test('is not given up sooner', async () => {
    const rig = await ready();
    rig.venue.creates = ['acceptLost'];
    const { order } = rig.begin({ price: '100' });
    await rig.clock.settle();
    rig.venue.fill('1001', '0.4');
    rig.venue.orders.delete('1001');
    await rig.pass(290_000);
    expect(order.state).toBe('unknown');
    expect(rig.assembled.execution.foreign.has('1001')).toBe(false);
  });

  test('is ours when it is known again: its fills are booked, once, and the ledger is right', async () => {
    const { rig, order, kept } = await forgotten();
    expect(await rig.fillRows()).toEqual([]);
    const before = [expected(rig, 'BTC'), expected(rig, 'USDT')];
    comesBack(rig, kept);
    await rig.pass(60_000);
    await rig.sweep();
    expect(order.state).toBe('open');
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect([expected(rig, 'BTC'), expected(rig, 'USDT')]).toEqual(before);
    expect(unitsText(rig.assembled.execution.books?.ledger.ownOf('BTC') ?? noUnits)).toBe('0.4');
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is known again after a restart, too', async () => {
    const { rig, order, kept } = await forgotten();
    await rig.written();
    rig.crash();
    rig.listen();
    comesBack(rig, kept);
    await rig.finish(rig.assembled.trader.recover());
    await rig.pass(60_000);
    await rig.sweep();
    expect(await rig.stateOf(order)).toBe('open');
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
    await rig.written();
    rig.crash();
    rig.listen();
    expect(rig.assembled.execution.foreign.has('1001')).toBe(false);
    await rig.finish(rig.assembled.trader.recover());
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is somebody else’s when that is what it turns out to be: what may have been it is absent then', async () => {
    const rig = await ready();
    rig.venue.creates = ['dropLost', 'accept'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.clock.settle();
    const human = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(human.orderId, '0.4');
    rig.venue.orders.delete(human.orderId);
    await rig.finish(carried);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    comesBack(rig, human);
    await rig.pass(180_000);
    expect(await rig.stateOf(order)).toBe('absent');
    expect(await rig.fillRows()).toEqual([]);
  });

  test('has fills that come later booked, also after a human closed the order', async () => {
    const rig = await ready();
    const order = await rig.placed();
    const kept = rig.venue.order('1001');
    rig.venue.orders.delete('1001');
    void rig.assembled.sweeps.watch('BTCUSDT');
    await rig.pass(320_000);
    expect(order.state).toBe('quarantined');
    const id = order.intent.clientOrderId;
    await rig.finish(rig.assembled.resolveByHand(id, 'canceled', 'operator', 'support says so'));
    comesBack(rig, kept);
    rig.venue.fill('1001', '0.3');
    await rig.pass(10_000);
    expect(await rig.fillRows()).toEqual(['1 1001 0.3']);
  });
});

test('an order that a human closed and that rests at the exchange is reported and cancelled, not one that a list shows late', async () => {
  const rig = await ready();
  const order = await rig.placed();
  const kept = rig.venue.order('1001');
  rig.venue.orders.delete('1001');
  void rig.assembled.sweeps.watch('BTCUSDT');
  await rig.pass(320_000);
  expect(order.state).toBe('quarantined');
  const said = rig.assembled.resolveByHand(order.intent.clientOrderId, 'canceled', 'operator', 'support says so');
  await rig.finish(said);
  comesBack(rig, kept);
  await rig.sweep();
  rig.venue.orders.delete('1001');
  await rig.pass(10_000);
  expect(rig.asked('cancel')).toBe(0);
  comesBack(rig, kept);
  await rig.pass(30_000);
  expect(kept.status).toBe('CANCELED');
  expect(rig.asked('cancel')).toBe(1);
  expect(texts(rig)).toContain('the exchange has it as open');
});

test('an order that a human closed without an id is open again when the exchange shows it', async () => {
  const rig = await ready();
  rig.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = rig.begin({ price: '100' });
  await rig.pass(5_000);
  const id = order.intent.clientOrderId;
  await rig.finish(rig.assembled.resolveByHand(id, 'quarantined', 'operator', 'checking'));
  await rig.finish(carried);
  await rig.finish(rig.assembled.resolveByHand(id, 'filled', 'operator', 'I think so'));
  rig.venue.place({ clientOrderId: id });
  rig.venue.fill('1001', '0.5');
  await rig.sweep();
  await rig.pass(30_000);
  await rig.sweep();
  expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.5' });
  expect(texts(rig)).toContain('resolved it as filled');
});

test('an order that a human quarantined heals by proof, as any other', async () => {
  const rig = await ready();
  rig.venue.creates = ['dropLost', 'accept'];
  const { order, carried } = rig.begin({ price: '100' });
  await rig.pass(5_000);
  const said = rig.assembled.resolveByHand(order.intent.clientOrderId, 'quarantined', 'operator', 'checking');
  await rig.finish(said);
  await rig.finish(carried);
  expect(order.state).toBe('quarantined');
  await rig.pass(200_000);
  expect(await rig.stateOf(order)).toBe('absent');
});

describe('a booked fill that is shown with other numbers', () => {
  /** The exchange shows its first trade with another quantity from now on. */
  const change = (rig: TestRig): void => {
    const [first] = rig.venue.trades;
    if (first !== undefined) rig.venue.trades[0] = { ...first, quantity: lots('0.3', btc), price: ticks('99', btc) };
  };

  test('quarantines its order, and the row stays', async () => {
    const rig = await ready();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    await rig.sweep();
    change(rig);
    for (let times = 0; times < 3; times++) await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'changed', filled: '0.4' });
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    const events = rig.db
      .prepare("SELECT detail FROM events WHERE client_order_id = ? AND event = 'quarantined'")
      .all(order.intent.clientOrderId) as { detail: string }[];
    expect(events).toHaveLength(1);
    expect(events[0]?.detail).toContain('0.3 at 99');
    const said = rig.assembled.resolveByHand(order.intent.clientOrderId, 'canceled', 'operator', 'bust');
    expect(await rig.finish(said)).toBeUndefined();
  });

  test('halts when its order is closed, and says it once', async () => {
    const rig = await ready();
    const order = await rig.placed();
    rig.venue.fill('1001');
    await rig.sweep();
    change(rig);
    for (let times = 0; times < 3; times++) await rig.sweep();
    expect(await rig.stateOf(order)).toBe('filled');
    expect(halts(rig)).toEqual(['changedFill']);
    expect((await rig.steps(order)).filter((step) => step === 'contradicted')).toHaveLength(1);
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('is noticed after a restart, too', async () => {
    const rig = await ready();
    await rig.placed();
    rig.venue.fill('1001');
    await rig.sweep();
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.sweep();
    change(rig);
    await rig.sweep();
    expect(halts(rig)).toEqual(['changedFill']);
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
