/** The position of a fast run, as `Place` and `Portfolio` count it: lots held, and amounts in steps of the scale. */

import type { Instrument } from '../../domain/instrument.ts';
import { lotsOfSafe, notional, plus, safeNumber, ticksOfSafe, type Units, unitsOfSafe } from '../../domain/money.ts';
import { safe } from '../../domain/safe-integers.ts';
import type { GuardedPlace } from '../../portfolio/guard.ts';
import type { Holding } from '../../strategy/contract.ts';
import type { KlineCursor } from '../engine/klines/kline-cursor.ts';
import type { Supported } from './supported.ts';

export class FastPosition implements Holding, GuardedPlace {
  readonly strategy: string;
  readonly instrument: Instrument;
  readonly #allocation: number;
  readonly #minNotional: number;
  readonly #decimals: number;
  readonly #cursor: KlineCursor;
  lots = 0;
  version = 0;
  entries = 0;
  enteredAt = Number.NaN;
  #cost = 0;
  #realised = 0;
  #fees = 0;

  constructor({ hosted, at, allocation, minNotional, scale }: Supported, cursor: KlineCursor) {
    this.strategy = hosted.id;
    this.instrument = at;
    this.#allocation = allocation;
    this.#minNotional = minNotional;
    this.#decimals = scale.decimals;
    this.#cursor = cursor;
  }

  get isFlat(): boolean {
    return this.lots === 0;
  }

  get isLong(): boolean {
    return this.lots > 0;
  }

  /** Closed profit less fees and what is held at cost: how much more than at the start there is to spend. */
  get free(): number {
    return this.#realised - this.#fees - this.#cost;
  }

  /** Books a purchase, or a sale of everything, at UTC ms; false when an amount is not exact any more, or the position is below the minimum. */
  book(lots: number, value: number, fee: number, time: number): boolean {
    const held = this.lots;
    if (lots > 0) this.#cost += value;
    else {
      this.#realised += value - this.#cost;
      this.#cost = 0;
    }
    this.#fees += fee;
    this.lots += lots;
    this.version++;
    if (held === 0 || this.lots === 0) {
      this.entries++;
      this.enteredAt = time;
    }
    if (this.lots > 0 && this.#cost < this.#minNotional) return false;
    // Every amount that is reckoned with is at most a sum of these.
    return !Number.isNaN(safe(this.#allocation + Math.abs(this.#realised) + this.#fees + this.#cost));
  }

  /** The equity at a last price in ticks. */
  equityAt(ticks: number): Units {
    const closed = unitsOfSafe(this.#allocation + this.free, this.#decimals);
    return plus(closed, notional(ticksOfSafe(ticks), lotsOfSafe(this.lots), this.instrument));
  }

  /** The equity at a price of 0: what `quantity` × price comes on top of. */
  get fixed(): number {
    return safeNumber(this.#allocation + this.free, this.#decimals);
  }

  // What the strategy sees, with the last bit of `Portfolio.holding`.
  get quantity(): number {
    return safeNumber(this.lots, this.instrument.quantityPrecision);
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
