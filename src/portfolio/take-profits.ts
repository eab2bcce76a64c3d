/**
 * The take-profits of a target: resting LIMIT orders, each for a share of the target's quantity. They are taken from the nearest to the furthest,
 * so what was sold so far says which of them are done, after a restart as well.
 */
import { type Instrument, orderLots, orderPrice } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  absolute,
  type Lots,
  lotsIn,
  max,
  min,
  minus,
  noLots,
  partOfLots,
  plus,
  type Rate,
  rateOf,
  type Ticks,
  type Units,
} from '../domain/money.ts';
import type { Resting } from './working-order.ts';

export interface TakeProfit {
  readonly at: Ticks;
  /** Of the target's quantity; undefined: all that is left. */
  readonly share: Rate | undefined;
}

export const noTakeProfits: readonly TakeProfit[] = [];

/** Shares that add up to this, or more, are all: ten times 0.1 is less than 1 in numbers. */
const whole = 1 - 1e-9;

/** Several of a position that orders of this side leave, the nearest first. The last of shares that add up to 1 takes all that is left. */
export function partsOf(
  side: Side,
  parts: readonly { readonly at: Ticks; readonly share: number }[],
): readonly TakeProfit[] {
  const closes = parts.reduce((sum, { share }) => sum + share, 0) >= whole;
  // Levels of different kinds may come to the same price; those stay in the order of the list.
  const sorted = parts.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at === (side === 'SELL') ? -1 : 1));
  return sorted.map(({ at, share }, index, { length }) => ({
    at,
    share: closes && index === length - 1 ? undefined : rateOf(share),
  }));
}

/** What a take-profit sells of a target of so many lots; undefined: all that is left. */
const lotsOf = ({ share }: TakeProfit, targetLots: Lots, at: Instrument): Lots | undefined =>
  share === undefined ? undefined : orderLots(partOfLots(absolute(targetLots), share), at);

/** The orders of what is left of them. One below the exchange's minimum is added to the next, the last to the one before. */
export function takeProfitOrders(
  levels: readonly TakeProfit[],
  targetLots: Lots,
  taken: Lots,
  { held, instrument: at }: { readonly held: Units; readonly instrument: Instrument },
  terms: Pick<Resting, 'tolerance' | 'reason'> & { readonly canRest: (one: Resting) => boolean },
): readonly Resting[] {
  const side: Side = held > 0n ? 'SELL' : 'BUY';
  let [left, done, carried] = [orderLots(lotsIn(absolute(held), at), at), taken, noLots];
  const orders: Resting[] = [];
  const { reason, tolerance } = terms;
  for (const level of levels) {
    const all = lotsOf(level, targetLots, at);
    const open = all === undefined ? left : min(left, max(minus(all, done), noLots));
    done = all === undefined ? noLots : max(minus(done, all), noLots);
    left = minus(left, open);
    const lots = plus(open, carried);
    const price = orderPrice(side, level.at, at);
    const order: Resting = {
      ...{ side, price, lots, purpose: 'takeProfit', reason },
      tolerance: all === undefined ? tolerance : noLots,
    };
    carried = lots;
    if (lots === 0n || !terms.canRest(order)) continue;
    orders.push(order);
    carried = noLots;
  }
  const last = orders.at(-1);
  return carried === 0n || last === undefined || levels.at(-1)?.share !== undefined
    ? orders
    : [...orders.slice(0, -1), { ...last, lots: plus(last.lots, carried), tolerance }];
}

/** True once what was taken includes some of the last of them, which closes the position. */
export function isLastTaken(levels: readonly TakeProfit[], targetLots: Lots, taken: Lots, at: Instrument): boolean {
  const last = levels.at(-1);
  if (last === undefined) return true;
  if (last.share !== undefined) return false;
  if (levels.length === 1) return true;
  return taken > levels.reduce((sum, level) => plus(sum, lotsOf(level, targetLots, at) ?? noLots), noLots);
}
