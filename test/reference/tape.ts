/**
 * Fills on trades and books, written from the rules alone, slowly: decimals, whole lists, nothing remembered that
 * can be looked up. It imports nothing of src/.
 */
import { Decimal } from 'decimal.js';

export type Levels = readonly (readonly [price: string, size: string])[];

export type TapeEvent =
  | {
      readonly kind: 'trade';
      readonly time: number;
      readonly side: 'BUY' | 'SELL';
      readonly price: string;
      readonly size: string;
    }
  | { readonly kind: 'book'; readonly time: number; readonly bids: Levels; readonly asks: Levels }
  | { readonly kind: 'cancel'; readonly time: number; readonly id: string }
  | {
      readonly kind: 'order';
      readonly time: number;
      readonly id: string;
      readonly side: 'BUY' | 'SELL';
      readonly lots?: string;
      readonly amount?: string;
      /** Makes it a LIMIT order. */
      readonly price?: string;
    };

export interface TapeFill {
  readonly id: string;
  readonly price: string;
  readonly quantity: string;
  readonly maker: boolean;
}

export interface TapeRules {
  readonly tick: string;
  readonly lot: string;
  readonly slippage: string;
  readonly beyondDepth: string;
  readonly maxDepthAgeMs: number;
  readonly staleAfterMs: number;
  /** What usually trades in a day, and from which part of that on an order that takes by prints moves its price. */
  readonly usual: { readonly volume: string; readonly deviation: string; readonly from: string } | null;
}

interface Order {
  readonly given: Extract<TapeEvent, { kind: 'order' }>;
  left: Decimal;
  queue: Decimal | undefined;
  readonly lastBefore: Decimal | undefined;
}

type Side = 'BUY' | 'SELL';

/** Every fill, in its order. */
export function tapeReference(events: readonly TapeEvent[], rules: TapeRules): readonly TapeFill[] {
  const exchange = new Exchange(rules);
  for (const event of events) {
    if (event.kind === 'trade') exchange.prints(event);
    else if (event.kind === 'book') exchange.shows(event);
    else if (event.kind === 'order') exchange.arrives(event);
    else exchange.open = exchange.open.filter(({ given }) => given.id !== event.id);
  }
  return exchange.fills;
}

class Exchange {
  readonly fills: TapeFill[] = [];
  open: Order[] = [];
  bids: readonly (readonly [Decimal, Decimal])[] = [];
  asks: readonly (readonly [Decimal, Decimal])[] = [];
  bookAt = Number.NEGATIVE_INFINITY;
  taken: { readonly side: Side; readonly price: Decimal; readonly size: Decimal; readonly quantity: Decimal }[] = [];
  readonly last: Partial<Record<Side, { readonly price: Decimal; readonly time: number }>> = {};
  readonly rules: TapeRules;

  constructor(rules: TapeRules) {
    this.rules = rules;
  }

  steps(value: Decimal, step: string, up: boolean): Decimal {
    return value
      .div(step)
      .toDecimalPlaces(0, up ? Decimal.ROUND_CEIL : Decimal.ROUND_FLOOR)
      .times(step);
  }

  worse(side: Side, price: Decimal, by: string): Decimal {
    const factor = side === 'BUY' ? new Decimal(1).plus(by) : new Decimal(1).minus(by);
    return this.steps(price.times(factor), this.rules.tick, side === 'BUY');
  }

  within(side: Side, price: Decimal, limit: string | Decimal | undefined): boolean {
    return limit === undefined || (side === 'BUY' ? price.lte(limit) : price.gte(limit));
  }

  isYoung(time: number): boolean {
    return time - this.bookAt <= this.rules.maxDepthAgeMs;
  }

  /** What an order that takes by prints pays for its size. */
  sized(side: Side, price: Decimal, quantity: Decimal): Decimal {
    const { usual } = this.rules;
    if (usual === null || quantity.div(usual.volume).lt(usual.from)) return price;
    const impact = quantity.div(usual.volume).sqrt().times(usual.deviation);
    return this.worse(side, price, impact.toDecimalPlaces(8, Decimal.ROUND_HALF_UP).toFixed());
  }

  fill(order: Order, price: Decimal, quantity: Decimal, maker: boolean): void {
    this.fills.push({ id: order.given.id, price: price.toFixed(), quantity: quantity.toFixed(), maker });
    if (order.given.amount === undefined) order.left = order.left.minus(quantity);
  }

  /** Walks what is displayed and not taken by us; gives what is still wanted. */
  walk(
    order: Order,
    maker: boolean,
    at: (level: Decimal) => Decimal,
  ): { readonly wanted: Decimal; readonly done: boolean } {
    const { side, price: limit, amount } = order.given;
    let wanted = amount === undefined ? order.left : new Decimal(amount);
    for (const [price, size] of side === 'BUY' ? this.asks : this.bids) {
      if (!this.within(side, price, limit)) break;
      const used = this.taken
        .filter((one) => one.side === side && one.price.eq(price))
        .reduce((sum, one) => sum.plus(one.quantity), new Decimal(0));
      const asked = amount === undefined ? wanted : this.steps(wanted.div(price), this.rules.lot, false);
      const quantity = Decimal.min(asked, size.minus(used));
      if (quantity.gt(0)) {
        this.taken.push({ side, price, size, quantity });
        this.fill(order, at(price), quantity, maker);
        wanted = amount === undefined ? wanted.minus(quantity) : wanted.minus(quantity.times(price));
      }
      if (quantity.eq(asked)) return { wanted, done: true };
    }
    return { wanted, done: wanted.lte(0) };
  }

  /** True when the order is over. */
  takesFromBook(order: Order): boolean {
    const { side, price: limit, amount } = order.given;
    const levels = side === 'BUY' ? this.asks : this.bids;
    const worst = levels.at(-1);
    if (worst === undefined) return false;
    const { wanted, done } = this.walk(order, false, (level) => level);
    if (limit !== undefined) return order.left.eq(0);
    if (!done) {
      const price = this.worse(side, worst[0], this.rules.beyondDepth);
      const quantity = amount === undefined ? wanted : this.steps(wanted.div(price), this.rules.lot, false);
      if (quantity.gt(0)) this.fill(order, price, quantity, false);
    }
    return true;
  }

  displayed(side: Side, limit: string): Decimal | undefined {
    const own = side === 'BUY' ? this.bids : this.asks;
    const level = own.find(([price]) => price.eq(limit));
    if (level !== undefined) return level[1];
    const deepest = own.at(-1);
    if (deepest === undefined) return new Decimal(0);
    return this.within(side, deepest[0], limit) && !deepest[0].eq(limit) ? new Decimal(0) : undefined;
  }

  arrives(given: Order['given']): void {
    const { side, time, lots, price: limit } = given;
    const order: Order = { given, left: new Decimal(lots ?? 0), queue: undefined, lastBefore: this.last[side]?.price };
    const before = this.last[side];
    if (this.isYoung(time)) {
      if (this.takesFromBook(order)) return;
    } else if (limit !== undefined && before !== undefined && time - before.time <= this.rules.staleAfterMs) {
      const price = this.worse(side, before.price, this.rules.slippage);
      if (this.within(side, price, limit)) {
        const paid = this.sized(side, price, order.left);
        this.fill(order, this.within(side, paid, limit) ? paid : new Decimal(limit), order.left, false);
        return;
      }
    }
    if (limit !== undefined && this.isYoung(time)) order.queue = this.displayed(side, limit);
    this.open.push(order);
  }

  prints(trade: Extract<TapeEvent, { kind: 'trade' }>): void {
    const price = new Decimal(trade.price);
    let size = new Decimal(trade.size);
    this.open = this.open.filter((order) => {
      const { side, price: limit, amount } = order.given;
      if (limit === undefined) {
        if (side !== trade.side) return true;
        const before = order.lastBefore ?? price;
        const small = this.worse(
          side,
          side === 'BUY' ? Decimal.max(before, price) : Decimal.min(before, price),
          this.rules.slippage,
        );
        const quantityAt = (each: Decimal): Decimal =>
          amount === undefined ? order.left : this.steps(new Decimal(amount).div(each), this.rules.lot, false);
        const paid = this.sized(side, small, quantityAt(small));
        const quantity = quantityAt(paid);
        if (quantity.gt(0)) this.fill(order, paid, quantity, false);
        return false;
      }
      if (side === trade.side || !this.within(side, price, limit)) return true;
      let granted: Decimal;
      if (!price.eq(limit)) {
        granted = size;
        if (this.isYoung(trade.time)) order.queue = new Decimal(0);
      } else if (order.queue === undefined || !this.isYoung(trade.time)) return true;
      else {
        granted = Decimal.max(0, size.minus(order.queue));
        order.queue = Decimal.max(0, order.queue.minus(size));
      }
      const quantity = Decimal.min(order.left, granted);
      if (quantity.gt(0)) {
        this.fill(order, new Decimal(limit), quantity, true);
        size = size.minus(quantity);
      }
      return order.left.gt(0);
    });
    this.last[trade.side] = { price, time: trade.time };
  }

  shows(book: Extract<TapeEvent, { kind: 'book' }>): void {
    const decimals = (levels: Levels) =>
      levels.map(([price, size]) => [new Decimal(price), new Decimal(size)] as const);
    [this.bids, this.asks, this.bookAt] = [decimals(book.bids), decimals(book.asks), book.time];
    this.taken = this.taken.filter(({ side, price, size }) =>
      (side === 'BUY' ? this.asks : this.bids).some(([level, now]) => level.eq(price) && now.eq(size)),
    );
    this.open = this.open.filter((order) => {
      const { side, price: limit } = order.given;
      if (limit === undefined) return !this.takesFromBook(order);
      const now = this.displayed(side, limit);
      if (now !== undefined) order.queue = order.queue === undefined ? now : Decimal.min(order.queue, now);
      this.walk(order, true, () => new Decimal(limit));
      return order.left.gt(0);
    });
  }
}
