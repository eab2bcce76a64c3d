/** One side of the displayed depth, less the quantity that our orders have taken. The recording stays unchanged. */
import type { Instrument } from '../domain/instrument.ts';
import type { Level, Side } from '../domain/market.ts';
import {
  type Lots,
  lotsFor,
  lotsOf,
  min,
  minus,
  noLots,
  notional,
  plus,
  priceFor,
  type Rate,
  type Ticks,
  type Units,
  worsened,
} from '../domain/money.ts';

/** The part of a MARKET or crossing order that one level filled. */
export interface TakenLevel {
  readonly price: Ticks;
  readonly quantity: Lots;
  /** What the level displayed, base quantity; 0 beyond the book. */
  readonly displayed: number;
}

/** The size of an order: base lots, or as much as an amount of quote buys. */
export type RequestedSize = { readonly lots: Lots } | { readonly amount: Units };

interface Consumed {
  readonly displayed: number;
  lots: Lots;
}

export class BookSide {
  /** Levels that are displayed, best first. */
  count = 0;
  prices = new Float64Array(32);
  quantities = new Float64Array(32);
  readonly #at: Instrument;
  /** The side of those who take from it. */
  readonly #taker: Side;
  readonly #consumed = new Map<number, Consumed>();

  constructor(taker: Side, at: Instrument) {
    this.#taker = taker;
    this.#at = at;
  }

  /** The best price; NaN of an empty side. */
  get best(): number {
    return this.count === 0 ? Number.NaN : (this.prices[0] as number);
  }

  show(levels: readonly Level[]): void {
    this.begin(levels.length);
    for (let at = 0; at < levels.length; at++) {
      const level = levels[at] as Level;
      this.prices[at] = level[0];
      this.quantities[at] = level[1];
    }
    this.shown();
  }

  /** Makes room for a book of so many levels, which the caller writes into `prices` and `quantities`; then comes `shown`. */
  begin(count: number): void {
    this.count = count;
    if (count <= this.prices.length) return;
    this.prices = new Float64Array(2 * count);
    this.quantities = new Float64Array(2 * count);
  }

  /** What we took from a level is forgotten once the level has changed: then it has been filled up, or what is gone is gone. */
  shown(): void {
    if (this.#consumed.size === 0) return;
    for (const [price, { displayed }] of this.#consumed)
      if (this.quantityAt(price) !== displayed) this.#consumed.delete(price);
  }

  /** What is displayed at a price: 0 between levels and of an empty side, undefined beyond the last one, where nobody knows. */
  quantityAt(price: number): number | undefined {
    const { count, prices } = this;
    const up = this.#taker === 'BUY';
    for (let at = 0; at < count; at++) {
      const level = prices[at] as number;
      if (level === price) return this.quantities[at] as number;
      if (up ? level > price : level < price) return 0;
    }
    return count === 0 ? 0 : undefined;
  }

  /** Takes what is wanted level by level down to `limit`; gives what is still wanted in lots, none where an amount buys no more. */
  take(wanted: RequestedSize, limit: number): { readonly taken: readonly TakenLevel[]; readonly rest: RequestedSize } {
    const taken: TakenLevel[] = [];
    const up = this.#taker === 'BUY';
    let rest = wanted;
    for (let at = 0; at < this.count; at++) {
      const level = this.prices[at] as number;
      if (up ? level > limit : level < limit) break;
      const displayed = this.quantities[at] as number;
      const price = priceFor(this.#taker, level, this.#at);
      const asked = this.#lots(rest, price);
      const quantity = min(asked, this.#free(level, displayed));
      if (quantity > 0n) {
        this.#consume(level, displayed, quantity);
        taken.push({ price, quantity, displayed });
        rest = this.#less(rest, quantity, price);
      }
      // Of an amount there may be left what buys less than a lot; it buys less at worse prices.
      if (quantity === asked) return { taken, rest: 'amount' in rest ? { lots: noLots } : rest };
    }
    return { taken, rest };
  }

  /** What the book cannot fill, at its last level made worse; undefined of an empty side, or when it buys nothing. */
  beyond(rest: RequestedSize, by: Rate): TakenLevel | undefined {
    if (this.count === 0) return undefined;
    const last = priceFor(this.#taker, this.prices[this.count - 1] as number, this.#at);
    const price = worsened(this.#taker, last, by);
    const quantity = this.#lots(rest, price);
    return quantity > 0n ? { price, quantity, displayed: 0 } : undefined;
  }

  #lots(wanted: RequestedSize, price: Ticks): Lots {
    return 'lots' in wanted ? wanted.lots : lotsFor(wanted.amount, price, this.#at);
  }

  #less(wanted: RequestedSize, quantity: Lots, price: Ticks): RequestedSize {
    return 'lots' in wanted
      ? { lots: minus(wanted.lots, quantity) }
      : { amount: minus(wanted.amount, notional(price, quantity, this.#at)) };
  }

  #free(level: number, displayed: number): Lots {
    const shown = lotsOf(displayed, this.#at, 'down');
    const consumed = this.#consumed.get(level);
    return consumed === undefined ? shown : minus(shown, consumed.lots);
  }

  #consume(level: number, displayed: number, quantity: Lots): void {
    const consumed = this.#consumed.get(level);
    if (consumed === undefined) this.#consumed.set(level, { displayed, lots: quantity });
    else consumed.lots = plus(consumed.lots, quantity);
  }
}
