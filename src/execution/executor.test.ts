import { describe, expect, test } from 'vitest';
import { btc, startTime } from '../../test/kit/builders.ts';
import { TestDesk } from '../../test/kit/desk.ts';
import { quantityText, unitsText } from '../domain/money.ts';

const free = (desk: TestDesk): string => unitsText(desk.assembled.portfolio.freeQuote('s', 'BTCUSDT'));

describe('an order', () => {
  test('is on disk before a byte of it leaves', async () => {
    const desk = new TestDesk().listen();
    const { carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    const first = desk.log.findIndex((line) => line.startsWith('create '));
    expect(desk.log.slice(0, first)).toEqual(['committed approved', 'committed sending']);
  });

  test('has in its journalled row all that finds it again', async () => {
    const desk = new TestDesk().listen();
    desk.venue.onCreate = ({ clientOrderId }) => {
      const row = desk.db.prepare('SELECT * FROM orders WHERE client_order_id = ?').get(clientOrderId);
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
    const { carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('placed');
    expect(desk.asked('create')).toBe(1);
  });

  test('that is accepted rests, bound to the id that the exchange gave it', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    expect(order.state).toBe('open');
    expect(await desk.row(order)).toMatchObject({ state: 'open', orderId: '1001', closedAt: null });
    expect(await desk.steps(order)).toEqual(['approved', 'sending', 'accepted']);
    expect(free(desk)).toBe('999900');
  });

  test('that is rejected is closed, and its reservation ends', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['reject'];
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(await desk.stateOf(order)).toBe('rejected');
    expect(await desk.steps(order)).toEqual(['approved', 'sending', 'rejected', 'closed']);
    expect(free(desk)).toBe('1000000');
  });

  test('of which no byte left is closed as not sent', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['notSent'];
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(await desk.stateOf(order)).toBe('notSent');
    expect(free(desk)).toBe('1000000');
  });

  test('whose answer is lost is unknown, keeps its reservation, and is never sent again', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['dropLost'];
    const { order } = desk.begin({ price: '100' });
    await desk.pass(30_000);
    expect(await desk.stateOf(order)).toBe('unknown');
    expect(free(desk)).toBe('999900');
    await desk.pass(600_000);
    expect(desk.asked('create')).toBe(1);
    expect(free(desk)).toBe('999900');
  });

  test('that gets no request weight until it expires is not sent', async () => {
    const desk = new TestDesk().listen();
    desk.venue.admits = false;
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.asked('create')).toBe(0);
    expect(await desk.stateOf(order)).toBe('notSent');
    expect(await desk.steps(order)).toEqual(['approved', 'notSent', 'closed']);
  });

  test('whose weight another process takes while it is written is not sent, and known as not sent', async () => {
    const desk = new TestDesk().listen();
    desk.venue.isRoom = true;
    desk.venue.admits = false;
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.asked('create')).toBe(0);
    expect(await desk.stateOf(order)).toBe('notSent');
    expect(await desk.steps(order)).toEqual(['approved', 'sending', 'notSent', 'closed']);
    expect(free(desk)).toBe('1000000');
  });

  test('is sent where there is room, although the millisecond ends while its weight is asked for', async () => {
    const desk = new TestDesk().listen();
    desk.venue.isRoom = true;
    desk.assembled.execution.orders.admit = (until) => Promise.resolve(until >= desk.clock.now() + 1);
    const { carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('placed');
  });

  test.each([true, false])(
    'is on disk and has its weight before a byte of it leaves, room foreseen: %s',
    async (isRoom) => {
      const desk = new TestDesk().listen();
      desk.venue.isRoom = isRoom;
      let [written, weighed] = [false, false];
      desk.onCommit = (event) => {
        if (event === 'sending') written = true;
      };
      const { orders } = desk.assembled.execution;
      const before = { ...orders };
      orders.admit = async (until) => {
        // Where there is room the disk does not wait for the weight.
        expect(desk.log.includes('committed approved') || !isRoom).toBe(true);
        weighed = await before.admit(until);
        return weighed;
      };
      desk.venue.onCreate = () => expect([written, weighed]).toEqual([true, true]);
      const { carried } = desk.begin({ price: '100' });
      expect(await desk.finish(carried)).toBe('placed');
      expect(desk.asked('create')).toBe(1);
    },
  );

  test('that cannot be journalled because the disk is full is not sent', async () => {
    const desk = new TestDesk().listen();
    desk.diskFull = true;
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.asked('create')).toBe(0);
    expect(free(desk)).toBe('1000000');
    desk.diskFull = false;
    await desk.pass(2_000);
    expect(await desk.stateOf(order)).toBe('notSent');
  });

  test('is not even prepared while the disk is known to be full', async () => {
    const desk = new TestDesk().listen();
    desk.diskFull = true;
    await desk.finish(desk.begin({ price: '100' }).carried);
    const { order, carried } = desk.begin({ price: '99' });
    await desk.finish(carried);
    expect(order.signedAt).toBeUndefined();
    expect(desk.asked('create')).toBe(0);
  });

  test.each(['while it waits for weight', 'while it is journalled'])(
    'is not sent when a kill comes %s',
    async (when) => {
      const desk = new TestDesk().listen();
      const kill = (): void =>
        desk.assembled.risk.switch.kill({ at: 0, strategy: undefined, by: 'operator', reason: 'enough' });
      const { carried } = desk.begin({ price: '100' });
      if (when === 'while it waits for weight') kill();
      desk.onCommit = (event) => {
        if (event === 'sending') kill();
      };
      expect(await desk.finish(carried)).toBe('refused');
      expect(desk.asked('create')).toBe(0);
    },
  );

  test('that waited past its time is not sent', async () => {
    const desk = new TestDesk({ orderLifeMs: 1_000 }).listen();
    const { order, carried } = desk.begin({ price: '100' });
    desk.clock.skipTo(startTime + 1_001);
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.asked('create')).toBe(0);
    expect(await desk.stateOf(order)).toBe('notSent');
  });

  test('that a sweep found before its answer came is bound once', async () => {
    const desk = new TestDesk().listen();
    desk.venue.latencyMs = 500;
    const { order, carried } = desk.begin({ price: '100' });
    await desk.pass(1);
    desk.venue.latencyMs = 10;
    await desk.sweep();
    expect(order.state).toBe('open');
    desk.venue.fill('1001');
    await desk.sweep();
    expect(order.state).toBe('filled');
    expect(await desk.finish(carried)).toBe('placed');
    expect(await desk.stateOf(order)).toBe('filled');
    expect((await desk.row(order)).closedAt).not.toBeNull();
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test.each(['reject', 'notSent'] as const)(
    'that the exchange shows is kept although its answer says %s: evidence stands before answers',
    async (fate) => {
      const desk = new TestDesk().listen();
      desk.venue.latencyMs = 500;
      desk.venue.creates = [fate];
      desk.venue.onCreate = ({ clientOrderId }) => desk.venue.place({ clientOrderId });
      const { order, carried } = desk.begin({ price: '100' });
      await desk.pass(1);
      desk.venue.latencyMs = 10;
      await desk.sweep();
      expect(order.state).toBe('open');
      expect(await desk.finish(carried)).toBe('placed');
      expect(await desk.stateOf(order)).toBe('open');
      expect(desk.notices.map(({ text }) => text).join()).toContain('although its answer was');
    },
  );

  test('whose unknown outcome turns out well counts as placed', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['acceptLost'];
    const { order, carried } = desk.begin({ price: '100' });
    expect(await desk.finish(carried)).toBe('placed');
    expect(await desk.steps(order)).toEqual(['approved', 'sending', 'unknown', 'found']);
    expect(quantityText(order.filled, btc)).toBe('0');
  });
});
