/** The size of a target in lots. */
import { orderLots } from '../domain/instrument.ts';
import {
  absolute,
  cut,
  type Lots,
  lessFee,
  lotsFor,
  lotsOf,
  max,
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
import type { Create, Situation } from './plan.ts';
import type { Standing } from './standing.ts';

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
  return situation.account === 'spot' ? max(lots, noLots) : lots;
}

/** An entry at market by a share of the equity becomes an order for its amount; other steps stay as they are. */
export function inAmount(standing: Standing, held: Units, step: Create, equity: () => Units): Create {
  const { leg, subAccount } = standing;
  const { side, type } = step.draft;
  const { signal } = leg;
  if (signal.kind !== 'target' || !('share' in signal.size) || held !== 0n || side !== 'BUY' || type !== 'MARKET')
    return step;
  const share = part(equity(), rateOf(signal.size.share), 'down');
  standing.byAmount = true;
  return {
    do: 'create',
    draft: { ...step.draft, volume: { amount: cut(share, subAccount.instrument.pricePrecision) } },
  };
}
