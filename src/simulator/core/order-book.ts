/**
 * The users' resting orders of one symbol, by price, then by time. Finding a price costs log of the number of prices; joining
 * and leaving a price that is there costs nothing that grows. Who stands before and behind whom is in arrays of numbers.
 */
import type { Side } from '../../domain/market.ts';
import { type Lots, noLots, plus, priceNumber } from '../../domain/money.ts';
import { type PriceLevel, remaining, type SimOrder } from './order.ts';
import { PriceLevels } from './price-levels.ts';
import { none, reaching, Slots } from './slots.ts';

/** Reads a price as its whole steps. */
const inSteps = { pricePrecision: 0, quantityPrecision: 0 };

/** The numbers of an order, side by side: the slots of those before and behind it at its price, and the price's rank. */
const older = 0;
const newer = 1;
const rank = 2;
/** One of them is spare: then they lie in one line of the processor's cache. */
const linksEach = 4;

class BookSide {
  readonly #sign: 1 | -1;
  readonly #prices = new PriceLevels();
  readonly #slots = new Slots();
  /** By slot, which the order knows as its `place`. */
  readonly #orders: (SimOrder | undefined)[] = [undefined];
  #links = new Float64Array(64);

  constructor(side: Side) {
    this.#sign = side === 'BUY' ? 1 : -1;
  }

  add(order: SimOrder): void {
    const slot = this.#slots.take();
    const at = slot * linksEach;
    this.#orders[slot] = order;
    order.place = slot;
    this.#links = reaching(at + linksEach, this.#links);
    this.#links[at + rank] = priceNumber(order.price, inSteps) * this.#sign;
    const price = this.#prices.placeOf(this.#links[at + rank] as number);
    const last = this.#prices.newest(price);
    this.#links[at + older] = last;
    this.#links[at + newer] = none;
    this.#prices.setNewest(price, slot);
    if (last === none) this.#prices.setOldest(price, slot);
    else this.#links[last * linksEach + newer] = slot;
  }

  remove(order: SimOrder): void {
    const { place } = order;
    if (place === undefined) return;
    const before = this.#links[place * linksEach + older] as number;
    const behind = this.#behind(place);
    if (before !== none) this.#links[before * linksEach + newer] = behind;
    if (behind !== none) this.#links[behind * linksEach + older] = before;
    if (before === none || behind === none)
      this.#moveEnd(this.#links[place * linksEach + rank] as number, before, behind);
    this.#orders[place] = undefined;
    order.place = undefined;
    this.#slots.free(place);
  }

  /** The order that is first in line: the oldest at the best price. */
  best(): SimOrder | undefined {
    const price = this.#prices.best();
    return price === undefined ? undefined : this.#firstAt(price);
  }

  /** A resting order and those behind it at its price, the oldest first; the one just given may leave meanwhile. */
  *line(first: SimOrder): Generator<SimOrder> {
    let order: SimOrder | undefined = first;
    while (order?.place !== undefined) {
      const behind: SimOrder | undefined = this.#orders[this.#behind(order.place)];
      yield order;
      order = behind;
    }
  }

  /** The best first, without copying; the side must not change meanwhile. */
  *levels(): Generator<PriceLevel> {
    for (const price of this.#prices.all()) {
      const first = this.#firstAt(price);
      if (first !== undefined) yield { price: first.price, orders: this.line(first) };
    }
  }

  #firstAt(price: number): SimOrder | undefined {
    return this.#orders[this.#prices.oldest(price)];
  }

  #behind(slot: number): number {
    return this.#links[slot * linksEach + newer] as number;
  }

  /** The first, the last or the only order at a price has gone, which had these neighbours. */
  #moveEnd(priceRank: number, before: number, behind: number): void {
    if (before === none && behind === none) {
      this.#prices.drop(priceRank);
      return;
    }
    const price = this.#prices.placeOf(priceRank);
    if (before === none) this.#prices.setOldest(price, behind);
    else this.#prices.setNewest(price, before);
  }
}

/** What the orders of a level still want: added up when it is asked for, which is seldomer than orders come and go. */
export function quantityAt({ orders }: PriceLevel): Lots {
  let sum = noLots;
  for (const order of orders) sum = plus(sum, remaining(order));
  return sum;
}

export class OrderBook {
  readonly #bids = new BookSide('BUY');
  readonly #asks = new BookSide('SELL');

  side(side: Side): BookSide {
    return side === 'BUY' ? this.#bids : this.#asks;
  }

  /** The levels of a side, the best first, without copying. */
  levels(side: Side): Generator<PriceLevel> {
    return this.side(side).levels();
  }

  isEmpty(side: Side): boolean {
    return this.side(side).best() === undefined;
  }
}
