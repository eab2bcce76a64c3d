/** Entries that expire, on a live rig: through partial fills, lost answers and a crash. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, startTime, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { type Decision, decisionOf, mainRole } from '../domain/order.ts';

const minute = 60_000;

/** A rig on which `s` says every minute, or once, that it wants two BTC at 99, for five minutes from the first time on. */
async function waiting() {
  const rig = new TestRig();
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(20_000);
  const say = (to: Subject<Decision> = signals): void =>
    to.next(
      decisionOf({
        ...{ strategy: 's', role: mainRole, symbol: btc.symbol, at: rig.clock.now() },
        signal: target(2, { limit: 99, expiresAfterMs: 5 * minute, stop: 90 }),
      }),
    );
  say();
  await rig.pass(1_000);
  const open = (): string[] =>
    [...rig.venue.orders.values()]
      .filter(({ status }) => status === 'NEW' || status === 'PARTIALLY_FILLED')
      .map(({ orderId }) => orderId);
  expect(open()).toHaveLength(1);
  return { rig, say, open, held: () => rig.assembled.portfolio.holding('s', btc.symbol).quantity };
}

test('what rests is cancelled without another word of the strategy, and not ordered again', async () => {
  const { rig, say, open } = await waiting();
  await rig.seconds(4.9 * 60);
  expect(open()).toHaveLength(1);
  await rig.seconds(10);
  expect(open()).toEqual([]);
  say();
  await rig.seconds(60);
  expect(rig.venue.orders.size).toBe(1);
});

test('what filled of it stays, under its stop', async () => {
  const { rig, say, open, held } = await waiting();
  const [id = ''] = open();
  rig.venue.fill(id, '0.5', '99');
  await rig.seconds(5 * 60 + 10);
  expect(open()).toEqual([]);
  expect(held()).toBe(0.5);
  say();
  await rig.seconds(60);
  expect(rig.venue.orders.size).toBe(1);
  expect(rig.assembled.protection.stops(btc.symbol)).toHaveLength(1);
});

test('the time goes on over a crash', async () => {
  const { rig, say, open } = await waiting();
  await rig.seconds(180);
  say();
  await rig.written();
  rig.crash();
  await rig.pass(60_000);
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(10_000);
  say(signals);
  await rig.seconds(30);
  expect(open()).toHaveLength(1);
  await rig.seconds(30);
  expect(open()).toEqual([]);
});

test('an order that expired while the program was down is cancelled at its start, and one that was lost is not sent again', async () => {
  const { rig, say, open } = await waiting();
  await rig.written();
  rig.crash();
  await rig.pass(6 * minute);
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(10_000);
  say(signals);
  await rig.seconds(10);
  expect(open()).toEqual([]);
  expect(rig.venue.orders.size).toBe(1);
  expect(rig.clock.now()).toBeGreaterThan(startTime + 6 * minute);
});

test('an order whose outcome is unknown at its time is cancelled once it is found', async () => {
  const rig = new TestRig();
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(20_000);
  rig.venue.creates = ['acceptLost'];
  rig.venue.failing.add('openOrders').add('query').add('queryByClientId');
  signals.next(
    decisionOf({
      ...{ strategy: 's', role: mainRole, symbol: btc.symbol, at: rig.clock.now() },
      signal: target(2, { limit: 99, expiresAfterMs: 30_000 }),
    }),
  );
  await rig.seconds(60);
  const statuses = (): string[] => [...rig.venue.orders.values()].map(({ status }) => status);
  expect(statuses()).toEqual(['NEW']);
  rig.venue.failing.clear();
  await rig.seconds(120);
  expect(statuses()).toEqual(['CANCELED']);
});
