/** A strategy's position in one symbol, from its own fills alone (never from the account's balance). */
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
import type { Fill, Purpose } from './order.ts';

export interface Position {
  /** Base asset held, less fees taken in it; negative when short. */
  readonly base: Units;
  /** Cost of the held base in quote, without fees; when short, the negative proceeds. */
  readonly cost: Units;
  /** Realised profit in quote, without fees. */
  readonly realised: Units;
  /** Fees so far, in quote; those taken in base are valued at their fill's price. */
  readonly fees: Units;
}

export const noPosition: Position = { base: noUnits, cost: noUnits, realised: noUnits, fees: noUnits };

/** Why a position was closed: by its strategy's signal, or by what protects it. */
export type ExitReason = 'signal' | 'stop' | 'takeProfit' | 'time';

/** The end of a position. */
export interface Exit {
  /** UTC ms of the fill that closed it. */
  readonly time: number;
  /** The price of that fill, in quote. */
  readonly price: number;
  /** Of the whole position from its entry on, in quote, fees taken. */
  readonly profit: number;
  readonly reason: ExitReason;
}

/** How the reasons of orders begin that leave because of the time. */
export const timeExit = 'time exit';

/** By the purpose of the order that closed it, and its reason. */
export function exitReason(purpose: Purpose, reason = ''): ExitReason {
  if (purpose === 'takeProfit') return purpose;
  if (purpose !== 'stop') return 'signal';
  return reason.startsWith(timeExit) ? 'time' : 'stop';
}

/** The changes of base and quote by a fill, with its fee. */
interface Movement {
  readonly base: Units;
  readonly quote: Units;
  /** The fee in quote. */
  readonly feeValue: Units;
  readonly gross: Units;
}

export function movementOf(
  fill: Pick<Fill, 'side' | 'price' | 'quantity' | 'fee' | 'feeAsset'>,
  instrument: Instrument,
): Movement {
  const gross = notional(fill.price, fill.quantity, instrument);
  const quantity = baseUnits(fill.quantity, instrument);
  const feeInBase = fill.feeAsset === instrument.base;
  const baseFee = feeInBase ? fill.fee : noUnits;
  const quoteFee = fill.feeAsset === instrument.quote ? fill.fee : noUnits;
  return {
    base: minus(fill.side === 'BUY' ? quantity : negate(quantity), baseFee),
    quote: minus(fill.side === 'BUY' ? negate(gross) : gross, quoteFee),
    feeValue: feeInBase ? worth(fill.fee, fill.price, instrument) : quoteFee,
    gross,
  };
}

/** The position after a fill. Closing reduces the cost in proportion; crossing zero closes everything and opens the rest. */
export function afterFill(held: Position, fill: Fill, instrument: Instrument): Position {
  const moved = movementOf(fill, instrument);
  const fees = plus(held.fees, moved.feeValue);
  const base = plus(held.base, moved.base);
  // A fee in base reduces the base. Its value counts as a fee, so it must not stay in the cost as well.
  const gross = fill.side === 'BUY' ? moved.gross : negate(moved.gross);
  const value = fill.feeAsset === instrument.base ? minus(gross, moved.feeValue) : gross;
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
 * True for a position below a lot or the exchange's minimum order, which cannot be closed. Fees in base and purchases by amount leave such
 * remainders. Its value is its cost, not the last price: a remainder must not become a position as prices move.
 */
export function isBelowMinimum({ base, cost }: Position, instrument: Instrument): boolean {
  const held = lotsIn(absolute(base), instrument);
  return held === noLots || held < instrument.minQuantity || absolute(cost) < instrument.minNotional;
}

/** Unrealised profit at a price, in quote, without fees. */
export const openProfit = (held: Position, price: Ticks, instrument: Instrument): Units =>
  minus(worth(held.base, price, instrument), held.cost);

/** Closed profit less fees, in quote. */
export const earnedOf = ({ realised, fees }: Position): Units => minus(realised, fees);
