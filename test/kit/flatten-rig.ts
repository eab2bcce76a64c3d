/** A rig whose strategy holds a position that somebody flattens. */
import { Subject } from 'rxjs';
import { expect } from 'vitest';
import { rate, unitsText } from '../../src/domain/money.ts';
import type { Decision, Signal } from '../../src/domain/order.ts';
import type { Kill } from '../../src/risk/kill.ts';
import type { FlattenAsked } from '../../src/trading/flatten.ts';
import { decision, kill, target } from './builders.ts';
import { TestRig, timing } from './test-rig.ts';

const asked: FlattenAsked = {
  ...{ strategy: 's', symbol: undefined, maxSlippage: rate('0.01'), by: 'operator', reason: 'news' },
};

/** A rig that trades, and holds 1 BTC of s. */
export async function holding(options: ConstructorParameters<typeof TestRig>[0] = {}) {
  const rig = new TestRig(options);
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(timing.sweepGapMs + 1_000);
  const send = (signal: Signal): void => signals.next(decision(signal));
  const book = (bid: number, quantity = 5): void =>
    rig.assembled.risk.seeBook(
      {
        symbol: 'BTCUSDT',
        time: rig.clock.now(),
        seenAt: rig.clock.now(),
        bids: [[bid, quantity]],
        asks: [[bid + 0.2, quantity]],
      },
      rig.clock.now(),
    );
  send(target(1));
  await rig.seconds(8);
  const orders = () =>
    [...rig.venue.orders.values()].map(
      ({ intent: { side, type }, status, executed }) => `${side} ${type} ${status} ${Number(executed) / 1e5}`,
    );
  const held = (): string => unitsText(rig.assembled.portfolio.position('s', 'BTCUSDT').base);
  expect(held()).toBe('1');
  const begin = (given: Partial<FlattenAsked> = {}, pauses: readonly Kill[] = []): Promise<readonly string[]> =>
    Promise.all(rig.assembled.flatten({ ...asked, ...given }, pauses));
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) await rig.seconds(1);
  };
  /** What it came to, after at most so many seconds; undefined where it goes on. */
  const textsIn = async (count: number, work: Promise<readonly string[]>): Promise<readonly string[] | undefined> => {
    let texts: readonly string[] | undefined;
    void work.then((done) => {
      texts = done;
    });
    await seconds(count);
    return texts;
  };
  const restart = async (): Promise<void> => {
    rig.crash();
    rig.start(new Subject<Decision>());
    for (let second = 0; second < 12; second += 4) {
      book(99.9);
      await rig.seconds(4);
    }
  };
  const pause = (): void => void rig.assembled.kill(kill({ kind: 'pause', strategy: 's' }));
  return { rig, send, book, orders, held, begin, textsIn, pause, restart };
}
