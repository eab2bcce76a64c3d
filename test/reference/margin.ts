/** A margin account: what may be borrowed, what that costs, and at which price the exchange leaves a position. */
import {
  cashOf,
  charge,
  Decimal,
  equityAt,
  isFlat,
  type Order,
  openOrders,
  owe,
  remaining,
  roundTo,
  type State,
} from './account.ts';
import { isBeyond, leaving, type Now } from './exchange.ts';
import type { Kline, Side } from './types.ts';

/** The first price at which the equity of all markets is less than the maintenance ratio of all that is held; none where no price does that. */
export function ruinAt(state: State): Decimal | undefined {
  const { margin, instrument } = state.question;
  const { base, pool } = state;
  if (margin === undefined || isFlat(state)) return undefined;
  const tick = new Decimal(10).pow(-instrument.pricePrecision);
  // The others are worth what they were last, and so much of that has to be left.
  const spared = pool.filter((one) => one !== state).map((one) => supportOf(one, margin.maintenanceRatio));
  const money = Decimal.sum(cashOf(state), ...spared);
  if (base.gt(0)) {
    // money + base p < m base p
    const p = money.negated().div(base.times(new Decimal(1).minus(margin.maintenanceRatio)));
    const level = roundTo(p, instrument.pricePrecision, 'up').minus(tick);
    return level.gt(0) ? level : undefined;
  }
  const p = money.div(base.negated().times(new Decimal(1).plus(margin.maintenanceRatio)));
  return Decimal.max(roundTo(p, instrument.pricePrecision, 'down').plus(tick), tick);
}

/** What is too small to be ordered away counts at its cost. */
function supportOf(state: State, maintenanceRatio: string): Decimal {
  if (isFlat(state)) return state.cost;
  const worth = state.base.times(state.last);
  return worth.minus(worth.abs().times(maintenanceRatio));
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

/** Interest on the most that was owed since the last time, for every time that fell due. What all markets owe in quote is paid by the first to close. */
export function payInterest(state: State, time: number, kline: Kline): void {
  const { margin } = state.question;
  if (margin === undefined) return;
  const { owed } = state;
  const { money } = state.pool[0] as State;
  const timesSince = (before: number): number =>
    Math.floor(time / margin.interestEveryMs) - Math.floor(before / margin.interestEveryMs);
  const [ofQuote, ofBase] = [timesSince(money.chargedAt), timesSince(owed.chargedAt)];
  money.chargedAt = time;
  owed.chargedAt = time;
  const on = (value: Decimal, rate: string, times: number): Decimal => roundTo(value.times(rate).times(times), 8, 'up');
  const { base, quote } = margin.interest;
  const most = Decimal.max(0, ...money.balances.map(({ cash }) => cash.negated()));
  const sum = on(most, quote, ofQuote).plus(on(owed.base.times(kline.close), base, ofBase));
  if (ofQuote > 0) money.balances = [];
  if (ofBase > 0) owed.base = new Decimal(0);
  if (ofQuote + ofBase === 0) return;
  charge(state, 'interest', time, sum);
  owe(state, undefined);
}

/** True for an order after which more would be held or short in all markets than the equity bears, all open ones of its side filled. */
export function isTooMuch(state: State, { side, worth, price, meant }: Weighed, last: Decimal): boolean {
  const { margin } = state.question;
  if (margin === undefined) return false;
  const isAgainst = side === 'SELL' ? state.base.gt(0) : state.base.lt(0);
  // What an amount is meant to buy is known to whoever ordered it.
  if (isAgainst && meant.lte(state.base.abs())) return false;
  const others = state.pool.filter((one) => one !== state);
  const sides = (one: State): Decimal =>
    Decimal.max(...(['BUY', 'SELL'] as const).map((way) => exposureOf(one, way, one.last)));
  const exposure = Decimal.sum(exposureOf(state, side, price ?? last), worth, ...others.map(sides));
  return exposure.gt(Decimal.max(equityAt(state), 0).times(margin.maxLeverage));
}

/** An order to be judged. */
interface Weighed {
  readonly side: Side;
  /** In quote. */
  readonly worth: Decimal;
  readonly price: Decimal | undefined;
  readonly meant: Decimal;
}

/** What is held in the direction of a side, all open orders of that side filled. */
function exposureOf(state: State, side: Side, price: Decimal): Decimal {
  const worth = (one: Order): Decimal => one.amount ?? (one.price ?? price).times(remaining(one));
  const held = (side === 'BUY' ? state.base : state.base.negated()).times(price);
  return Decimal.sum(
    held,
    ...openOrders(state)
      .filter(({ row }) => row.side === side)
      .map(worth),
  );
}
