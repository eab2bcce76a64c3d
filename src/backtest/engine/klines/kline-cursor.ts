/** One kline object for every row of a series, so that a row that is not read costs no object. */
import { closeTime, intervalMs } from '../../../domain/interval.ts';
import type { Columns, Kline } from '../../../domain/market.ts';
import type { RunSeries } from '../../run.ts';

/**
 * So many klines are frozen, the first that are made: a strategy that writes on one, which others see, too, does so from the start, and
 * freezing takes longer than making.
 */
const frozenKlines = 1_000;

export class KlineCursor implements Kline {
  row = 0;
  readonly symbol: string;
  readonly interval: Kline['interval'];
  readonly #columns: Columns;
  /** NaN for months. */
  readonly #lengthMs: number;
  readonly #seenAt: ((row: number) => number) | undefined;
  #made: Kline | undefined;
  #madeAt = -1;
  #count = 0;

  /** `seenAt` says when a row was known, UTC ms, where that is not when it closed. */
  constructor({ symbol, interval, columns }: RunSeries, seenAt?: (row: number) => number) {
    this.symbol = symbol;
    this.interval = interval;
    this.#columns = columns;
    this.#lengthMs = interval === '1month' ? Number.NaN : intervalMs(interval, 0);
    this.#seenAt = seenAt;
  }

  get openTime(): number {
    return this.#columns.openTime[this.row] as number;
  }
  get open(): number {
    return this.#columns.open[this.row] as number;
  }
  get high(): number {
    return this.#columns.high[this.row] as number;
  }
  get low(): number {
    return this.#columns.low[this.row] as number;
  }
  get close(): number {
    return this.#columns.close[this.row] as number;
  }
  get volume(): number {
    return this.#columns.volume[this.row] as number;
  }
  /** The row's kline, one object that a strategy may keep, compare with later ones and copy, as live; made only where it is looked at. */
  get kline(): Kline {
    if (this.row !== this.#madeAt || this.#made === undefined) {
      const { symbol, interval, openTime, open, high, low, close, volume, seenAt } = this;
      this.#madeAt = this.row;
      this.#made = { symbol, interval, openTime, open, high, low, close, volume, seenAt };
      if (this.#count++ < frozenKlines) Object.freeze(this.#made);
    }
    return this.#made;
  }
  /** Recorded klines are known the moment they close. */
  get seenAt(): number {
    return this.#seenAt === undefined ? this.closeOf(this.row) : this.#seenAt(this.row);
  }
  /** UTC ms. */
  closeOf(row: number): number {
    const openTime = this.#columns.openTime[row] as number;
    // Asked for at each row that is looked at.
    return Number.isNaN(this.#lengthMs) ? closeTime(this.interval, openTime) : openTime + this.#lengthMs;
  }
}
