/** Money as safe integers, for loops over very many fills: equal to money.ts below 2^53, and NaN as soon as a value is not exact. */
import type { Instrument } from './instrument.ts';
import { type Rate, safeSteps } from './money.ts';

const feeDecimals = 8;

/** The step of amounts in an instrument's quote asset: 10^-decimals. */
export interface SafeScale {
  readonly decimals: number;
  /** Ticks × lots × this is price × quantity in those steps. */
  readonly ofNotional: number;
  /** Fees are whole multiples of so many steps: of 10^-8. */
  readonly feeSteps: number;
}

/** The coarsest scale in which price × quantity and fees of an instrument are whole. */
export function safeScale({ pricePrecision, quantityPrecision }: Instrument): SafeScale {
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
export function safeFee(rate: Rate, { decimals }: SafeScale): (amount: number) => number {
  const steps = safeSteps(rate);
  const whole = 10 ** decimals;
  const common = divisor(steps, whole);
  const [times, by] = [steps / common, whole / common];
  const feeStep = 10 ** (decimals - feeDecimals);
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
    return safe((rest > 0 ? quotient + 1 : quotient) * feeStep);
  };
}

const divisor = (a: number, b: number): number => (b === 0 ? Math.max(1, a) : divisor(b, a % b));
