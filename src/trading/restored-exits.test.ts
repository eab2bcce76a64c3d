/** Every kind of stop is in force again after a crash, at the price that it had, before anything else happens. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { Decision } from '../domain/order.ts';
import type { TargetOptions } from '../domain/target-options.ts';

interface Crashing {
  readonly rig: TestRig;
  readonly say: (quantity: number, options: TargetOptions) => void;
  readonly stops: () => readonly number[];
  /** Prices as a session hears them. */
  readonly see: (...prices: readonly number[]) => void;
  readonly crash: () => Promise<void>;
}

async function begin(): Promise<Crashing> {
  const rig = new TestRig();
  let signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(10_000);
  return {
    rig,
    say: (quantity, options) => signals.next(decision(target(quantity, options))),
    stops: () => rig.assembled.protection.stops(btc.symbol).map(({ price }) => Number(price) / 100),
    see(...prices) {
      for (const price of prices) {
        rig.price(price);
        rig.assembled.protection.trail(btc.symbol, price);
      }
    },
    async crash() {
      await rig.written();
      rig.crash();
      signals = new Subject<Decision>();
      rig.start(signals);
    },
  };
}

const kinds: readonly (readonly [name: string, options: TargetOptions, stop: number])[] = [
  ['a price', { stop: 95 }, 95],
  ['a fraction of the entry', { stop: { fromEntry: 0.04 } }, 96],
  ['a distance', { stop: { distance: 3 } }, 97],
  ['a distance that moves', { stop: { distance: 3, moving: true } }, 97],
  // The best price is 104.
  ['a trailing fraction', { trailing: 0.1 }, 93.6],
  ['a trailing distance', { trailing: { distance: 5 } }, 99],
  ['break-even', { stop: 90, breakEven: { after: 0.03, plus: 0.01 } }, 101],
];

test.each(kinds)('%s, after a crash of a position that is held', async (_, options, stop) => {
  const { rig, say, see, stops, crash } = await begin();
  say(1, options);
  await rig.pass(10_000);
  see(100, 104, 103);
  expect(stops()).toEqual([stop]);
  await crash();
  expect(stops()).toEqual([stop]);
});

test.each(kinds)('%s, after a crash between the entry at the exchange and its fill here', async (_, options) => {
  const { rig, say, see, stops, crash } = await begin();
  const before = rig.venue.trades.length;
  say(1, options);
  while (rig.venue.trades.length === before) await rig.pass(10);
  expect(stops()).toEqual([]);
  await crash();
  await rig.pass(10_000);
  see(100);
  expect(rig.assembled.protection.isGuarded('s', btc.symbol)).toBe(true);
  expect(stops()).toHaveLength(1);
});

test.each(kinds)('%s, after a crash while an order adds to the position', async (_, options) => {
  const { rig, say, see, stops, crash } = await begin();
  say(1, options);
  await rig.pass(10_000);
  see(100, 104, 103);
  const [before = Number.NaN] = stops();
  const trades = rig.venue.trades.length;
  say(2, options);
  while (rig.venue.trades.length === trades) await rig.pass(10);
  await crash();
  expect(stops()).toEqual([before]);
  await rig.pass(10_000);
  expect(rig.assembled.portfolio.holding('s', btc.symbol).quantity).toBe(2);
  const [after = Number.NaN] = stops();
  // Measured from an entry price that is higher now, or where it was.
  expect(after).toBeGreaterThanOrEqual(before);
});
