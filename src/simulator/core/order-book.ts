/** The users' resting orders of one symbol, by price, then by time. Adding and finding a price cost log of the number of prices. */
import type { Side } from '../../domain/market.ts';
import { type Lots, minus, noLots, type Precision, plus, priceNumber, type Ticks } from '../../domain/money.ts';
import { remaining, type SimOrder } from './order.ts';

/** The orders at one price, the oldest first: a Set keeps that order and removes in constant time. */
export interface PriceLevel {
  readonly price: Ticks;
  /** The price as a number, higher for better: comparing and hashing whole steps costs ten times as much. */
  readonly rank: number;
  readonly orders: Set<SimOrder>;
  /** Sum of what the orders still want. */
  quantity: Lots;
}

class BookSide {
  /** The best price last, so that it comes and goes without moving the others. */
  readonly levels: PriceLevel[] = [];
  readonly #byRank = new Map<number, PriceLevel>();
  readonly #sign: 1 | -1;
  readonly #at: Precision;

  constructor(side: Side, at: Precision) {
    this.#sign = side === 'BUY' ? 1 : -1;
    this.#at = at;
  }

  add(order: SimOrder): void {
    const rank = this.#rankOf(order);
    let level = this.#byRank.get(rank);
    if (level === undefined) {
      level = { price: order.price, rank, orders: new Set(), quantity: noLots };
      this.#byRank.set(rank, level);
      this.levels.splice(this.#indexOf(rank), 0, level);
    }
    level.orders.add(order);
    level.quantity = plus(level.quantity, remaining(order));
  }

  /** Takes a fill of a resting order off its level, and the order itself once it wants nothing more. */
  reduce(order: SimOrder, quantity: Lots): void {
    const level = this.#byRank.get(this.#rankOf(order));
    if (level === undefined) return;
    level.quantity = minus(level.quantity, quantity);
    if (remaining(order) === 0n) this.#drop(level, order);
  }

  remove(order: SimOrder): void {
    const level = this.#byRank.get(this.#rankOf(order));
    if (level === undefined || !level.orders.has(order)) return;
    level.quantity = minus(level.quantity, remaining(order));
    this.#drop(level, order);
  }

  best(): PriceLevel | undefined {
    return this.levels[this.levels.length - 1];
  }

  #drop(level: PriceLevel, order: SimOrder): void {
    level.orders.delete(order);
    if (level.orders.size > 0) return;
    this.#byRank.delete(level.rank);
    this.levels.splice(this.#indexOf(level.rank), 1);
  }

  #rankOf(order: SimOrder): number {
    return priceNumber(order.price, this.#at) * this.#sign;
  }

  /** Where a rank stands, or would stand. */
  #indexOf(rank: number): number {
    let low = 0;
    let high = this.levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.levels[middle] as PriceLevel).rank < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class OrderBook {
  readonly #bids: BookSide;
  readonly #asks: BookSide;

  constructor(at: Precision) {
    this.#bids = new BookSide('BUY', at);
    this.#asks = new BookSide('SELL', at);
  }

  side(side: Side): BookSide {
    return side === 'BUY' ? this.#bids : this.#asks;
  }

  /** The levels of a side, the best first, without copying. */
  *levels(side: Side): Generator<PriceLevel> {
    const { levels } = this.side(side);
    for (let at = levels.length - 1; at >= 0; at--) yield levels[at] as PriceLevel;
  }

  isEmpty(side: Side): boolean {
    return this.side(side).levels.length === 0;
  }
}
