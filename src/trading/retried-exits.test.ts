/** Exits of a strategy that met an obstacle: each is planned again when that has ended, not at the next kline. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, target } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import type { Decision } from '../domain/order.ts';

/** Holds 2 BTC. */
async function holding() {
  const rig = new TestRig({ limits: { maxDataAgeMs: 10_000 } });
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(timing.sweepGapMs + 1_000);
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      rig.price(100);
      await rig.seconds(1);
    }
  };
  const signal = async (quantity: number): Promise<void> => {
    signals.next(decision(target(quantity)));
    await seconds(3);
  };
  rig.price(100);
  await signal(2);
  const held = (): number => rig.assembled.portfolio.holding('s', btc.symbol).quantity;
  expect(held()).toBe(2);
  return { rig, signals, held, seconds, signal };
}

test.each([
  ['flat', 0],
  ['a smaller target', 1],
])('%s that a ban denies is sent when the ban ends', async (_, quantity) => {
  const { rig, held, seconds, signal } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await signal(quantity);
  await seconds(60);
  expect(held()).toBe(2);
  await rig.written();
  expect(rig.db.prepare('SELECT count(*) FROM denials').pluck().get()).toBe(1);
  rig.blocked = undefined;
  await seconds(4);
  expect(held()).toBe(quantity);
});

test('an exit that a HALT denies is sent when that is lifted', async () => {
  const { rig, held, seconds, signal } = await holding();
  rig.assembled.execution.halts.halt('ledger', 'a test');
  await signal(0);
  await seconds(10);
  expect(held()).toBe(2);
  await rig.finish(rig.assembled.resume(undefined, 'operator', 'a test'));
  await seconds(4);
  expect(held()).toBe(0);
});

test('an exit that is denied for lack of new prices is sent when they come again', async () => {
  const { rig, signals, held, seconds } = await holding();
  await rig.seconds(120);
  signals.next(decision(target(0)));
  await rig.seconds(10);
  expect(held()).toBe(2);
  await seconds(4);
  expect(held()).toBe(0);
});

test.each(['notSent', 'dropLost'] as const)('an exit that ends as %s is sent again', async (fate) => {
  const { rig, held, seconds, signal } = await holding();
  rig.venue.creates = [fate, 'accept'];
  await signal(0);
  await seconds(120);
  expect(held()).toBe(0);
});

test('an entry that a ban denies is left to the next signal', async () => {
  const { rig, held, seconds, signal } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await signal(3);
  rig.blocked = undefined;
  await seconds(10);
  expect(held()).toBe(2);
});

test('an exit that waits for the end of a ban is forgotten when the strategy signals otherwise', async () => {
  const { rig, held, seconds, signal } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await signal(0);
  await signal(2);
  rig.blocked = undefined;
  await seconds(10);
  expect(held()).toBe(2);
});

test('a larger target forgets an exit that waits for the end of a ban', async () => {
  const { rig, held, seconds, signal } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await signal(0);
  await signal(3);
  rig.blocked = undefined;
  await seconds(10);
  expect(held()).toBe(2);
});

test('an exit that is never sent is tried less and less often, and reported once', async () => {
  const { rig, seconds, signal } = await holding();
  const orders = rig.db.prepare('SELECT count(*) FROM orders').pluck();
  const before = orders.get() as number;
  rig.venue.creates = ['notSent'];
  await signal(0);
  await seconds(600);
  await rig.written();
  const tries = (orders.get() as number) - before;
  expect(tries).toBeGreaterThan(50);
  expect(tries).toBeLessThan(80);
  expect(rig.notices.map(({ text }) => text).filter((text) => text.includes('could not be sent'))).toHaveLength(1);
});
