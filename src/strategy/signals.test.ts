/** Targets with several take-profits or an entry that expires: what is refused, and what a strategy's own list may change. */
import { expect, test } from 'vitest';
import type { Signal } from '../domain/order.ts';
import type { PartialTakeProfit } from '../domain/target-options.ts';
import { checked, hold } from './signals.ts';

const emitted = (signal: Signal): Signal => checked(signal, '1min');
const half = { at: 110, share: 0.5 };

test.each([
  [[], 'takeProfit is an empty list'],
  [[{ at: 110 }], 'a part of takeProfit has share undefined'],
  [[{ at: Number.NaN, share: 0.5 }], 'a part of takeProfit is NaN'],
  [[{ at: 110, share: 0 }], 'a part of takeProfit has share 0'],
  [[{ at: 110, share: 50 }], 'a part of takeProfit has share 50'],
  [[undefined], 'a part of takeProfit lacks its level'],
  [[half, { at: 110, share: 0.2 }], 'two parts of takeProfit have the same level'],
  [[half, { at: 120, share: 0.6 }], 'the shares of takeProfit come to 1.1'],
  [Array.from({ length: 21 }, (_, step) => ({ at: 110 + step, share: 0.01 })), 'takeProfit has 21 parts, at most 20'],
])('a list that cannot be is refused: %#', (takeProfit, message) => {
  expect(() => emitted(hold({ quantity: 1 }, 'up', { takeProfit: takeProfit as never }))).toThrow(message);
});

test.each([
  [{ expiresAfterKlines: 3 }, 'expiresAfter… needs limit: an order at market does not wait'],
  [{ limit: 90, expiresAfterMs: 0 }, 'expiresAfterMs is 0: nothing could be entered'],
  [{ limit: 90, expiresAfterKlines: 1.5 }, 'expiresAfterKlines is 1.5: it must be a whole number above 0'],
  [{ postOnly: true }, 'postOnly needs limit: an order at market always takes'],
  [{ limit: 90, postOnly: 'yes' as never }, 'postOnly is neither true nor false'],
])('an entry that cannot expire so, or not be at market so, is refused: %#', (options, message) => {
  expect(() => emitted(hold({ quantity: 1 }, 'up', options))).toThrow(message);
});

test('klines of an entry that expires are told as ms, too', () => {
  expect(emitted(hold({ quantity: 1 }, 'up', { limit: 90, expiresAfterKlines: 3 }))).toMatchObject({
    expiresAfterMs: 180_000,
  });
});

test('a list is the one that was emitted, whatever its strategy does with it later', () => {
  const list: PartialTakeProfit[] = [half, { at: 120, share: 0.5 }];
  const signals = [1, 2, 3].map(() => emitted(hold({ quantity: 1 }, 'up', { takeProfit: list })));
  const own = emitted({ kind: 'target', size: { quantity: 1 }, reason: 'up', takeProfit: list });
  list.pop();
  for (const signal of [...signals, own]) expect(signal).toMatchObject({ takeProfit: [half, { at: 120, share: 0.5 }] });
  expect(emitted(hold({ quantity: 1 }, 'up', { takeProfit: list }))).toMatchObject({ takeProfit: [half] });
});

test('ten tenths are one', () => {
  const takeProfit = Array.from({ length: 10 }, (_, step) => ({ at: 110 + step, share: 0.1 }));
  expect(emitted(hold({ quantity: 1 }, 'up', { takeProfit }))).toMatchObject({ takeProfit });
});
