/** The size of a target in lots. */
import { orderLots } from '../domain/instrument.ts';
import {
  absolute,
  greatest,
  type Lots,
  lessFee,
  lotsFor,
  lotsOf,
  negate,
  noLots,
  noRate,
  part,
  type Rate,
  rateOf,
  ticksOf,
  type Units,
  unitsOf,
} from '../domain/money.ts';
import type { Target } from '../domain/order.ts';
import type { Situation } from './plan.ts';

/** How a share of equity becomes a quantity. */
export interface Sizing {
  /** The rate of the fee that the share pays, too. */
  readonly fee: Rate;
  /** An entry at market is ordered as an amount, and what it buys is the size from then on. */
  readonly atFill: boolean;
}
const bySharePrice: Sizing = { fee: noRate, atFill: false };

/** The size of a target in lots, at the price and equity of the moment of the signal. Spot cannot be short. */
export function sizeInLots(
  target: Target,
  equity: Units,
  situation: Pick<Situation, 'account' | 'instrument' | 'price'>,
  { fee }: Sizing = bySharePrice,
): Lots {
  const { size } = target;
  const at = situation.instrument;
  const exact = (): Lots => {
    if ('quantity' in size) return size.quantity < 0 ? negate(lotsOf(-size.quantity, at)) : lotsOf(size.quantity, at);
    const price = ticksOf(situation.price, at, 'up');
    const share = 'share' in size ? part(equity, rateOf(size.share), 'down') : unitsOf(size.amount);
    const amount = absolute(share);
    const lots = lotsFor('share' in size ? lessFee(amount, fee) : amount, price, at);
    return share < 0n ? negate(lots) : lots;
  };
  const lots = orderLots(exact(), at);
  return situation.account === 'spot' ? greatest(lots, noLots) : lots;
}
