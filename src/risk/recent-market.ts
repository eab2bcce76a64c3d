/** Recent depth and prices, for rules that need more than the last price. */
import type { Depth } from '../domain/market.ts';
import type { SeenBook } from './context.ts';

/** The lowest and highest price of a stretch of time. */
interface Stretch {
  readonly from: number;
  low: number;
  high: number;
}

/** Stretches that the period consists of: it is exact to a sixtieth. */
const stretches = 60;

export class Markets {
  readonly #stretchMs: number;
  readonly #moveWindowMs: number;
  readonly #books = new Map<string, { readonly depth: Depth; readonly at: number }>();
  readonly #ways = new Map<string, Stretch[]>();

  /** `moveWindowMs`: over how long price moves are measured, ms of the clock. */
  constructor(moveWindowMs: number) {
    this.#moveWindowMs = moveWindowMs;
    this.#stretchMs = Math.max(1, moveWindowMs / stretches);
  }

  /** Takes note of a book, at UTC ms. */
  seeBook(depth: Depth, at: number): void {
    this.#books.set(depth.symbol, { depth, at });
  }

  /** Takes note of a price, at UTC ms. */
  seePrice(symbol: string, price: number, at: number): void {
    const way = this.#ways.get(symbol) ?? [];
    this.#ways.set(symbol, way);
    const from = Math.floor(at / this.#stretchMs) * this.#stretchMs;
    const last = way.at(-1);
    if (last?.from === from) {
      last.low = Math.min(last.low, price);
      last.high = Math.max(last.high, price);
      return;
    }
    way.push({ from, low: price, high: price });
    while (way.length > stretches + 1) way.shift();
  }

  book(symbol: string, now: number): SeenBook | undefined {
    const seen = this.#books.get(symbol);
    return seen === undefined
      ? undefined
      : { bids: seen.depth.bids, asks: seen.depth.asks, ageMs: Math.max(0, now - seen.at) };
  }

  /** The distance of the highest from the lowest price of the period, as a fraction of the lowest; undefined before the first price. */
  moved(symbol: string, now: number): number | undefined {
    let low = Number.POSITIVE_INFINITY;
    let high = 0;
    for (const stretch of this.#ways.get(symbol) ?? []) {
      if (stretch.from + this.#stretchMs <= now - this.#moveWindowMs) continue;
      low = Math.min(low, stretch.low);
      high = Math.max(high, stretch.high);
    }
    return high === 0 || low === 0 ? undefined : high / low - 1;
  }
}
