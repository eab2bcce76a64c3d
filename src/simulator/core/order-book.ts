/** The users' resting orders of one symbol, by price, then by time. */
import type { Side } from '../../domain/market.ts';
import { type Lots, noLots, plus, priceNumber, type Ticks } from '../../domain/money.ts';
import { remaining, type SimOrder } from './order.ts';

/** The resting orders at one price, the oldest first. */
export interface PriceLevel {
  readonly price: Ticks;
  readonly orders: SimOrder[];
}

/** Reads a price as its whole steps. */
const inSteps = { pricePrecision: 0, quantityPrecision: 0 };

class BookSide {
  readonly #sign: 1 | -1;
  /** Ranks of the prices that have orders, ascending: the best price is last. */
  readonly #ranks: number[] = [];
  readonly #levels = new Map<number, PriceLevel>();

  constructor(side: Side) {
    this.#sign = side === 'BUY' ? 1 : -1;
  }

  add(order: SimOrder): void {
    const rank = this.#rankOf(order);
    const level = this.#levels.get(rank);
    if (level !== undefined) {
      level.orders.push(order);
      return;
    }
    this.#levels.set(rank, { price: order.price, orders: [order] });
    this.#ranks.splice(this.#indexOf(rank), 0, rank);
  }

  remove(order: SimOrder): void {
    const rank = this.#rankOf(order);
    const level = this.#levels.get(rank);
    const index = level?.orders.indexOf(order) ?? -1;
    if (level === undefined || index < 0) return;
    level.orders.splice(index, 1);
    if (level.orders.length > 0) return;
    this.#levels.delete(rank);
    this.#ranks.splice(this.#indexOf(rank), 1);
  }

  /** The first order in the queue: the oldest at the best price. */
  best(): SimOrder | undefined {
    return this.bestLevel()?.orders[0];
  }

  bestLevel(): PriceLevel | undefined {
    return this.#levels.get(this.#ranks[this.#ranks.length - 1] ?? Number.NaN);
  }

  /** The best first, without copying; the side must not change meanwhile. */
  *levels(): Generator<PriceLevel> {
    for (let index = this.#ranks.length - 1; index >= 0; index--)
      yield this.#levels.get(this.#ranks[index] as number) as PriceLevel;
  }

  /** Higher for a better price. */
  #rankOf({ price }: SimOrder): number {
    return priceNumber(price, inSteps) * this.#sign;
  }

  /** Index of the first rank that is not below `rank`. */
  #indexOf(rank: number): number {
    let low = 0;
    let high = this.#ranks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranks[middle] as number) < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What is left of the orders of a level. */
export const quantityAt = (orders: readonly SimOrder[]): Lots =>
  orders.reduce((sum, order) => plus(sum, remaining(order)), noLots);

export class OrderBook {
  readonly #bids = new BookSide('BUY');
  readonly #asks = new BookSide('SELL');

  side(side: Side): BookSide {
    return side === 'BUY' ? this.#bids : this.#asks;
  }
}
