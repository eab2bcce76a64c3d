/** The position of a fast run, as `Position` counts it: lots held, and amounts in steps of the scale. */

import type { Instrument } from '../../domain/instrument.ts';
import { lotsOfSafe, notional, plus, safeNumber, ticksOfSafe, type Units, unitsOfSafe } from '../../domain/money.ts';
import { type SafeScale, safe } from '../../domain/safe-integers.ts';
import type { Holding } from '../../strategy/contract.ts';
import type { KlineCursor } from '../engine/klines/kline-cursor.ts';

export class FastPosition implements Holding {
  readonly #allocation: number;
  readonly #at: Instrument;
  readonly #decimals: number;
  readonly #cursor: KlineCursor;
  lots = 0;
  #cost = 0;
  #realised = 0;
  #fees = 0;

  constructor(allocation: number, at: Instrument, { decimals }: SafeScale, cursor: KlineCursor) {
    this.#allocation = allocation;
    this.#at = at;
    this.#decimals = decimals;
    this.#cursor = cursor;
  }

  /** Closed profit less fees and what is held at cost: how much more than at the start there is to spend. */
  get free(): number {
    return this.#realised - this.#fees - this.#cost;
  }

  /** Books a purchase, or a sale of everything; false when an amount is not exact any more. */
  book(lots: number, value: number, fee: number): boolean {
    if (lots > 0) this.#cost += value;
    else {
      this.#realised += value - this.#cost;
      this.#cost = 0;
    }
    this.#fees += fee;
    this.lots += lots;
    // Every amount that is reckoned with is at most a sum of these.
    return !Number.isNaN(safe(this.#allocation + Math.abs(this.#realised) + this.#fees + this.#cost));
  }

  /** The equity at a last price in ticks. */
  equityAt(ticks: number): Units {
    const closed = unitsOfSafe(this.#allocation + this.free, this.#decimals);
    return plus(closed, notional(ticksOfSafe(ticks), lotsOfSafe(this.lots), this.#at));
  }

  /** The equity at a price of 0: what `quantity` × price comes on top of. */
  get fixed(): number {
    return safeNumber(this.#allocation + this.free, this.#decimals);
  }

  // What the strategy sees, with the last bit of `Portfolio.holding`.
  get quantity(): number {
    return safeNumber(this.lots, this.#at.quantityPrecision);
  }

  get entryPrice(): number {
    return this.lots === 0 ? Number.NaN : safeNumber(this.#cost, this.#decimals) / this.quantity;
  }

  get equity(): number {
    const closed = safeNumber(this.#allocation + this.#realised - this.#fees, this.#decimals);
    return this.lots === 0
      ? closed
      : closed + this.quantity * this.#cursor.close - safeNumber(this.#cost, this.#decimals);
  }
}
