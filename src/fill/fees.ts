/** What a fill costs in fees. */
import type { Instrument } from '../domain/instrument.ts';
import { baseUnits, feeOn, notional, type Units } from '../domain/money.ts';
import type { SimFill } from './orders.ts';
import type { Fees, Rules } from './rules.ts';

/**
 * The fee of a fill and its asset, rounded up to 8 decimals (fill-engine §2.1.8): from the received asset (base for a BUY,
 * quote for a SELL), or in quote for rulesets that say so. `value` is price × quantity, for those who know it.
 */
export function feeOf(
  fill: Pick<SimFill, 'side' | 'price' | 'quantity' | 'maker'>,
  fees: Fees,
  feeIn: Rules['feeIn'],
  at: Instrument,
  value: Units = notional(fill.price, fill.quantity, at),
): { readonly fee: Units; readonly feeAsset: string } {
  const feeRate = fill.maker ? fees.maker : fees.taker;
  return fill.side === 'BUY' && feeIn === 'received'
    ? { fee: feeOn(baseUnits(fill.quantity, at), feeRate), feeAsset: at.base }
    : { fee: feeOn(value, feeRate), feeAsset: at.quote };
}
