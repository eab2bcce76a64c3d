/** What a strategy of several markets says at one moment. */
import type { Signal } from '../../domain/order.ts';

/** Its signals by the index of the market. One object for many moments: made anew at each, it would cost as much as asking. */
export class Said {
  /** The markets that have a signal, in the order in which they were given one. */
  readonly markets: number[] = [];
  readonly #signals: (Signal | undefined)[];

  constructor(markets: number) {
    this.#signals = Array.from({ length: markets });
  }

  /** Nothing is said yet. */
  begin(): this {
    for (const index of this.markets) this.#signals[index] = undefined;
    this.markets.length = 0;
    return this;
  }

  set(index: number, signal: Signal): void {
    this.#signals[index] = signal;
    this.markets.push(index);
  }

  /** Undefined for a market about which nothing is said. */
  signal(index: number): Signal | undefined {
    return this.#signals[index];
  }
}
