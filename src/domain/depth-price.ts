/** What an order would pay on average, by a displayed depth. */
import type { Instrument } from './instrument.ts';
import type { Level, Side } from './market.ts';
import {
  type Lots,
  lotsOf,
  min,
  minus,
  notional,
  noUnits,
  plus,
  quantityNumber,
  type Ticks,
  ticksOf,
  unitsNumber,
} from './money.ts';

/** The price of a level for an order that takes it: rounded against the order. */
export const levelTicks = (price: number, side: Side, at: Instrument): Ticks =>
  ticksOf(price, at, side === 'BUY' ? 'up' : 'down');

/** `levels`: of the other side, the best first. Undefined where they are less than the order. */
export function averagePrice(levels: readonly Level[], side: Side, size: Lots, at: Instrument): number | undefined {
  let left = size;
  let value = noUnits;
  for (const [price, quantity] of levels) {
    const taken = min(lotsOf(quantity, at), left);
    value = plus(value, notional(levelTicks(price, side, at), taken, at));
    left = minus(left, taken);
    if (left === 0n) return unitsNumber(value) / quantityNumber(size, at);
  }
  return undefined;
}
