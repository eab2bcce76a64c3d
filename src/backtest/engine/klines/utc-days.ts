/** The times of a series' rows, UTC day by UTC day: where no kline is missing within a day, they are calculated. */

import { closeTime, intervalMs } from '../../../domain/interval.ts';
import { rowAt } from '../../../domain/market.ts';
import type { RunSeries } from '../../run.ts';

const dayMs = 86_400_000;

export class UtcDays {
  readonly lengthMs: number;
  /** The first row that may close after the day. */
  endRow = 0;
  readonly #series: RunSeries;
  #endsAt = Number.NEGATIVE_INFINITY;
  /** When row 0 would have opened if no kline were missing up to the end of this day; NaN where one is missing within the day. */
  #firstAt = Number.NaN;

  constructor(series: RunSeries) {
    this.#series = series;
    this.lengthMs = intervalMs(series.interval, 0);
  }

  /** True where another day begins with the close of a row at or beyond `endRow`. */
  begin(row: number): boolean {
    const { interval, columns, end } = this.#series;
    const opensAt = columns.openTime[row] as number;
    const closesAt = closeTime(interval, opensAt);
    if (closesAt < this.#endsAt) return false;
    this.#endsAt = Math.floor(closesAt / dayMs) * dayMs + dayMs;
    const { openTime } = columns;
    const lastAt = this.#endsAt - this.lengthMs;
    // Mostly where it is if no kline is missing between.
    const guess = row + Math.ceil((lastAt - opensAt) / this.lengthMs);
    const isThere = (openTime[guess - 1] as number) < lastAt && lastAt <= (openTime[guess] as number);
    this.endRow = Math.min(end, isThere ? guess : rowAt(openTime, lastAt));
    const last = this.endRow - 1;
    const isSteady = (openTime[last] as number) - opensAt === (last - row) * this.lengthMs;
    this.#firstAt = isSteady ? opensAt - row * this.lengthMs : Number.NaN;
    return true;
  }

  closesAt(row: number): number {
    return closeTime(this.#series.interval, this.opensAt(row));
  }

  /** When a row opened, UTC ms: reading another column costs more than the rest of a fill. */
  opensAt(row: number): number {
    const at = row < this.endRow ? this.#firstAt + row * this.lengthMs : Number.NaN;
    return Number.isNaN(at) ? (this.#series.columns.openTime[row] as number) : at;
  }
}
