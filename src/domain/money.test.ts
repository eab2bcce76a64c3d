import { describe, expect, test } from 'vitest';
import { fc, property } from '../../test/kit/properties.ts';
import { instrument } from './instrument.ts';
import {
  absolute,
  averagePrice,
  baseUnits,
  cut,
  Decimal,
  feeOn,
  type Lots,
  lots,
  lotsFor,
  lotsIn,
  lotsOf,
  MoneyError,
  minus,
  negate,
  notional,
  part,
  partOfLots,
  plus,
  priceFor,
  priceText,
  quantityText,
  rate,
  rateText,
  type Ticks,
  ticks,
  ticksOf,
  type Units,
  units,
  unitsDecimal,
  unitsOf,
  unitsText,
  worsened,
  worth,
} from './money.ts';

const at = instrument({ symbol: 'XZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4 });
const texts = fc
  .tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.integer({ min: 0, max: 18 }))
  .map(([digits, decimals]) => new Decimal(digits.toString()).div(new Decimal(10).pow(decimals)));
const ticksAny = fc.bigInt(1n, 10n ** 12n).map((value) => value as Ticks);
const lotsAny = fc.bigInt(0n, 10n ** 14n).map((value) => value as Lots);
const decimalOf = (steps: bigint, decimals: number): Decimal => new Decimal(steps.toString()).div(10 ** decimals);

describe('crossing into whole steps', () => {
  test('counts steps of the instrument', () => {
    expect(ticks('123.45', at)).toBe(12_345n);
    expect(lots('0.0001', at)).toBe(1n);
    expect(units('1')).toBe(10n ** 18n);
    expect(rate('0.001')).toBe(100_000n);
  });

  test('reads scientific notation, which venues send', () => {
    expect(units('6.6E-4')).toBe(660_000_000_000_000n);
    expect(lots('1E-4', at)).toBe(1n);
    expect(units('1e+3')).toBe(1_000n * 10n ** 18n);
  });

  test('keeps balances of sixteen decimals and values beyond the safe integers whole', () => {
    expect(unitsText(units('9007199254740993.0000000000000001'))).toBe('9007199254740993.0000000000000001');
  });

  test.each(['123.456', '0.001', '-1.999'])('refuses %s where the instrument has two decimals', (text) => {
    expect(() => ticks(text, at)).toThrow(MoneyError);
  });

  test.each(['NaN', 'Infinity', '-Infinity', '', 'abc', '1,5', '0x1g'])('refuses %j', (text) => {
    expect(() => units(text)).toThrow(MoneyError);
  });

  test('does not count trailing zeros as decimals', () => {
    expect(ticks('1.500000', at)).toBe(150n);
  });

  test('rounds towards plus infinity or minus infinity as asked, below zero too', () => {
    expect(ticks('1.001', at, 'up')).toBe(101n);
    expect(ticks('1.009', at, 'down')).toBe(100n);
    expect(ticks('-1.001', at, 'up')).toBe(-100n);
    expect(ticks('-1.001', at, 'down')).toBe(-101n);
  });

  property.prop([texts])('agrees with Decimal in every rounding', (value) => {
    const scaled = value.times(100);
    expect(ticks(value, at, 'up').toString()).toBe(scaled.ceil().toFixed(0));
    expect(ticks(value, at, 'down').toString()).toBe(scaled.floor().toFixed(0));
  });

  property.prop([texts])('comes back as the same text', (value) => {
    expect(unitsText(units(value))).toBe(value.toFixed());
    expect(unitsDecimal(units(value)).eq(value)).toBe(true);
  });
});

describe('few digits', () => {
  property.prop([fc.bigInt(0n, 10n ** 17n), fc.integer({ min: 0, max: 17 })])(
    'are read as Decimal reads them',
    (digits, decimals) => {
      const text = new Decimal(digits.toString()).div(new Decimal(10).pow(decimals)).toFixed(decimals);
      expect(units(text)).toBe(BigInt(new Decimal(text).times(new Decimal(10).pow(18)).toFixed(0)));
    },
  );

  test('with a point at either end, with two or with anything else are not taken for a number', () => {
    for (const text of ['', '.', '1.2.3', '1,5', '1-5', '٣']) expect(readable(text)).toBe(false);
    expect(units('000.5')).toBe(units('0.5'));
    expect(units('5.')).toBe(units('5'));
    expect(() => lots('1.00005', at)).toThrow(MoneyError);
  });
});

/** Whether a text is an amount. */
function readable(text: string): boolean {
  try {
    return units(text) !== undefined;
  } catch {
    return false;
  }
}

describe('crossing from numbers', () => {
  test('takes a number with the noise of its last digits for the decimal it came from', () => {
    expect(ticksOf(0.1 + 0.2, at, 'up')).toBe(30n);
    expect(ticksOf(1.15, at, 'up')).toBe(115n);
    expect(ticksOf(1.15, at, 'down')).toBe(115n);
    expect(lotsOf(0.0003, at)).toBe(3n);
  });

  test('rounds a number that lies between steps', () => {
    expect(ticksOf(1.1549, at, 'up')).toBe(116n);
    expect(ticksOf(1.1549, at, 'down')).toBe(115n);
    expect(lotsOf(0.00019, at)).toBe(1n);
  });

  test('gives a buyer the higher and a seller the lower price', () => {
    expect(priceFor('BUY', 1.111, at)).toBe(112n);
    expect(priceFor('SELL', 1.119, at)).toBe(111n);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %s', (value) => {
    expect(() => ticksOf(value, at, 'down')).toThrow(MoneyError);
    expect(() => unitsOf(value)).toThrow();
  });

  property.prop([fc.integer({ min: 0, max: 2 ** 40 })])('finds every price of an instrument again', (steps) => {
    expect(ticksOf(Number((steps / 100).toFixed(2)), at, 'down')).toBe(BigInt(steps));
    expect(ticksOf(Number((steps / 100).toFixed(2)), at, 'up')).toBe(BigInt(steps));
  });
});

describe('text', () => {
  test('has neither exponent nor trailing zeros', () => {
    expect(priceText(100n as Ticks, at)).toBe('1');
    expect(priceText(-5n as Ticks, at)).toBe('-0.05');
    expect(quantityText(12_300n as Lots, at)).toBe('1.23');
    expect(unitsText(1n as Units)).toBe('0.000000000000000001');
    expect(rateText(rate('0.0005'))).toBe('0.0005');
    expect(priceText(7n as Ticks, { ...at, pricePrecision: 0 })).toBe('7');
  });
});

describe('between the units', () => {
  property.prop([ticksAny, lotsAny])('price × quantity is exact', (price, quantity) => {
    const expected = decimalOf(price, 2).times(decimalOf(quantity, 4));
    expect(unitsText(notional(price, quantity, at))).toBe(expected.toFixed());
  });

  property.prop([lotsAny])('lots and base units are the same quantity', (quantity) => {
    expect(lotsIn(baseUnits(quantity, at), at)).toBe(quantity);
    expect(lotsIn(plus(baseUnits(quantity, at), 1n as Units), at)).toBe(quantity);
    expect(lotsIn(plus(baseUnits(quantity, at), 1n as Units), at, 'up')).toBe(quantity + 1n);
  });

  property.prop([ticksAny, lotsAny])('an amount buys the most lots that it can pay for', (price, quantity) => {
    const amount = plus(notional(price, quantity, at), 7n as Units);
    const bought = lotsFor(amount, price, at);
    expect(notional(price, bought, at) <= amount).toBe(true);
    expect(notional(price, plus(bought, 1n as Lots), at) > amount).toBe(true);
  });

  test('nothing is bought at no price', () => {
    expect(lotsFor(units('5'), 0n as Ticks, at)).toBe(0n);
  });

  property.prop([ticksAny, fc.bigInt(-(10n ** 24n), 10n ** 24n)])(
    'worth rounds down, below zero too',
    (price, base) => {
      const exact = decimalOf(price, 2).times(new Decimal(base.toString()));
      expect(worth(base as Units, price, at).toString()).toBe(exact.floor().toFixed(0));
    },
  );

  test('a fee is rounded up to eight decimals, so that it is never taken too low', () => {
    expect(unitsText(feeOn(units('0.00000001'), rate('0.001')))).toBe('0.00000001');
    expect(unitsText(feeOn(units('10'), rate('0.001')))).toBe('0.01');
    expect(unitsText(feeOn(units('10.000000001'), rate('0.001')))).toBe('0.01000001');
    expect(feeOn(units('10'), rate('0'))).toBe(0n);
  });

  test('a price is worsened against its side, to the next tick', () => {
    expect(worsened('BUY', ticks('100', at), rate('0.00015'))).toBe(ticks('100.02', at));
    expect(worsened('SELL', ticks('100', at), rate('0.00015'))).toBe(ticks('99.98', at));
  });

  test('an amount is cut to the decimals that an order may say', () => {
    expect(unitsText(cut(units('1.239'), 2))).toBe('1.23');
  });

  test('a part is rounded as asked', () => {
    expect(part(3n as Units, rate('0.5'), 'down')).toBe(1n);
    expect(part(3n as Units, rate('0.5'), 'up')).toBe(2n);
    expect(part(-3n as Units, rate('0.5'), 'down')).toBe(-2n);
    expect(part(-3n as Units, rate('0.5'), 'up')).toBe(-1n);
    expect(() => part(3n as Units, rate('0.5'), 'exact')).toThrow(MoneyError);
    expect(partOfLots(3n as Lots, rate('0.5'))).toBe(1n);
  });

  test('an average price needs a quantity', () => {
    expect(averagePrice(units('10'), lots('4', at), at)?.toFixed()).toBe('2.5');
    expect(averagePrice(units('10'), 0n as Lots, at)).toBeUndefined();
  });

  test('arithmetic keeps signs', () => {
    expect(negate(5n as Lots)).toBe(-5n);
    expect(absolute(-5n as Lots)).toBe(5n);
    expect(minus(1n as Lots, 2n as Lots)).toBe(-1n);
  });
});

describe('an instrument', () => {
  test('is refused when price × quantity could not be kept exact', () => {
    expect(() => instrument({ ...at, pricePrecision: 10, quantityPrecision: 9 })).toThrow(/at most 18/);
    expect(instrument({ ...at, pricePrecision: 10, quantityPrecision: 8 }).pricePrecision).toBe(10);
  });

  test.each([-1, 1.5, Number.NaN])('is refused with %s decimals', (pricePrecision) => {
    expect(() => instrument({ ...at, pricePrecision })).toThrow(/whole number/);
  });
});
