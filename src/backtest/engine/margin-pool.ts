/** The margin account of one strategy: what it owes, and at which prices it is liquidated. Its markets are one account. */
import {
  absolute,
  greatest,
  minus,
  negate,
  noUnits,
  part,
  plus,
  type Rate,
  ruinPrice,
  type Ticks,
  type Units,
  worth,
} from '../../domain/money.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { Place } from '../../portfolio/positions.ts';

/** What was owed at most since interest was charged last. */
export interface Owed {
  most: Units;
  /** UTC ms. */
  chargedAt: number;
  /** The balance after the last fill, and when that was, UTC ms. */
  balance: Units;
  filledAt: number;
}

export const nothingOwed = (at: number): Owed => ({
  ...{ most: noUnits, chargedAt: at },
  ...{ balance: noUnits, filledAt: Number.NaN },
});

/** Counts a balance as owed where it is below zero. */
export function owe(owed: Owed, balance: Units): void {
  owed.balance = balance;
  owed.most = mostOf(owed);
}

/** The same after a fill, UTC ms, of several markets: what the sales of one moment pay of its purchases is never owed. */
export function oweAfter(owed: Owed, balance: Units, filledAt: number): void {
  if (filledAt !== owed.filledAt) owed.most = mostOf(owed);
  owed.balance = balance;
  owed.filledAt = filledAt;
}

export const mostOf = ({ most, balance }: Owed): Units => greatest(most, negate(balance));

/** How many periods of interest ended until `at`, UTC ms; they count as charged. */
export function periodsUntil(at: number, owed: Owed, everyMs: number): number {
  if (at <= owed.chargedAt) return 0;
  const periods = Math.floor(at / everyMs) - Math.floor(owed.chargedAt / everyMs);
  owed.chargedAt = at;
  return periods;
}

/** When interest falls due next, UTC ms; infinity where nothing is owed. */
export const dueAt = (owed: Owed, everyMs: number): number =>
  mostOf(owed) > 0n ? (Math.floor(owed.chargedAt / everyMs) + 1) * everyMs : Number.POSITIVE_INFINITY;

/** Whether another market of the strategy has a position: then its price decides, too. */
export const hasOthers = (place: Place): boolean => place.pool.places.some((one) => one !== place && !one.isFlat);

/**
 * The price of a market at and beyond which its strategy's equity is below a fraction of all its positions, the others at their last prices;
 * undefined where there is none.
 */
export function ruinOf(portfolio: Portfolio, place: Place, fraction: Rate): Ticks | undefined {
  let { cash } = place.pool;
  for (const one of place.pool.places) if (one !== place) cash = plus(cash, supportOf(portfolio, one, fraction));
  return ruinPrice(place.position.base, cash, fraction, place.instrument);
}

/** What a position adds to the equity beyond what has to be left of it. Remainders count at their cost: their price is not followed. */
function supportOf(
  portfolio: Portfolio,
  { position: { base, cost }, instrument, isFlat }: Place,
  fraction: Rate,
): Units {
  if (isFlat) return cost;
  const price = portfolio.markTicks(instrument.symbol);
  const value = price === undefined ? cost : worth(base, price, instrument);
  return minus(value, part(absolute(value), fraction, 'up'));
}
