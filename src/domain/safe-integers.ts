/**
 * Money as whole numbers of the machine, for loops over very many fills: the same digits as money.ts while everything is below
 * 2^53, and NaN as soon as something is not, so that nobody goes on with a number that has lost its last digit.
 */
import type { Instrument } from './instrument.ts';
import { type Rate, safeSteps } from './money.ts';

const feeDecimals = 8;

/** What amounts of an instrument's quote asset are counted in: steps of 10^-decimals. */
export interface SafeScale {
  readonly decimals: number;
  /** Price × quantity in ticks × lots, times this, counts those steps. */
  readonly ofNotional: number;
}

/** The coarsest scale in which price × quantity and fees of an instrument are whole. */
export function safeScale({ pricePrecision, quantityPrecision }: Instrument): SafeScale {
  const own = pricePrecision + quantityPrecision;
  const decimals = Math.max(feeDecimals, own);
  return { decimals, ofNotional: 10 ** (decimals - own) };
}

/** The number, or NaN when it is too large to be exact. */
export const safe = (value: number): number =>
  value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER ? value : Number.NaN;

/** Price × quantity in the scale's steps; `notional` in safe integers. */
export const safeNotional = (ticks: number, lots: number, { ofNotional }: SafeScale): number =>
  safe(ticks * lots * ofNotional);

/** `feeOn` in safe integers: amount × rate in the scale's steps, rounded up to 8 decimals. */
export function safeFee(rate: Rate, { decimals }: SafeScale): (amount: number) => number {
  const steps = safeSteps(rate);
  const whole = 10 ** decimals;
  const common = divisor(steps, whole);
  const [times, by] = [steps / common, whole / common];
  const feeStep = 10 ** (decimals - feeDecimals);
  return (amount) => {
    const product = safe(amount * times);
    let quotient = Math.floor(product / by);
    // The division may have rounded up to the next whole number, never by more.
    let rest = product - quotient * by;
    if (rest < 0) {
      quotient--;
      rest += by;
    } else if (rest >= by) {
      quotient++;
      rest -= by;
    }
    return safe((rest > 0 ? quotient + 1 : quotient) * feeStep);
  };
}

const divisor = (a: number, b: number): number => (b === 0 ? Math.max(1, a) : divisor(b, a % b));
