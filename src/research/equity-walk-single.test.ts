/** One series is walked through in long stretches, several close by close: both see the same. */

import { expect, test } from 'vitest';
import { fc } from '../../test/kit/properties.ts';
import { instrument } from '../domain/instrument.ts';
import type { EquityInput } from './equity-input.ts';
import { walkEquity } from './equity-walk.ts';
import { fillTable } from './fill-table.ts';

const at = instrument({ symbol: 'XZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 3 });
const minute = 60_000;

/** Fills of one unit each so long after the opens of some rows, and of a unit more for a while in others, in numbers alone. */
function equityInput(
  moves: readonly number[],
  held: readonly (0 | 1 | -1)[],
  cash: number,
  {
    gap = 300,
    afterMs = 0,
    rest = 0,
  }: { readonly gap?: number; readonly afterMs?: number; readonly rest?: number } = {},
): EquityInput {
  const rows = moves.length;
  const column = (): Float64Array => new Float64Array(rows);
  const columns = {
    openTime: Float64Array.from(moves, (_, row) => (row + Math.floor(row / 50) * gap) * minute),
    ...{ open: column(), high: column(), low: column(), close: column(), volume: column() },
  };
  let price = 100;
  const times: number[] = [];
  const bases: number[] = [];
  const quotes: number[] = [];
  const prices: number[] = [];
  const trade = (row: number, ms: number, size: number): void => {
    times.push((columns.openTime[row] as number) + ms);
    // A fee in base leaves less than a lot.
    bases.push(size > 0 ? size - rest : size);
    quotes.push(-size * price - 0.1);
    prices.push(price);
  };
  let base = 0;
  for (let row = 0; row < rows; row++) {
    columns.open[row] = price;
    const wanted = held[row] ?? 0;
    if (wanted !== base) {
      trade(row, afterMs, wanted - base);
      base = wanted;
    }
    if (afterMs > 0 && moves[row] === 7) {
      trade(row, afterMs, 1);
      price += 2;
      trade(row, afterMs + 10_000, -1);
    }
    price = Math.max(1, price + (moves[row] as number));
    columns.close[row] = price;
  }
  const { length } = times;
  const empty = fillTable([], new Map());
  const fills = {
    ...empty,
    ...{ length, positions: [{ strategy: 's', symbol: 'XZ' }], position: new Uint16Array(length) },
    ...{ time: Float64Array.from(times), base: Float64Array.from(bases), quote: Float64Array.from(quotes) },
    price: Float64Array.from(prices),
  };
  const series = [{ symbol: 'XZ', interval: '1min', columns, first: 0, end: rows }] as const;
  return {
    fills,
    series,
    cash,
    instruments: new Map([['XZ', at]]),
    costs: () => ({ long: 0.99, short: 1.01, entryFee: 0.001 }),
  };
}

test('walking one series gives the curves, the drawdown and the exposure of walking close by close', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -30, max: 31 }), { minLength: 2, maxLength: 3_000 }),
      fc.integer({ min: 1, max: 400 }),
      fc.constantFrom(90, 1_000),
      fc.constantFrom(0, 20_000),
      fc.constantFrom(0, 0.0002),
      (moves, stretch, cash, afterMs, rest) => {
        const held = moves.map(
          (move, row) => ([0, 1, -1, 1][Math.floor(row / stretch + move / 100) % 4] ?? 0) as 0 | 1 | -1,
        );
        const given = equityInput(moves, held, cash, { afterMs, rest });
        // A second series on which nothing happens would change what holding comes to; money that never moves changes nothing.
        const slow = walkEquity({ ...given, flows: [{ time: Number.POSITIVE_INFINITY, amount: 0 }] });
        expect(walkEquity(given)).toEqual(slow);
      },
    ),
    { numRuns: 60 },
  );
});

test('a gap that is shorter than the steps of the curves counts as what was held before it, too', () => {
  const moves = Array.from({ length: 5_000 }, (_, row) => Math.round(3 * Math.sin(row / 30)));
  const given = equityInput(
    moves,
    moves.map(() => 1),
    1_000,
    { gap: 3 },
  );
  const slow = walkEquity({ ...given, flows: [{ time: Number.POSITIVE_INFINITY, amount: 0 }] });
  expect(walkEquity(given)).toEqual(slow);
});

test('what is less than a lot counts at each close, and is no position', () => {
  const walkedTo = (last: number) => {
    const given = equityInput([0, 0, 0, last, 0], [1, 1, 0, 0, 0], 1_000, { rest: 0.0005 });
    return walkEquity({ ...given, costs: () => ({ long: 1, short: 1, entryFee: 0 }) });
  };
  const { days, heldMs } = walkedTo(500);
  // Bought and sold at 100 with fees of 0.1; what the price makes of half a thousandth short.
  expect(days.equity.at(-1)).toBeCloseTo(999.8 - 0.0005 * 600, 9);
  expect(heldMs).toBe(walkedTo(0).heldMs);
});
