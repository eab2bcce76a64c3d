/** One kline object that stands for any row of a series: a loop over columns makes no object for each row. */
import { closeTime } from '../../domain/interval.ts';
import type { Columns, Kline } from '../../domain/market.ts';
import type { RunSeries } from './run.ts';

export class KlineCursor implements Kline {
  row = 0;
  readonly symbol: string;
  readonly interval: Kline['interval'];
  readonly #columns: Columns;
  readonly #seenAt: ((row: number) => number) | undefined;

  /** `seenAt` says when a row was known, UTC ms, where that is not when it closed. */
  constructor({ symbol, interval, columns }: RunSeries, seenAt?: (row: number) => number) {
    this.symbol = symbol;
    this.interval = interval;
    this.#columns = columns;
    this.#seenAt = seenAt;
    // Its own, so that a copy ({ ...kline }) holds what one of a live kline does.
    Object.defineProperties(this, own);
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
  /** Recorded klines are known the moment they close. */
  get seenAt(): number {
    return this.#seenAt === undefined ? this.closeOf(this.row) : this.#seenAt(this.row);
  }
  /** UTC ms. */
  closeOf(row: number): number {
    return closeTime(this.interval, this.#columns.openTime[row] as number);
  }
}

const names = ['openTime', 'open', 'high', 'low', 'close', 'volume', 'seenAt'] as const;
const own: PropertyDescriptorMap = Object.fromEntries(
  names.map((name) => [name, { ...Object.getOwnPropertyDescriptor(KlineCursor.prototype, name), enumerable: true }]),
);
