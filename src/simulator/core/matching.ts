/**
 * Price-time matching of one symbol, against users' resting orders and against the displayed book as one. At one price the
 * displayed size that an order found before it comes first, then the order, then displayed size that came later.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { opposite, type Side } from '../../domain/market.ts';
import { type Lots, lotsFor, max, min, minus, noLots, plus, type Ticks } from '../../domain/money.ts';
import { Displayed, type DisplayedBook, type DisplayedLevel } from './displayed-depth.ts';
import { type Print, remaining, type SimOrder } from './order.ts';
import { OrderBook, type PriceLevel, quantityAt } from './order-book.ts';

/** One match. A missing side is the market of the displayed depth or the recorded prints. */
export interface Match {
  readonly taker: SimOrder | undefined;
  readonly maker: SimOrder | undefined;
  /** The taker's side. */
  readonly side: Side;
  readonly price: Ticks;
  readonly quantity: Lots;
}

const isBetter = (side: Side, a: Ticks, b: Ticks): boolean => (side === 'BUY' ? a > b : a < b);

export class Matching {
  readonly instrument: Instrument;
  readonly book = new OrderBook();
  readonly displayed = new Displayed();
  /** Carries out a match: moves the money and changes the orders, before matching goes on. */
  readonly #clear: (match: Match) => void;

  /** Gets each resting order whose queue position changed without a fill. */
  readonly #queueMoved: (order: SimOrder) => void;

  constructor(instrument: Instrument, clear: (match: Match) => void, queueMoved: (order: SimOrder) => void) {
    this.instrument = instrument;
    this.#clear = clear;
    this.#queueMoved = queueMoved;
  }

  /** Fills an incoming order as far as the depth goes; the rest of it rests only when `rest` is called. */
  take(taker: SimOrder): void {
    const counter = opposite(taker.side);
    for (;;) {
      const maker = this.book.side(counter).best();
      const shown = this.displayed.best(counter);
      const price = this.#best(counter, maker?.price, shown?.price);
      if (price === undefined) return;
      if (taker.type === 'LIMIT' && isBetter(taker.side, price, taker.price)) return;
      const quantity = this.#quantityAt(taker, price);
      if (quantity <= 0n) return;
      if (maker?.price === price) this.#takeOrder(taker, maker, quantity);
      else if (shown !== undefined) this.#takeShown(taker, price, min(quantity, shown.quantity));
    }
  }

  /** True when a MARKET BUY could still buy a lot with what it has left: it ended for want of sellers, not of money. */
  couldBuyMore(taker: SimOrder): boolean {
    const best = this.#bestPrice('SELL');
    return best === undefined || this.#quantityAt(taker, best) > 0n;
  }

  hasCounterSide(side: Side): boolean {
    return this.#bestPrice(opposite(side)) !== undefined;
  }

  rest(order: SimOrder): void {
    order.queueAhead = this.displayed.queueAt(order.side, order.price);
    this.book.side(order.side).add(order);
  }

  remove(order: SimOrder): void {
    this.book.side(order.side).remove(order);
  }

  /** A print of the market meets resting orders: through their price it fills them, at it only behind the displayed queue. */
  print(print: Print): void {
    const side = opposite(print.side);
    let left = print.quantity;
    for (let maker = this.book.side(side).best(); maker !== undefined && left > 0n; ) {
      if (isBetter(side, print.price, maker.price)) return;
      if (maker.price === print.price) {
        this.#printAt(side, maker.price, left);
        return;
      }
      const quantity = min(left, remaining(maker));
      this.#match(undefined, maker, print.side, maker.price, quantity);
      left = minus(left, quantity);
      maker = this.book.side(side).best();
    }
  }

  /** A new displayed book: resting orders that it crosses fill at their own price, and no queue is longer than it shows. */
  show(book: DisplayedBook): void {
    this.displayed.update(book);
    for (const side of ['BUY', 'SELL'] as const) {
      this.#cross(side);
      this.#shortenQueues(side);
    }
  }

  /** The best `count` levels of a side: what is left of the displayed market, and the users' resting orders, added up by price. */
  depth(side: Side, count: number): DisplayedLevel[] {
    const merged: DisplayedLevel[] = [];
    const users = this.book.side(side).levels();
    let user = users.next();
    const push = ({ price, orders }: PriceLevel): void => {
      merged.push({ price, quantity: quantityAt(orders) });
      user = users.next();
    };
    for (const { price } of this.displayed.levels(side)) {
      while (user.done !== true && isBetter(side, user.value.price, price)) push(user.value);
      const shown = this.displayed.available(side, price);
      if (user.done !== true && user.value.price === price) {
        merged.push({ price, quantity: plus(shown, quantityAt(user.value.orders)) });
        user = users.next();
      } else if (shown > 0n) merged.push({ price, quantity: shown });
      if (merged.length >= count) return merged.slice(0, count);
    }
    while (user.done !== true && merged.length < count) push(user.value);
    return merged.slice(0, count);
  }

  #best(side: Side, a: Ticks | undefined, b: Ticks | undefined): Ticks | undefined {
    if (a === undefined || b === undefined) return a ?? b;
    return isBetter(side, b, a) ? b : a;
  }

  #bestPrice(side: Side): Ticks | undefined {
    return this.#best(side, this.book.side(side).best()?.price, this.displayed.best(side)?.price);
  }

  #quantityAt(taker: SimOrder, price: Ticks): Lots {
    const byAmount = taker.type === 'MARKET' && taker.side === 'BUY';
    return byAmount ? lotsFor(taker.locked, price, this.instrument) : remaining(taker);
  }

  #takeOrder(taker: SimOrder, maker: SimOrder, most: Lots): void {
    const { price, side } = maker;
    const ahead = min(maker.queueAhead, this.displayed.available(side, price));
    if (ahead > 0n) {
      const quantity = min(most, ahead);
      this.#takeShown(taker, price, quantity);
      this.#eatQueues(side, price, quantity);
      return;
    }
    this.#match(taker, maker, taker.side, price, min(most, remaining(maker)));
  }

  #takeShown(taker: SimOrder, price: Ticks, quantity: Lots): void {
    this.displayed.take(opposite(taker.side), price, quantity);
    this.#match(taker, undefined, taker.side, price, quantity);
  }

  /** A print at the best price of a side's resting orders. */
  #printAt(side: Side, price: Ticks, printed: Lots): void {
    let left = printed;
    let eaten = noLots;
    // A copy: orders leave the level when they are filled.
    for (const order of [...(this.book.side(side).bestLevel()?.orders ?? [])]) {
      const ahead = minus(order.queueAhead, eaten);
      if (ahead > 0n) {
        const queue = min(ahead, left);
        eaten = plus(eaten, queue);
        left = minus(left, queue);
      }
      if (left <= 0n) break;
      const quantity = min(left, remaining(order));
      this.#match(undefined, order, opposite(side), price, quantity);
      left = minus(left, quantity);
    }
    this.#eatQueues(side, price, eaten);
  }

  #cross(side: Side): void {
    const counter = opposite(side);
    for (;;) {
      const maker = this.book.side(side).best();
      const shown = this.displayed.best(counter);
      if (maker === undefined || shown === undefined || isBetter(side, shown.price, maker.price)) return;
      const quantity = min(shown.quantity, remaining(maker));
      this.displayed.take(counter, shown.price, quantity);
      this.#match(undefined, maker, counter, maker.price, quantity);
    }
  }

  #shortenQueues(side: Side): void {
    for (const level of this.book.side(side).levels()) {
      const queue = this.displayed.queueAt(side, level.price);
      for (const order of level.orders) this.#setQueue(order, min(order.queueAhead, queue));
      const shown = this.displayed.levels(side);
      const last = shown[shown.length - 1];
      if (last === undefined || isBetter(side, last.price, level.price)) return;
    }
  }

  /** Moves the orders at the best price up, where any are left. */
  #eatQueues(side: Side, price: Ticks, eaten: Lots): void {
    const level = this.book.side(side).bestLevel();
    if (level?.price !== price) return;
    for (const order of level.orders) this.#setQueue(order, max(noLots, minus(order.queueAhead, eaten)));
  }

  #setQueue(order: SimOrder, queue: Lots): void {
    if (order.queueAhead === queue) return;
    order.queueAhead = queue;
    this.#queueMoved(order);
  }

  #match(taker: SimOrder | undefined, maker: SimOrder | undefined, side: Side, price: Ticks, quantity: Lots): void {
    this.#clear({ taker, maker, side, price, quantity });
    if (maker !== undefined && maker.executed === maker.quantity) this.book.side(maker.side).remove(maker);
  }
}
