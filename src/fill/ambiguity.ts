/** How much the order of events inside ambiguous klines could matter. */
import type { Instrument } from '../domain/instrument.ts';
import { absolute, type Lots, minus, notional, noUnits, plus, type Ticks, type Units } from '../domain/money.ts';
import { feeOf, ratesOf } from './fees.ts';
import type { SimFill } from './orders.ts';
import type { Fees } from './rules.ts';

/**
 * What a fill would have brought more, in quote, if its ambiguous kline had gone our way: the target's price and the
 * maker's fee in place of the stop's. Zero for every other fill. A run's profit lies between its result less the sum of what
 * could be worse, and its result plus the sum of these.
 */
export function couldBeBetterBy(fill: SimFill, fees: Fees, at: Instrument): Units {
  const { price, quantity, bestPrice } = fill;
  if (bestPrice === undefined) return noUnits;
  return plus(between(bestPrice, price, quantity, at), lessFee(fill, { price: bestPrice, maker: true }, fees, at));
}

/** What a target's fill would have brought less, in quote, if its stop had come first; zero but where a chosen path decided. */
export function couldBeWorseBy(fill: SimFill, fees: Fees, at: Instrument): Units {
  const { price, quantity, worstPrice } = fill;
  if (worstPrice === undefined) return noUnits;
  return minus(between(worstPrice, price, quantity, at), lessFee(fill, { price: worstPrice, maker: false }, fees, at));
}

const between = (a: Ticks, b: Ticks, quantity: Lots, at: Instrument): Units =>
  absolute(minus(notional(a, quantity, at), notional(b, quantity, at)));

/** How much less the fee of the other fill would be. */
function lessFee(fill: SimFill, other: Pick<SimFill, 'price' | 'maker'>, fees: Fees, at: Instrument): Units {
  const rates = ratesOf(fees, at.symbol, noUnits);
  return minus(feeOf(fill, rates, 'quote', at).fee, feeOf({ ...fill, ...other }, rates, 'quote', at).fee);
}
