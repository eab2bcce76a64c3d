/** An order at the exchange while it waits or rests, as the fill engine on trades and books keeps it. */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { type Lots, minus, noLots, plus, priceNumber, type Ticks } from '../domain/money.ts';
import type { SimOrder } from './orders.ts';

export interface Working {
  readonly order: SimOrder;
  readonly arrivedAt: number;
  /** The last print of its own side before it arrived: a MARKET order fills no better than that. NaN without one. */
  readonly before: number;
  /** A LIMIT's price, and the price that a print must reach to have gone through it; NaN for a MARKET order. */
  readonly limit: number;
  readonly through: number;
  executed: Lots;
  remaining: Lots;
  /** Base quantity of others before it at its price; infinite while nobody knows. */
  front: number;
  /** What its level displayed at the last book, and what prints have taken from it since. */
  displayed: number;
  printed: number;
}

/** An order as it arrives at UTC ms `at`; `before` is the last print of its own side. */
export function arrived(order: SimOrder, at: number, executed: Lots, before: number, instrument: Instrument): Working {
  const isBuy = order.side === 'BUY';
  const limit = order.type === 'LIMIT' ? limitOf(order) : undefined;
  const through = limit === undefined ? undefined : isBuy ? minus(limit, oneTick) : plus(limit, oneTick);
  return {
    order,
    arrivedAt: at,
    before,
    limit: limit === undefined ? Number.NaN : priceNumber(limit, instrument),
    through: through === undefined ? Number.NaN : priceNumber(through, instrument),
    executed,
    remaining: 'lots' in order.volume ? minus(order.volume.lots, executed) : noLots,
    front: Number.POSITIVE_INFINITY,
    displayed: 0,
    printed: 0,
  };
}

/** A LIMIT's price; that it has one was checked when it was accepted. */
export function limitOf(order: SimOrder): Ticks {
  if (order.price === undefined) throw new Error(`LIMIT order ${order.clientOrderId} has no price`);
  return order.price;
}

/** From which prices on prints can matter to any of these orders: SELLs down from the first, BUYs up from the second. */
export function reachablePrices(working: readonly Working[]): readonly [sellsFrom: number, buysFrom: number] {
  let [sells, buys] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { order, limit } of working) {
    const isMarket = order.type === 'MARKET';
    if (order.side === 'BUY') {
      if (isMarket) buys = Number.NEGATIVE_INFINITY;
      else sells = Math.max(sells, limit);
    } else if (isMarket) sells = Number.POSITIVE_INFINITY;
    else buys = Math.min(buys, limit);
  }
  return [sells, buys];
}

const oneTick = 1n as Ticks;

/** By what a resting order was filled: a print through its price, one at it beyond its queue, or a touch that chance let count. */
export const ruleOf = (isThrough: boolean, isKnown: boolean, isYoung: boolean): string =>
  isThrough
    ? isYoung
      ? 'depth-through'
      : 'trade-through'
    : !isKnown
      ? 'trade-touch'
      : isYoung
        ? 'depth-queue'
        : 'trade-queue';

/** An order that waits or rests, as another engine can go on with it. */
export interface Left {
  readonly order: SimOrder;
  readonly executed: Lots;
}

/** Trades as columns: UTC ms, prices, and 1 or -1 for a taker that bought or sold. */
export interface PrintColumns {
  readonly time: Float64Array;
  readonly price: Float64Array;
  readonly side: Float64Array;
}

/** A print as numbers: a loop over columns makes no object for each. */
export interface Print {
  readonly side: Side;
  readonly price: number;
  readonly time: number;
  readonly seq: number;
  /** What of it is left for our next order. */
  size: Lots;
  readonly whole: number;
}
