/**
 * The book that the market displays, less what users have already taken from it. Recorded data cannot react to us, so
 * taken size stays taken until the displayed size at that price changes.
 */
import type { Side } from '../../domain/market.ts';
import { type Lots, max, min, minus, noLots, plus, type Ticks } from '../../domain/money.ts';

export interface DisplayedLevel {
  readonly price: Ticks;
  readonly quantity: Lots;
}

/** Both sides, best first. */
export interface DisplayedBook {
  readonly bids: readonly DisplayedLevel[];
  readonly asks: readonly DisplayedLevel[];
}

export const emptyBook: DisplayedBook = { bids: [], asks: [] };

interface Taken {
  readonly shown: Lots;
  readonly taken: Lots;
}

/** Stands for the queue at a price outside the displayed levels: longer than anything that could be displayed. */
export const unknownQueue = (2n ** 62n) as Lots;

export class Displayed {
  #book: DisplayedBook = emptyBook;
  readonly #taken = { BUY: new Map<Ticks, Taken>(), SELL: new Map<Ticks, Taken>() };

  /** Shows a new book; what was taken at a price is forgotten where the displayed size changed. */
  update(book: DisplayedBook): void {
    this.#book = book;
    for (const side of ['BUY', 'SELL'] as const) {
      for (const [price, { shown }] of this.#taken[side]) {
        if (this.#shown(side, price) !== shown) this.#taken[side].delete(price);
      }
    }
  }

  levels(side: Side): readonly DisplayedLevel[] {
    return side === 'BUY' ? this.#book.bids : this.#book.asks;
  }

  /** What is left to take at a price of that side's book. */
  available(side: Side, price: Ticks): Lots {
    return minus(this.#shown(side, price), this.#taken[side].get(price)?.taken ?? noLots);
  }

  /** The best level with anything left. */
  best(side: Side): DisplayedLevel | undefined {
    for (const level of this.levels(side)) {
      const quantity = this.#taken[side].size === 0 ? level.quantity : this.available(side, level.price);
      if (quantity > 0n) return { price: level.price, quantity };
    }
    return undefined;
  }

  take(side: Side, price: Ticks, quantity: Lots): void {
    const before = this.#taken[side].get(price);
    const shown = before?.shown ?? this.#shown(side, price);
    const taken = min(shown, plus(before?.taken ?? noLots, quantity));
    this.#taken[side].set(price, { shown, taken });
  }

  /**
   * How much stands before an order that joins its own side at this price: the displayed size, nothing inside the spread or
   * between displayed levels, and an unknown queue beyond the last level.
   */
  queueAt(side: Side, price: Ticks): Lots {
    const levels = this.levels(side);
    const last = levels[levels.length - 1];
    if (last === undefined) return noLots;
    const beyond = side === 'BUY' ? price < last.price : price > last.price;
    return beyond ? unknownQueue : max(noLots, this.available(side, price));
  }

  #shown(side: Side, price: Ticks): Lots {
    for (const level of this.levels(side)) if (level.price === price) return level.quantity;
    return noLots;
  }
}
