import { expect, test } from 'vitest';
import { fc } from '../../../test/kit/properties.ts';
import { seededRng } from '../../clock/clock.ts';
import { instrument } from '../../domain/instrument.ts';
import { priceNumber } from '../../domain/money.ts';
import type { Print } from '../core/order.ts';
import { makePrints } from './made-prints.ts';
import type { MinuteRow } from './market.ts';

const at = instrument({ symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 1, quantityPrecision: 5 });

const price = fc.integer({ min: 30_000, max: 200_000 });
const minute = fc
  .record({ prices: fc.tuple(price, price, price, price), volume: fc.integer({ min: 0, max: 1_000_000_000 }) })
  .map(({ prices, volume }): MinuteRow => {
    const [open, close] = prices;
    return {
      openTime: 1_584_000_000_000,
      open: open / 10,
      high: Math.max(...prices) / 10,
      low: Math.min(...prices) / 10,
      close: close / 10,
      volume: volume / 100_000,
    };
  });

const pricesOf = (prints: readonly Print[]): number[] => prints.map((print) => priceNumber(print.price, at));
const volumeOf = (prints: readonly Print[]): bigint => prints.reduce((sum, print) => sum + print.quantity, 0n);

test('made prints give back the kline they were made from, digit for digit, within its minute', () => {
  fc.assert(
    fc.property(minute, fc.nat(), (row, seed) => {
      const prints = makePrints(row, at, seededRng(seed));
      expect(volumeOf(prints)).toBe(BigInt(Math.round(row.volume * 100_000)));
      const times = prints.map(({ time }) => time);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      for (const { time, quantity } of prints) {
        expect(time >= row.openTime && time < row.openTime + 60_000 && quantity > 0n).toBe(true);
      }
      if (row.volume * 100_000 < 20) return;
      const prices = pricesOf(prints);
      expect(prints.length).toBe(20);
      expect([prices[0], Math.max(...prices), Math.min(...prices), prices.at(-1)]).toEqual([
        row.open,
        row.high,
        row.low,
        row.close,
      ]);
    }),
    { numRuns: 500 },
  );
});

test('a rising minute goes to its low first, a falling one to its high', () => {
  const row = { openTime: 0, open: 100, high: 110, low: 90, close: 105, volume: 10 };
  const rising = pricesOf(makePrints(row, at, seededRng(1)));
  expect(rising.indexOf(90)).toBeLessThan(rising.indexOf(110));
  const falling = pricesOf(makePrints({ ...row, close: 95 }, at, seededRng(1)));
  expect(falling.indexOf(110)).toBeLessThan(falling.indexOf(90));
});

test('a minute without volume prints nothing, and a recorded open outside the range moves to its nearer end', () => {
  const row = { openTime: 0, open: 120, high: 110, low: 90, close: 105, volume: 10 };
  expect(makePrints({ ...row, volume: 0 }, at, seededRng(1))).toEqual([]);
  expect(pricesOf(makePrints(row, at, seededRng(1)))[0]).toBe(110);
});

test('the same seed makes the same prints', () => {
  const row = { openTime: 0, open: 100, high: 110, low: 90, close: 105, volume: 10 };
  expect(makePrints(row, at, seededRng(5))).toEqual(makePrints(row, at, seededRng(5)));
  expect(makePrints(row, at, seededRng(5))).not.toEqual(makePrints(row, at, seededRng(6)));
});
