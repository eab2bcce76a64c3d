/** A margin account: what may be borrowed, what that costs, and at which price the exchange leaves a position. */
import { charge, Decimal, isFlat, type Order, owe, remaining, roundTo, type State } from './account.ts';
import { isBeyond, leaving, type Now } from './exchange.ts';
import type { Kline } from './types.ts';

/** The first price at which equity is less than the maintenance ratio of what is held; none where no price does that. */
export function ruinAt(state: State): Decimal | undefined {
  const { margin, instrument } = state.question;
  const { cash, base } = state;
  if (margin === undefined || isFlat(state)) return undefined;
  const tick = new Decimal(10).pow(-instrument.pricePrecision);
  if (base.gt(0)) {
    // cash + base p < m base p
    const p = cash.negated().div(base.times(new Decimal(1).minus(margin.maintenanceRatio)));
    const level = roundTo(p, instrument.pricePrecision, 'up').minus(tick);
    return level.gt(0) ? level : undefined;
  }
  const p = cash.div(base.negated().times(new Decimal(1).plus(margin.maintenanceRatio)));
  return Decimal.max(roundTo(p, instrument.pricePrecision, 'down').plus(tick), tick);
}

/** Which comes first in a kline, the stop or the ruin, where it can be told; the ruin where it cannot. */
export function firstOf(
  state: State,
  at: Now,
  stop: Decimal | undefined,
  ruin: Decimal | undefined,
): { readonly level: Decimal; readonly isRuin: boolean; readonly inDoubt: boolean } | undefined {
  const side = leaving(state);
  const own = stop === undefined ? undefined : { level: stop, isRuin: false, inDoubt: false };
  if (ruin === undefined || !isBeyond(side, side === 'SELL' ? at.low : at.high, ruin)) return own;
  const certain = { level: ruin, isRuin: true, inDoubt: false };
  const comesFirst = stop !== undefined && !isBeyond(side, stop, ruin);
  if (!comesFirst || isBeyond(side, at.open, ruin)) return certain;
  return isBeyond(side, at.open, stop) ? own : { ...certain, inDoubt: true };
}

/** Interest on the most that was owed since the last time, for every time that fell due. */
export function payInterest(state: State, time: number, kline: Kline): void {
  const { margin } = state.question;
  if (margin === undefined) return;
  const { owed } = state;
  const times = Math.floor(time / margin.interestEveryMs) - Math.floor(owed.chargedAt / margin.interestEveryMs);
  owed.chargedAt = time;
  if (times === 0) return;
  const on = (value: Decimal, rate: string): Decimal => roundTo(value.times(rate).times(times), 8, 'up');
  const { base, quote } = margin.interest;
  const sum = on(owed.quote, quote).plus(on(owed.base.times(kline.close), base));
  owed.quote = new Decimal(0);
  owed.base = new Decimal(0);
  charge(state, 'interest', time, sum);
  owe(state);
}

/** True for an order after which more would be held or short than the equity bears, all open ones of its side filled. */
export function isTooMuch(state: State, order: Order, last: Decimal, open: readonly Order[]): boolean {
  const { margin } = state.question;
  if (margin === undefined) return false;
  const { side } = order.row;
  const isAgainst = side === 'SELL' ? state.base.gt(0) : state.base.lt(0);
  // What an amount is meant to buy is known to whoever ordered it.
  if (isAgainst && order.meant.lte(state.base.abs())) return false;
  const worth = (one: Order): Decimal => one.amount ?? (one.price ?? last).times(remaining(one));
  const held = (side === 'BUY' ? state.base : state.base.negated()).times(order.price ?? last);
  const exposure = Decimal.sum(held, worth(order), ...open.filter(({ row }) => row.side === side).map(worth));
  const equity = Decimal.max(state.cash.plus(state.base.times(last)), 0);
  return exposure.gt(equity.times(margin.maxLeverage));
}
