import { describe, expect, test } from 'vitest';
import { fc } from '../../test/kit/properties.ts';
import { instrument } from './instrument.ts';
import {
  feeOn,
  lotsOfSafe,
  notional,
  priceFor,
  rate,
  rateText,
  safe,
  safeFee,
  safeLimit,
  safeNotional,
  safeNumber,
  safeScale,
  safeTicksOf,
  safeUnits,
  type Ticks,
  ticksOfSafe,
  units,
  unitsNumber,
  unitsOfSafe,
} from './money.ts';

const at = (pricePrecision: number, quantityPrecision: number) =>
  instrument({ symbol: 'XY', base: 'X', quote: 'Y', pricePrecision, quantityPrecision });
const precision = fc.integer({ min: 0, max: 6 });

describe('short money', () => {
  test('is worth and costs what the exact one does, or says that it does not fit', () => {
    let fits = 0;
    fc.assert(
      fc.property(
        precision,
        precision,
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.integer({ min: 1, max: 100_000_000 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (prices, quantities, ticks, lots, steps) => {
          const place = at(prices, quantities);
          const scale = safeScale(place);
          const feeRate = rate((steps / 1e8).toFixed(8));
          const value = safeNotional(ticks, lots, scale);
          const exact = notional(ticksOfSafe(ticks), lotsOfSafe(lots), place);
          if (Number.isNaN(value)) {
            expect(safeUnits(exact, scale.decimals)).toBeNaN();
            return;
          }
          expect(unitsOfSafe(value, scale.decimals)).toBe(exact);
          expect(safeNumber(value, scale.decimals)).toBe(unitsNumber(exact));
          const fee = safeFee(feeRate, scale)(value);
          if (Number.isNaN(fee)) return;
          fits++;
          expect(unitsOfSafe(fee, scale.decimals), rateText(feeRate)).toBe(feeOn(exact, feeRate));
        },
      ),
      { numRuns: 3_000 },
    );
    expect(fits).toBeGreaterThan(500);
  });

  test('rounds a fee up where a division would round to the whole number', () => {
    // Amounts are counted in steps of 10^-8, so 0.3 of one step is one step of fee.
    const scale = safeScale(at(2, 5));
    expect(safeFee(rate('0.3'), scale)(1)).toBe(1);
    expect(safeFee(rate('0.001'), scale)(9_007_199_254_740_000)).toBe(9_007_199_254_740);
    expect(safeFee(rate('0.001'), scale)(9_007_199_254_740_001)).toBe(9_007_199_254_741);
    expect(safeFee(rate('0.00012345'), scale)(9_007_199_254_740_001)).toBeNaN();
  });

  test('takes prices to the same ticks', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), fc.constantFrom('BUY', 'SELL'), (price, side) => {
        const place = at(2, 5);
        const ticks: Ticks = ticksOfSafe(safeTicksOf(price, place, side === 'BUY' ? 'up' : 'down'));
        expect(ticks).toBe(priceFor(side, price, place));
      }),
    );
  });

  test('lets a limit that is too large to be short pass everything, and what is finer nothing more', () => {
    expect(safeLimit(units('1000000000000'), 8)).toBe(Number.MAX_SAFE_INTEGER);
    expect(safeLimit(units('12.5'), 8)).toBe(1_250_000_000);
    expect(safeLimit(units('0.000000019'), 8)).toBe(1);
    expect(safe(2 ** 53)).toBeNaN();
  });
});
