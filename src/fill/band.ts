/** How much the order of events inside ambiguous klines could matter (fill-engine §2.2). */
import type { Instrument } from '../domain/instrument.ts';
import { absolute, minus, notional, noUnits, plus, type Units } from '../domain/money.ts';
import { feeOf, ratesOf } from './fees.ts';
import type { SimFill } from './orders.ts';
import type { Fees } from './rules.ts';

/**
 * What a fill would have brought more, in quote, if its ambiguous kline had gone our way: the target's price and the
 * maker's fee in place of the stop's. Zero for every other fill. A run's profit lies between its result (the pessimistic
 * end) and its result plus the sum of these.
 */
export function couldBeBetterBy(fill: SimFill, fees: Fees, at: Instrument): Units {
  const { price, quantity, bestPrice } = fill;
  if (bestPrice === undefined) return noUnits;
  const gained = absolute(minus(notional(bestPrice, quantity, at), notional(price, quantity, at)));
  const rates = ratesOf(fees, at.symbol, noUnits);
  const best = feeOf({ ...fill, price: bestPrice, maker: true }, rates, 'quote', at).fee;
  return plus(gained, minus(feeOf(fill, rates, 'quote', at).fee, best));
}
