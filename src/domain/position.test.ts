import { describe, expect, test } from 'vitest';
import { btc, fill } from '../../test/kit/builders.ts';
import { fc, property } from '../../test/kit/properties.ts';
import { baseUnits, type Lots, minus, noUnits, plus, type Ticks, ticks, type Units, unitsText } from './money.ts';
import type { Fill } from './order.ts';
import { afterFill, movementOf, noPosition, openProfit, type Position } from './position.ts';

const booked = (...fills: readonly Fill[]): Position =>
  fills.reduce((held, one) => afterFill(held, one, btc), noPosition);
const texts = ({ base, cost, realised, fees }: Position): string =>
  `${unitsText(base)} for ${unitsText(cost)}, realised ${unitsText(realised)}, fees ${unitsText(fees)}`;

describe('a long position', () => {
  test('costs what its buys cost together', () => {
    expect(texts(booked(fill({ price: '100' }), fill({ price: '200', quantity: '3' })))).toBe(
      '4 for 700, realised 0, fees 0',
    );
  });

  test('realises profit against the average cost when a part is sold', () => {
    const held = booked(fill({ price: '100', quantity: '2' }), fill({ side: 'SELL', price: '130', quantity: '1' }));
    expect(texts(held)).toBe('1 for 100, realised 30, fees 0');
  });

  test('leaves nothing behind when all is sold', () => {
    const held = booked(fill({ price: '100', quantity: '3' }), fill({ side: 'SELL', price: '90', quantity: '3' }));
    expect(texts(held)).toBe('0 for 0, realised -30, fees 0');
  });

  test('that is sold beyond zero closes at its cost and opens the rest short', () => {
    const held = booked(fill({ price: '100', quantity: '2' }), fill({ side: 'SELL', price: '110', quantity: '5' }));
    expect(texts(held)).toBe('-3 for -330, realised 20, fees 0');
  });
});

describe('a short position', () => {
  test('brings in what its sales brought in', () => {
    expect(texts(booked(fill({ side: 'SELL', price: '100', quantity: '2' })))).toBe('-2 for -200, realised 0, fees 0');
  });

  test('realises profit when it is bought back lower', () => {
    const held = booked(fill({ side: 'SELL', price: '100', quantity: '2' }), fill({ price: '70', quantity: '1' }));
    expect(texts(held)).toBe('-1 for -100, realised 30, fees 0');
  });

  test('that is bought beyond zero opens the rest long at the price of that fill', () => {
    const held = booked(fill({ side: 'SELL', price: '100', quantity: '2' }), fill({ price: '70', quantity: '5' }));
    expect(texts(held)).toBe('3 for 210, realised 60, fees 0');
  });
});

describe('a fee', () => {
  test('in the quote asset is counted and leaves the base alone', () => {
    expect(texts(booked(fill({ fee: '0.1' })))).toBe('1 for 100, realised 0, fees 0.1');
    expect(unitsText(movementOf(fill({ fee: '0.1' }), btc).quote)).toBe('-100.1');
  });

  test('in the base asset leaves less base, and counts once', () => {
    const held = booked(fill({ fee: '0.001', feeAsset: 'BTC' }));
    expect(texts(held)).toBe('0.999 for 99.9, realised 0, fees 0.1');
    expect(unitsText(openProfit(held, ticks('100', btc), btc))).toBe('0');
  });

  test('in the base asset of a sale is taken from what is held', () => {
    const held = booked(
      fill({ quantity: '2' }),
      fill({ side: 'SELL', quantity: '1', fee: '0.001', feeAsset: 'BTC', price: '100' }),
    );
    expect(texts(held)).toBe('0.999 for 99.9, realised 0, fees 0.1');
  });

  test('in a third asset moves neither base nor quote', () => {
    const moved = movementOf(fill({ fee: '0.5', feeAsset: 'BNB' }), btc);
    expect(unitsText(moved.base)).toBe('1');
    expect(unitsText(moved.quote)).toBe('-100');
    expect(moved.feeValue).toBe(noUnits);
  });
});

const fills = fc.array(
  fc.record({
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    price: fc.bigInt(1n, 10n ** 7n).map((value) => value as Ticks),
    quantity: fc.bigInt(1n, 10n ** 7n).map((value) => value as Lots),
    feeParts: fc.integer({ min: 0, max: 50 }),
    feeAsset: fc.constantFrom('BTC', 'USDT'),
  }),
  { minLength: 1, maxLength: 30 },
);

property.prop([fills, fc.bigInt(1n, 10n ** 7n)])(
  'at any price the books say what the account has, to a few of its smallest units',
  (rows, mark) => {
    let held = noPosition;
    let base = noUnits;
    let quote = noUnits;
    for (const { feeParts, ...row } of rows) {
      const charged = row.feeAsset === 'BTC' ? baseUnits(row.quantity, btc) : movementOf(fill(), btc).gross;
      const one: Fill = { ...fill(), ...row, fee: ((charged * BigInt(feeParts)) / 10_000n) as Units };
      const moved = movementOf(one, btc);
      held = afterFill(held, one, btc);
      base = plus(base, moved.base);
      quote = plus(quote, moved.quote);
    }
    expect(held.base).toBe(base);
    const price = mark as Ticks;
    const account = plus(quote, ((base * price) / 100n) as Units);
    const books = plus(minus(held.realised, held.fees), openProfit(held, price, btc));
    const off = account - books;
    expect(off < 100n && off > -100n).toBe(true);
  },
);
