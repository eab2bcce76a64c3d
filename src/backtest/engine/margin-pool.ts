/** The margin account of one strategy: what it owes, and at which prices it is liquidated. Its markets are one account. */
import {
  absolute,
  max,
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
import type { SubAccount } from '../../portfolio/sub-account.ts';

/** What was owed at most since interest was charged last. */
export interface Owed {
  maxOwed: Units;
  /** UTC ms. */
  chargedAt: number;
  /** The balance after the last fill, and when that was, UTC ms. */
  balance: Units;
  filledAt: number;
}

export const nothingOwed = (at: number): Owed => ({
  ...{ maxOwed: noUnits, chargedAt: at },
  ...{ balance: noUnits, filledAt: Number.NaN },
});

/** Counts a balance as owed where it is below zero. */
export function owe(owed: Owed, balance: Units): void {
  owed.balance = balance;
  owed.maxOwed = maxOwedOf(owed);
}

/** The same after a fill, UTC ms, of several markets: what the sales of one moment pay of its purchases is never owed. */
export function oweAfter(owed: Owed, balance: Units, filledAt: number): void {
  if (filledAt !== owed.filledAt) owed.maxOwed = maxOwedOf(owed);
  owed.balance = balance;
  owed.filledAt = filledAt;
}

export const maxOwedOf = ({ maxOwed, balance }: Owed): Units => max(maxOwed, negate(balance));

/** How many periods of interest ended until `at`, UTC ms; they count as charged. */
export function periodsUntil(at: number, owed: Owed, everyMs: number): number {
  if (at <= owed.chargedAt) return 0;
  const periods = Math.floor(at / everyMs) - Math.floor(owed.chargedAt / everyMs);
  owed.chargedAt = at;
  return periods;
}

/** When interest falls due next, UTC ms; infinity where nothing is owed. */
export const dueAt = (owed: Owed, everyMs: number): number =>
  maxOwedOf(owed) > 0n ? (Math.floor(owed.chargedAt / everyMs) + 1) * everyMs : Number.POSITIVE_INFINITY;

/** Whether another market of the strategy has a position: then its price decides, too. */
export const hasOthers = (subAccount: SubAccount): boolean =>
  subAccount.pool.subAccounts.some((one) => one !== subAccount && !one.isFlat);

/**
 * The price of a market at and beyond which its strategy's equity is below a fraction of all its positions, the others at their last prices;
 * undefined where there is none.
 */
export function ruinOf(portfolio: Portfolio, subAccount: SubAccount, fraction: Rate): Ticks | undefined {
  let { cash } = subAccount.pool;
  for (const one of subAccount.pool.subAccounts)
    if (one !== subAccount) cash = plus(cash, supportOf(portfolio, one, fraction));
  return ruinPrice(subAccount.position.base, cash, fraction, subAccount.instrument);
}

/** What a position adds to the equity beyond what has to be left of it. Remainders count at their cost: their price is not followed. */
function supportOf(
  portfolio: Portfolio,
  { position: { base, cost }, instrument, isFlat }: SubAccount,
  fraction: Rate,
): Units {
  if (isFlat) return cost;
  const price = portfolio.markTicks(instrument.symbol);
  const value = price === undefined ? cost : worth(base, price, instrument);
  return minus(value, part(absolute(value), fraction, 'up'));
}
