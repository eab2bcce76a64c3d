/**
 * Exact money. Inside the program prices, quantities and balances are integers: `Ticks` and `Lots` in an instrument's own steps, `Units`
 * of an asset at 18 decimals, `Rate` at 8. Only this file converts between them, `Decimal` (wire, configuration, journal, reports) and
 * `number` (klines, indicators, signals).
 *
 * The exchange sends balances with up to 16 decimals. A value with more decimals than its unit is refused with a `MoneyError`; where a
 * rule rounds, the caller names the direction.
 */
import { Decimal as DecimalJs } from 'decimal.js';

export const Decimal = DecimalJs.clone({ precision: 60, toExpNeg: -40, toExpPos: 60 });
export type Decimal = DecimalJs;

declare const unit: unique symbol;
/** A price, in steps of 10^-pricePrecision of its instrument. */
export type Ticks = bigint & { readonly [unit]: 'ticks' };
/** A quantity of the base asset, in steps of 10^-quantityPrecision of its instrument. */
export type Lots = bigint & { readonly [unit]: 'lots' };
/** An amount of any asset, in steps of 10^-18. */
export type Units = bigint & { readonly [unit]: 'units' };
/** A fraction such as a fee rate, in steps of 10^-8. */
export type Rate = bigint & { readonly [unit]: 'rate' };

export type Rounding = 'up' | 'down' | 'exact';
/** Decimal places of prices and quantities; an `Instrument` has them. */
export interface Precision {
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
}

const unitDecimals = 18;
const rateDecimals = 8;
/** Decimals to which fees are rounded. */
export const feeDecimals = 8;
const pow10 = Array.from({ length: 37 }, (_, power) => 10n ** BigInt(power));
/** The same as numbers: `10 ** decimals` would be calculated by each of millions of conversions. */
const numberPow10 = pow10.map(Number);
const largestSafe = BigInt(Number.MAX_SAFE_INTEGER);
const feeStep = scale(unitDecimals - feeDecimals);
/** Divides an amount × a rate into steps of a fee. */
const feeDivisor = scale(rateDecimals) * feeStep;

export class MoneyError extends Error {
  override name = 'MoneyError';
}

function scale(decimals: number): bigint {
  const factor = pow10[decimals];
  if (factor === undefined) throw new MoneyError(`no scale for ${decimals} decimals (0 to 36 are possible)`);
  return factor;
}

// Arithmetic that keeps the unit: `plus(price, quantity)` does not compile.
export const plus = <T extends bigint>(a: T, b: NoInfer<T>): T => (a + b) as T;
export const minus = <T extends bigint>(a: T, b: NoInfer<T>): T => ((a as bigint) - (b as bigint)) as T;
export const negate = <T extends bigint>(a: T): T => -(a as bigint) as T;
export const absolute = <T extends bigint>(a: T): T => (a < 0n ? negate(a) : a);
export const min = <T extends bigint>(a: T, b: NoInfer<T>): T => (a < b ? a : b);
export const max = <T extends bigint>(a: T, b: NoInfer<T>): T => (a > b ? a : b);
export const noTicks = 0n as Ticks;
export const noLots = 0n as Lots;
export const noUnits = 0n as Units;
export const noRate = 0n as Rate;

function divide(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const quotient = numerator / denominator;
  const negative = numerator < 0n !== denominator < 0n;
  // Division truncates towards zero, which often is the requested direction: checking the remainder would double the cost.
  if (rounding === (negative ? 'up' : 'down')) return quotient;
  if (quotient * denominator === numerator) return quotient;
  if (rounding === 'exact') throw new MoneyError(`${numerator}/${denominator} is not whole`);
  return negative ? quotient - 1n : quotient + 1n;
}

/** Reads a decimal from text or a decimal; scientific notation is allowed (venues send `6.6E-4`), NaN and infinity are not. */
function read(value: Decimal | string): Decimal {
  let decimal: Decimal;
  try {
    decimal = new Decimal(value);
  } catch {
    throw new MoneyError(`${JSON.stringify(value)} is not a decimal number`);
  }
  if (!decimal.isFinite()) throw new MoneyError(`${JSON.stringify(value)} is not a finite number`);
  return decimal;
}

/** Plain digits, as in nearly every amount: reading them without `Decimal` is ten times as fast. */
const plainDigits = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/;

/** Digits that a double holds exactly. */
const maxDigits = 15;
const [digitZero, point] = [48, 46];

/** Reads few plain digits as a number, which is three times as fast again; undefined for any other text. */
function fewDigits(text: string, decimals: number): bigint | undefined {
  if (text.length > maxDigits + 1) return undefined;
  let steps = 0;
  let pointAt = -1;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - digitZero;
    if (digit >= 0 && digit <= 9) steps = steps * 10 + digit;
    else if (digit === point - digitZero && pointAt < 0 && index > 0) pointAt = index;
    else return undefined;
  }
  const digits = pointAt < 0 ? text.length : text.length - 1;
  const missing = decimals - (pointAt < 0 ? 0 : digits - pointAt);
  if (digits === 0 || digits > maxDigits || pointAt === digits || missing < 0) return undefined;
  const scaled = steps * (numberPow10[missing] as number);
  return scaled <= Number.MAX_SAFE_INTEGER ? BigInt(scaled) : BigInt(steps) * scale(missing);
}

function toSteps(value: Decimal | string, decimals: number, rounding: Rounding): bigint {
  if (typeof value === 'string') {
    const steps = fewDigits(value, decimals);
    if (steps !== undefined) return steps;
    const [, sign = '', whole = '', fraction = ''] = plainDigits.exec(value) ?? [];
    if (whole !== '' && fraction.length <= decimals) return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
  }
  const decimal = read(value);
  if (rounding === 'exact' && decimal.decimalPlaces() > decimals) {
    throw new MoneyError(`${decimal.toFixed()} has more than ${decimals} decimals`);
  }
  const mode = rounding === 'up' ? Decimal.ROUND_CEIL : Decimal.ROUND_FLOOR;
  return BigInt(decimal.times(scale(decimals).toString()).toDecimalPlaces(0, mode).toFixed(0));
}

/**
 * A number from a decimal text has an error in the 16th digit: within 1e-9 of a step it means that step. Any other value is rounded in the
 * caller's direction.
 */
function numberToSteps(value: number, decimals: number, rounding: Rounding): bigint {
  const steps = nearSteps(value, decimals, rounding);
  return Math.abs(steps) > Number.MAX_SAFE_INTEGER ? toSteps(new Decimal(value), decimals, rounding) : BigInt(steps);
}

/** The same as a number; beyond the safe ones it is not exact. */
function nearSteps(value: number, decimals: number, rounding: Rounding): number {
  if (!Number.isFinite(value)) throw new MoneyError(`${value} is not a finite number`);
  const scaled = value * (numberPow10[decimals] as number);
  const nearest = Math.round(scaled);
  if (Math.abs(nearest) > Number.MAX_SAFE_INTEGER) return nearest;
  if (Math.abs(scaled - nearest) <= 1e-9 * Math.max(1, Math.abs(scaled))) return nearest;
  if (rounding === 'exact') throw new MoneyError(`${value} has more than ${decimals} decimals`);
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}

const toDecimal = (steps: bigint, decimals: number): Decimal =>
  new Decimal(steps.toString()).div(scale(decimals).toString());

/** Whole steps as decimal text without exponent or trailing zeros, straight from the digits. */
function toText(steps: bigint, decimals: number): string {
  if (decimals === 0) return steps.toString();
  // Prices and quantities fit a number, which prints several times as fast as a bigint.
  if (steps >= 0n && steps <= largestSafe) return numberText(Number(steps), decimals);
  // Fees fit as well, in steps of 8 decimals.
  if (decimals === unitDecimals && steps > 0n) {
    const feeSteps = steps / feeStep;
    if (feeSteps <= largestSafe && feeSteps * feeStep === steps) return numberText(Number(feeSteps), feeDecimals);
  }
  const digits = absolute(steps)
    .toString()
    .padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${steps < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function numberText(steps: number, decimals: number): string {
  const one = numberPow10[decimals] as number;
  const fraction = steps % one;
  const whole = (steps - fraction) / one;
  if (fraction === 0) return String(whole);
  return `${whole}.${String(fraction).padStart(decimals, '0').replace(/0+$/, '')}`;
}

// Prices
export const ticks = (value: Decimal | string, precision: Precision, rounding: Rounding = 'exact'): Ticks =>
  toSteps(value, precision.pricePrecision, rounding) as Ticks;
export const ticksOf = (value: number, precision: Precision, rounding: Rounding): Ticks =>
  numberToSteps(value, precision.pricePrecision, rounding) as Ticks;
/** A price for an order of this side: BUY rounds up to the tick, SELL down. */
export const priceFor = (side: 'BUY' | 'SELL', value: number, precision: Precision): Ticks =>
  ticksOf(value, precision, side === 'BUY' ? 'up' : 'down');
export const priceText = (price: Ticks, precision: Precision): string => toText(price, precision.pricePrecision);
export const priceNumber = (price: Ticks, precision: Precision): number =>
  Number(price) / (numberPow10[precision.pricePrecision] as number);

/** A price with fewer decimal places. */
export const steppedPrice = (price: Ticks, placesFewer: number, rounding: Rounding): Ticks =>
  (divide(price, scale(placesFewer), rounding) * scale(placesFewer)) as Ticks;

// Quantities
/** A quantity with fewer decimal places, rounded towards zero. */
export const steppedLots = (quantity: Lots, placesFewer: number): Lots =>
  (quantity - (quantity % scale(placesFewer))) as Lots;
export const lots = (value: Decimal | string, precision: Precision, rounding: Rounding = 'exact'): Lots =>
  toSteps(value, precision.quantityPrecision, rounding) as Lots;
export const lotsOf = (value: number, precision: Precision, rounding: Rounding = 'down'): Lots =>
  numberToSteps(value, precision.quantityPrecision, rounding) as Lots;
export const quantityText = (quantity: Lots, precision: Precision): string =>
  toText(quantity, precision.quantityPrecision);
export const quantityNumber = (quantity: Lots, precision: Precision): number =>
  Number(quantity) / (numberPow10[precision.quantityPrecision] as number);

// Amounts of an asset
export const units = (value: Decimal | string, rounding: Rounding = 'exact'): Units =>
  toSteps(value, unitDecimals, rounding) as Units;
export const unitsOf = (value: number): Units => toSteps(String(value), unitDecimals, 'down') as Units;
export const unitsText = (amount: Units): string => toText(amount, unitDecimals);
export const unitsNumber = (amount: Units): number => Number(amount) / 1e18;
export const unitsDecimal = (amount: Units): Decimal => toDecimal(amount, unitDecimals);

// Rates
export const rate = (value: Decimal | string): Rate => toSteps(value, rateDecimals, 'exact') as Rate;
/** A number as a fraction, to the nearest 10^-8. */
export const rateOf = (value: number): Rate => BigInt(Math.round(value * 1e8)) as Rate;
export const rateText = (fraction: Rate): string => toText(fraction, rateDecimals);
export const rateNumber = (fraction: Rate): number => Number(fraction) / 10 ** rateDecimals;

// Money in safe integers: steps as numbers, exact up to 2^53, for loops over many fills. A result that is NaN or not a safe
// integer does not fit.
export const safeTicksOf = (value: number, precision: Precision, rounding: Rounding): number =>
  nearSteps(value, precision.pricePrecision, rounding);
export const safeLotsOf = (value: number, precision: Precision): number =>
  nearSteps(value, precision.quantityPrecision, 'down');
export const safeSteps = (value: Ticks | Lots | Rate): number =>
  absolute(value as bigint) <= largestSafe ? Number(value) : Number.NaN;
/** An amount in steps of 10^-decimals. */
export function safeUnits(amount: Units, decimals: number): number {
  const step = scale(unitDecimals - decimals);
  const steps = amount / step;
  return steps * step === amount && absolute(steps) <= largestSafe ? Number(steps) : Number.NaN;
}
/** The most steps that an amount, 0 or more, allows; the largest safe integer where there are more. */
export function safeLimit(amount: Units, decimals: number): number {
  const steps = amount / scale(unitDecimals - decimals);
  return Number(min(steps, largestSafe));
}
export const ticksOfSafe = (steps: number): Ticks => BigInt(steps) as Ticks;
export const lotsOfSafe = (steps: number): Lots => BigInt(steps) as Lots;
export const unitsOfSafe = (steps: number, decimals: number): Units =>
  (BigInt(steps) * scale(unitDecimals - decimals)) as Units;
/** Equals `unitsNumber` of the same amount, to the last bit. */
export const safeNumber = (steps: number, decimals: number): number =>
  (steps * (numberPow10[unitDecimals - decimals] as number)) / 1e18;

/** The step of amounts in an instrument's quote asset: 10^-decimals. */
export interface SafeScale {
  readonly decimals: number;
  /** Ticks × lots × this is price × quantity in those steps. */
  readonly ofNotional: number;
  /** Steps in 10^-8, of which fees are whole multiples. */
  readonly feeSteps: number;
}

/** The coarsest scale in which price × quantity and fees of an instrument are whole. */
export function safeScale({ pricePrecision, quantityPrecision }: Precision): SafeScale {
  const own = pricePrecision + quantityPrecision;
  const decimals = Math.max(feeDecimals, own);
  return { decimals, ofNotional: 10 ** (decimals - own), feeSteps: 10 ** (decimals - feeDecimals) };
}

/** The number, or NaN when it is too large to be exact. */
export const safe = (value: number): number =>
  value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER ? value : Number.NaN;

/** Price × quantity in the scale's steps; `notional` in safe integers. */
export const safeNotional = (ticks: number, lots: number, { ofNotional }: SafeScale): number =>
  safe(ticks * lots * ofNotional);

/** `feeOn` in safe integers: amount × rate in the scale's steps, rounded up to 8 decimals. */
export function safeFee(rate: Rate, { decimals, feeSteps }: SafeScale): (amount: number) => number {
  const steps = safeSteps(rate);
  const whole = 10 ** decimals;
  const common = divisor(steps, whole);
  const [times, by] = [steps / common, whole / common];
  return (amount) => {
    const product = safe(amount * times);
    let quotient = Math.floor(product / by);
    // The division may have rounded up by one.
    let rest = product - quotient * by;
    if (rest < 0) {
      quotient--;
      rest += by;
    } else if (rest >= by) {
      quotient++;
      rest -= by;
    }
    return safe((rest > 0 ? quotient + 1 : quotient) * feeSteps);
  };
}

const divisor = (a: number, b: number): number => (b === 0 ? Math.max(1, a) : divisor(b, a % b));

// Between the units
/** Price × quantity in units of the quote asset, exact. */
export const notional = (price: Ticks, quantity: Lots, precision: Precision): Units =>
  (price * quantity * scale(unitDecimals - precision.pricePrecision - precision.quantityPrecision)) as Units;
/** A quantity as units of the base asset, exact. */
export const baseUnits = (quantity: Lots, precision: Precision): Units =>
  (quantity * scale(unitDecimals - precision.quantityPrecision)) as Units;
/** Units of the base asset as whole lots, without the remainder that fees leave. */
export const lotsIn = (base: Units, precision: Precision, rounding: Rounding = 'down'): Lots =>
  divide(base, scale(unitDecimals - precision.quantityPrecision), rounding) as Lots;
/** The value of an amount of the base asset, in units of the quote asset, rounded down. */
export const worth = (base: Units, price: Ticks, precision: Precision): Units =>
  base === 0n ? noUnits : (divide(base * price, scale(precision.pricePrecision), 'down') as Units);
/** The whole lots that an amount of the quote asset buys at a price. */
export const lotsFor = (amount: Units, price: Ticks, precision: Precision): Lots =>
  price <= 0n
    ? noLots
    : (divide(
        amount,
        price * scale(unitDecimals - precision.pricePrecision - precision.quantityPrecision),
        'down',
      ) as Lots);
/**
 * The price, in ticks, from which on equity (`cash` + `base` × price) is below a fraction of |`base`| × price: at it and below for a long
 * position, at it and above for a short one. Undefined if there is none.
 */
export function ruinPrice(base: Units, cash: Units, fraction: Rate, precision: Precision): Ticks | undefined {
  const one = scale(rateDecimals);
  const whole = scale(precision.pricePrecision) * one;
  if (base > 0n) {
    const price = cash < 0n ? (negate(cash) * whole - 1n) / (base * (one - fraction)) : 0n;
    return price > 0n ? (price as Ticks) : undefined;
  }
  if (base === 0n) return undefined;
  return (cash > 0n ? (cash * whole) / (negate(base) * (one + fraction)) + 1n : 1n) as Ticks;
}
/** A fraction of an amount. */
export const part = (amount: Units, fraction: Rate, rounding: Rounding): Units =>
  fraction === 0n ? noUnits : (divide(amount * fraction, scale(rateDecimals), rounding) as Units);
/** The share of an amount that `held` has of `whole`, rounded towards zero; 0 of 0. */
export const shareOf = (amount: Units, held: Units, whole: Units): Units =>
  whole === 0n ? noUnits : held === whole ? amount : (((amount * held) / whole) as Units);
/** A fraction times a count. */
export const timesRate = (fraction: Rate, count: number): Rate => (fraction * BigInt(count)) as Rate;
/** A fee: the amount × the rate, rounded up to 8 decimals. */
export const feeOn = (amount: Units, feeRate: Rate): Units =>
  (divide(amount * feeRate, feeDivisor, 'up') * feeStep) as Units;
/** The average price of base bought for a cost, to the nearest tick. Both are below zero for a short position. */
export const averageTicks = (cost: Units, base: Units, { pricePrecision }: Precision): Ticks =>
  ((2n * (cost as bigint) * scale(pricePrecision) + (base as bigint)) / (2n * (base as bigint))) as Ticks;
/** The part of an amount that remains for a purchase when its fee, rounded up to 8 decimals, is paid from the amount as well. */
export const lessFee = (amount: Units, feeRate: Rate): Units =>
  feeRate === 0n
    ? amount
    : amount <= feeStep
      ? noUnits
      : (divide((amount - feeStep) * scale(rateDecimals), scale(rateDecimals) + feeRate, 'down') as Units);
/** A price moved by a fraction to the disadvantage of its side, to the next tick. */
export const worsened = (side: 'BUY' | 'SELL', price: Ticks, fraction: Rate): Ticks =>
  (side === 'BUY'
    ? divide(price * (scale(rateDecimals) + fraction), scale(rateDecimals), 'up')
    : divide(price * (scale(rateDecimals) - fraction), scale(rateDecimals), 'down')) as Ticks;
/** An amount rounded down to this many decimals, as an order for an amount may have. */
export const cut = (amount: Units, decimals: number): Units =>
  (divide(amount, scale(unitDecimals - decimals), 'down') * scale(unitDecimals - decimals)) as Units;
/** The smallest amount with this many decimals. */
export const smallest = (decimals: number): Units => scale(unitDecimals - decimals) as Units;
/** One of `count` equal shares of an amount, rounded down. */
export const splitBy = (amount: Units, count: number): Units => divide(amount, BigInt(count), 'down') as Units;
/** A fraction of a quantity, in whole lots, rounded down. */
export const partOfLots = (quantity: Lots, fraction: Rate): Lots =>
  divide(quantity * fraction, scale(rateDecimals), 'down') as Lots;
/** Average price of an amount spent on a quantity, as a decimal with 10 places (for reports; never traded on). */
export const averagePrice = (spent: Units, quantity: Lots, precision: Precision): Decimal | undefined =>
  quantity === 0n
    ? undefined
    : unitsDecimal(spent).div(toDecimal(quantity, precision.quantityPrecision)).toDecimalPlaces(10);
