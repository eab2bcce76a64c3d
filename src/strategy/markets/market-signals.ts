/** The signals of a strategy of several markets at one moment. */
import type { Interval } from '../../domain/interval.ts';
import type { Signal } from '../../domain/order.ts';
import { SignalError } from '../fault.ts';
import { checked } from '../signals.ts';

/** Its signals by the index of the market. One object for many moments: made anew at each, it would cost as much as asking. */
export class MarketSignals {
  /** How many markets have a signal. */
  count = 0;
  /** Theirs come first, in the order in which they were given one. A list that is emptied and filled again would be allocated anew. */
  readonly #indexes: Int32Array;
  readonly #signals: (Signal | undefined)[];

  constructor(markets: number) {
    this.#indexes = new Int32Array(markets);
    this.#signals = Array.from({ length: markets });
  }

  /** Nothing is said yet. */
  begin(): this {
    for (let at = 0; at < this.count; at++) this.#signals[this.index(at)] = undefined;
    this.count = 0;
    return this;
  }

  set(index: number, signal: Signal): void {
    this.#signals[index] = signal;
    this.#indexes[this.count++] = index;
  }

  /** The market that was given the signal of this place. */
  index(at: number): number {
    return this.#indexes[at] as number;
  }

  /** Undefined for a market about which nothing is said. */
  signal(index: number): Signal | undefined {
    return this.#signals[index];
  }
}

/** As `checked`; an error names the leg. */
export function checkedLeg(role: string, signal: Signal, interval: Interval): Signal {
  try {
    return checked(signal, interval);
  } catch (error) {
    if (!(error instanceof SignalError)) throw error;
    const named = new SignalError(`the signal for ${role}: ${error.message}`);
    // Where the strategy made it.
    if (error.stack !== undefined) named.stack = error.stack;
    throw named;
  }
}
