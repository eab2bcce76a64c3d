import { describe, expect, test } from 'vitest';
import { btc, kill, startTime } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { quantityText, unitsText } from '../domain/money.ts';

const free = (rig: TestRig): string => unitsText(rig.assembled.portfolio.freeQuote('s', 'BTCUSDT'));

describe('an order', () => {
  test('is on disk before a byte of it leaves', async () => {
    const rig = new TestRig().listen();
    const { carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    const first = rig.log.findIndex((line) => line.startsWith('create '));
    expect(rig.log.slice(0, first)).toEqual(['committed approved', 'committed sending']);
  });

  test('has in its journalled row all that finds it again', async () => {
    const rig = new TestRig().listen();
    rig.venue.onCreate = ({ clientOrderId }) => {
      const row = rig.db.prepare('SELECT * FROM orders WHERE client_order_id = ?').get(clientOrderId);
      expect(row).toMatchObject({
        state: 'sending',
        order_id: null,
        quantity: '1',
        price: '100',
        signed_at: startTime,
        recv_window_ms: 2_000,
        body_hash: `hash of ${clientOrderId}`,
        closed_at: null,
      });
    };
    const { carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('accepted');
    expect(rig.asked('create')).toBe(1);
  });

  test('that is accepted rests, bound to the id that the exchange gave it', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    expect(order.state).toBe('open');
    expect(await rig.row(order)).toMatchObject({ state: 'open', orderId: '1001', closedAt: null });
    expect(await rig.steps(order)).toEqual(['approved', 'sending', 'accepted']);
    expect(free(rig)).toBe('999900');
  });

  test('that is rejected is closed, and its reservation ends', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['reject'];
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('rejected');
    expect(await rig.stateOf(order)).toBe('rejected');
    expect(await rig.steps(order)).toEqual(['approved', 'sending', 'rejected', 'closed']);
    expect(free(rig)).toBe('1000000');
  });

  test('of which no byte left is closed as not sent', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['notSent'];
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(await rig.stateOf(order)).toBe('notSent');
    expect(free(rig)).toBe('1000000');
  });

  test('whose answer is lost is unknown, keeps its reservation, and is never sent again', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['dropLost'];
    const { order } = rig.begin({ price: '100' });
    await rig.pass(30_000);
    expect(await rig.stateOf(order)).toBe('unknown');
    expect(free(rig)).toBe('999900');
    await rig.pass(600_000);
    expect(rig.asked('create')).toBe(1);
    expect(free(rig)).toBe('999900');
  });

  test('that gets no request weight until it expires is not sent', async () => {
    const rig = new TestRig().listen();
    rig.venue.admits = false;
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(await rig.stateOf(order)).toBe('notSent');
    expect(await rig.steps(order)).toEqual(['approved', 'notSent', 'closed']);
  });

  test('whose weight another process takes while it is written is not sent, and known as not sent', async () => {
    const rig = new TestRig().listen();
    rig.venue.isRoom = true;
    rig.venue.admits = false;
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(await rig.stateOf(order)).toBe('notSent');
    expect(await rig.steps(order)).toEqual(['approved', 'sending', 'notSent', 'closed']);
    expect(free(rig)).toBe('1000000');
  });

  test('is sent where there is room, although the millisecond ends while its weight is asked for', async () => {
    const rig = new TestRig().listen();
    rig.venue.isRoom = true;
    rig.assembled.execution.orders.admit = (until) => Promise.resolve(until >= rig.clock.now() + 1);
    const { carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('accepted');
  });

  test.each([true, false])(
    'is on disk and has its weight before a byte of it leaves, room foreseen: %s',
    async (isRoom) => {
      const rig = new TestRig().listen();
      rig.venue.isRoom = isRoom;
      let [written, weighed] = [false, false];
      rig.onCommit = (event) => {
        if (event === 'sending') written = true;
      };
      const { orders } = rig.assembled.execution;
      const before = { ...orders };
      orders.admit = async (until) => {
        // Where there is room the disk does not wait for the weight.
        expect(rig.log.includes('committed approved') || !isRoom).toBe(true);
        weighed = await before.admit(until);
        return weighed;
      };
      rig.venue.onCreate = () => expect([written, weighed]).toEqual([true, true]);
      const { carried } = rig.begin({ price: '100' });
      expect(await rig.finish(carried)).toBe('accepted');
      expect(rig.asked('create')).toBe(1);
    },
  );

  test('that cannot be journalled because the disk is full is not sent', async () => {
    const rig = new TestRig().listen();
    rig.diskFull = true;
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(free(rig)).toBe('1000000');
    rig.diskFull = false;
    await rig.pass(2_000);
    expect(await rig.stateOf(order)).toBe('notSent');
  });

  test('is not even prepared while the disk is known to be full', async () => {
    const rig = new TestRig().listen();
    rig.diskFull = true;
    await rig.finish(rig.begin({ price: '100' }).carried);
    const { order, carried } = rig.begin({ price: '99' });
    await rig.finish(carried);
    expect(order.signedAt).toBeUndefined();
    expect(rig.asked('create')).toBe(0);
  });

  test.each(['while it waits for weight', 'while it is journalled'])(
    'is not sent when a kill comes %s',
    async (when) => {
      const rig = new TestRig().listen();
      const comes = (): void => rig.assembled.risk.switch.kill(kill());
      const { carried } = rig.begin({ price: '100' });
      if (when === 'while it waits for weight') comes();
      rig.onCommit = (event) => {
        if (event === 'sending') comes();
      };
      expect(await rig.finish(carried)).toBe('notSent');
      expect(rig.asked('create')).toBe(0);
    },
  );

  test('that waited past its time is not sent', async () => {
    const rig = new TestRig({ maxSendDelayMs: 1_000 }).listen();
    const { order, carried } = rig.begin({ price: '100' });
    rig.clock.skipTo(startTime + 1_001);
    expect(await rig.finish(carried)).toBe('notSent');
    expect(rig.asked('create')).toBe(0);
    expect(await rig.stateOf(order)).toBe('notSent');
  });

  test('that a sweep found before its answer came is bound once', async () => {
    const rig = new TestRig().listen();
    rig.venue.latencyMs = 500;
    const { order, carried } = rig.begin({ price: '100' });
    await rig.pass(1);
    rig.venue.latencyMs = 10;
    await rig.sweep();
    expect(order.state).toBe('open');
    rig.venue.fill('1001');
    await rig.sweep();
    expect(order.state).toBe('filled');
    expect(await rig.finish(carried)).toBe('accepted');
    expect(await rig.stateOf(order)).toBe('filled');
    expect((await rig.row(order)).closedAt).not.toBeNull();
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test.each(['reject', 'notSent'] as const)(
    'that the exchange shows is kept although its answer says %s: evidence stands before answers',
    async (fate) => {
      const rig = new TestRig().listen();
      rig.venue.latencyMs = 500;
      rig.venue.creates = [fate];
      rig.venue.onCreate = ({ clientOrderId }) => rig.venue.place({ clientOrderId });
      const { order, carried } = rig.begin({ price: '100' });
      await rig.pass(1);
      rig.venue.latencyMs = 10;
      await rig.sweep();
      expect(order.state).toBe('open');
      expect(await rig.finish(carried)).toBe('accepted');
      expect(await rig.stateOf(order)).toBe('open');
      expect(rig.notices.map(({ text }) => text).join()).toContain('although its answer was');
    },
  );

  test('whose unknown outcome turns out well counts as placed', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['acceptLost'];
    const { order, carried } = rig.begin({ price: '100' });
    expect(await rig.finish(carried)).toBe('accepted');
    expect(await rig.steps(order)).toEqual(['approved', 'sending', 'unknown', 'found']);
    expect(quantityText(order.filled, btc)).toBe('0');
  });
});
