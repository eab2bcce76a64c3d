/** What one strategy holds of one symbol, from its own fills alone (never from the account's balance). */
import type { Instrument } from './instrument.ts';
import {
  absolute,
  baseUnits,
  lotsIn,
  minus,
  negate,
  noLots,
  notional,
  noUnits,
  plus,
  shareOf,
  type Ticks,
  type Units,
  worth,
} from './money.ts';
import type { Fill } from './order.ts';

export interface Position {
  /** Base asset held, fees taken in it already gone; negative when short. */
  readonly base: Units;
  /** What the held base cost in quote, fees left out; negative when short (what it brought in). */
  readonly cost: Units;
  /** Profit of what was closed, in quote, fees left out. */
  readonly realised: Units;
  /** Fees so far, in quote; those taken in base are valued at their fill's price. */
  readonly fees: Units;
}

export const noPosition: Position = { base: noUnits, cost: noUnits, realised: noUnits, fees: noUnits };

/** What a fill moves: base and quote of the account, the fee already taken from the asset it is charged in. */
export interface Movement {
  readonly base: Units;
  readonly quote: Units;
  /** The fee in quote. */
  readonly feeValue: Units;
  readonly gross: Units;
}

export function movementOf(
  fill: Pick<Fill, 'side' | 'price' | 'quantity' | 'fee' | 'feeAsset'>,
  at: Instrument,
): Movement {
  const gross = notional(fill.price, fill.quantity, at);
  const quantity = baseUnits(fill.quantity, at);
  const feeInBase = fill.feeAsset === at.base;
  const baseFee = feeInBase ? fill.fee : noUnits;
  const quoteFee = fill.feeAsset === at.quote ? fill.fee : noUnits;
  return {
    base: minus(fill.side === 'BUY' ? quantity : negate(quantity), baseFee),
    quote: minus(fill.side === 'BUY' ? negate(gross) : gross, quoteFee),
    feeValue: feeInBase ? worth(fill.fee, fill.price, at) : quoteFee,
    gross,
  };
}

/** The position after a fill. Closing takes cost away in proportion; crossing zero closes everything and opens the rest. */
export function afterFill(held: Position, fill: Fill, at: Instrument): Position {
  const moved = movementOf(fill, at);
  const fees = plus(held.fees, moved.feeValue);
  const base = plus(held.base, moved.base);
  // A fee taken in base leaves less of it: its value counts as a fee, so it must not stay in the cost as well.
  const gross = fill.side === 'BUY' ? moved.gross : negate(moved.gross);
  const value = fill.feeAsset === at.base ? minus(gross, moved.feeValue) : gross;
  const adds = held.base === 0n || held.base > 0n === moved.base > 0n;
  if (adds) return { base, cost: plus(held.cost, value), realised: held.realised, fees };
  const crosses = base !== 0n && base > 0n !== held.base > 0n;
  if (!crosses) {
    const closedCost = shareOf(held.cost, negate(moved.base), held.base);
    return { base, cost: minus(held.cost, closedCost), realised: minus(held.realised, plus(value, closedCost)), fees };
  }
  const openedValue = shareOf(value, base, moved.base);
  const closedValue = minus(value, openedValue);
  return { base, cost: openedValue, realised: minus(held.realised, plus(closedValue, held.cost)), fees };
}

/**
 * True of what nobody can order away: less than a lot or the exchange's minimum, or what cost less than an order may be worth. Fees in base
 * and purchases for an amount leave such rests. By its cost, not by the last price, since a rest must not become a position as prices move.
 */
export function isRest({ base, cost }: Position, at: Instrument): boolean {
  const held = lotsIn(absolute(base), at);
  return held === noLots || held < at.minQuantity || absolute(cost) < at.minNotional;
}

/** Unrealised profit at a price, in quote, fees left out. */
export const openProfit = (held: Position, price: Ticks, at: Instrument): Units =>
  minus(worth(held.base, price, at), held.cost);
