/** The extremes of a position over the columns of a series: read on request, each row once. */
import type { Interval } from '../../../domain/interval.ts';
import { type Columns, rowAt } from '../../../domain/market.ts';
import type { Entry, Extremes, HeldKlines } from '../../../portfolio/held-klines.ts';
import type { KlineCursor } from './kline-cursor.ts';

/** The last row that a strategy sees. */
export type LastRow = Pick<KlineCursor, 'interval' | 'row' | 'close' | 'closeOf'>;

export class HeldColumns implements HeldKlines {
  readonly interval: Interval;
  readonly #columns: Columns;
  readonly #cursor: LastRow;
  /** The entry that the extremes are of, and the rows that they are of. */
  #entry = Number.NaN;
  #next = 0;
  readonly #extremes = { top: Number.NaN, bottom: Number.NaN };

  constructor(columns: Columns, cursor: LastRow) {
    this.#columns = columns;
    this.#cursor = cursor;
    this.interval = cursor.interval;
  }

  get close(): number {
    return this.#cursor.close;
  }

  get closedAt(): number {
    return this.#cursor.closeOf(this.#cursor.row);
  }

  since(entry: Entry): Extremes {
    const { row } = this.#cursor;
    const extremes = this.#extremes;
    if (entry.entryNumber !== this.#entry || row < this.#next - 1) this.#begin(entry);
    const { high, low } = this.#columns;
    while (this.#next <= row) {
      extremes.top = Math.max(extremes.top, high[this.#next] as number);
      extremes.bottom = Math.min(extremes.bottom, low[this.#next] as number);
      this.#next++;
    }
    return extremes;
  }

  #begin({ entryNumber, enteredAt, entryFillPrice, byMaker }: Entry): void {
    const { openTime, close } = this.#columns;
    const extremes = this.#extremes;
    this.#entry = entryNumber;
    extremes.top = entryFillPrice;
    extremes.bottom = entryFillPrice;
    this.#next = rowAt(openTime, enteredAt);
    const inside = this.#next - 1;
    if (inside < 0 || this.#cursor.closeOf(inside) <= enteredAt || inside > this.#cursor.row) return;
    if (!byMaker) {
      this.#next = inside;
      return;
    }
    const last = close[inside] as number;
    extremes.top = Math.max(entryFillPrice, last);
    extremes.bottom = Math.min(entryFillPrice, last);
  }
}
