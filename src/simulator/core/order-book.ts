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

/** The numbers of an order, side by side: the orders before and behind it at its price, and the price. All are slots. */
const older = 0;
const newer = 1;
const level = 2;
const linksEach = 3;
/** The numbers of a price: its first and its last order. */
const oldest = 0;
const newest = 1;
const endsEach = 2;

class BookSide {
  readonly #sign: 1 | -1;
  readonly #prices = new PriceLevels();
  #ends = new Int32Array(64);
  readonly #slots = new Slots();
  /** By slot, which the order knows as its `place`. */
  readonly #orders: (SimOrder | undefined)[] = [undefined];
  #links = new Int32Array(64);

  constructor(side: Side) {
    this.#sign = side === 'BUY' ? 1 : -1;
  }

  add(order: SimOrder): void {
    const slot = this.#slots.take();
    const price = this.#prices.slotOf(priceNumber(order.price, inSteps) * this.#sign);
    this.#orders[slot] = order;
    order.place = slot;
    this.#links = reaching(slot * linksEach + level, this.#links);
    this.#ends = reaching(price * endsEach + newest, this.#ends);
    const last = this.#ends[price * endsEach + newest] as number;
    this.#links[slot * linksEach + level] = price;
    this.#join(last, slot, price);
    this.#join(slot, none, price);
  }

  remove(order: SimOrder): void {
    const { place } = order;
    if (place === undefined) return;
    const price = this.#links[place * linksEach + level] as number;
    this.#join(this.#links[place * linksEach + older] as number, this.#behind(place), price);
    this.#orders[place] = undefined;
    order.place = undefined;
    this.#slots.free(place);
    if (this.#ends[price * endsEach + oldest] === none) this.#prices.drop(price);
  }

  /** The order that is first in line: the oldest at the best price. */
  best(): SimOrder | undefined {
    return this.#firstAt(this.#prices.best());
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
    return this.#orders[this.#ends[price * endsEach + oldest] as number];
  }

  #behind(slot: number): number {
    return this.#links[slot * linksEach + newer] as number;
  }

  /** Makes two orders at a price neighbours; `none` stands for its ends. */
  #join(before: number, behind: number, price: number): void {
    if (before === none) this.#ends[price * endsEach + oldest] = behind;
    else this.#links[before * linksEach + newer] = behind;
    if (behind === none) this.#ends[price * endsEach + newest] = before;
    else this.#links[behind * linksEach + older] = before;
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
