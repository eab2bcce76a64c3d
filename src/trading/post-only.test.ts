/** Limits that shall not take, on a live rig: by the book that the program has seen, and over a crash. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { priceText } from '../domain/money.ts';
import { type Decision, decisionOf, mainRole } from '../domain/order.ts';

/** A rig that has seen a book, and a strategy that says it wants one BTC at a limit that shall not take. */
async function seeing(bid: number, ask: number) {
  const rig = new TestRig();
  const see = (): void => {
    const time = rig.clock.now();
    rig.assembled.risk.seeBook({ symbol: btc.symbol, time, seenAt: time, bids: [[bid, 1]], asks: [[ask, 1]] }, time);
  };
  const start = async () => {
    const signals = new Subject<Decision>();
    rig.start(signals);
    await rig.pass(20_000);
    return async (limit: number): Promise<void> => {
      const signal = target(1, { limit, postOnly: true, stop: 80 });
      signals.next(decisionOf({ strategy: 's', role: mainRole, symbol: btc.symbol, at: rig.clock.now(), signal }));
      await rig.seconds(3);
    };
  };
  const prices = (): string[] =>
    [...rig.venue.orders.values()].map(
      ({ intent: { price = 0n as never }, status }) => `${priceText(price, btc)} ${status}`,
    );
  const say = await start();
  see();
  return { rig, say, start, see, prices };
}

test('an order rests below the best ask, and another limit moves it', async () => {
  const { say, prices } = await seeing(100.4, 100.5);
  await say(101);
  await say(101);
  expect(prices()).toEqual(['100.49 NEW']);
  await say(100.45);
  expect(prices()).toEqual(['100.49 CANCELED', '100.45 NEW']);
});

test('after a crash its order is the one that was asked for, though the book has gone', async () => {
  const { rig, say, start, prices } = await seeing(100.4, 100.5);
  await say(101);
  await rig.written();
  rig.crash();
  await (await start())(101);
  expect(prices()).toEqual(['100.49 NEW']);
});
