/** How far the price went against and for each round trip while it lasted. */
import { closeTime, intervalMs } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import type { MetricSeries } from './equity-input.ts';
import type { FillTable } from './fill-table.ts';
import type { TripTable } from './trip-table.ts';

/** Rows whose extremes are kept together. */
const blockRows = 512;

/** The lowest low and the highest high of rows, in blocks: a position held for years would be read through again and again otherwise. */
class Range {
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  /** NaN where a block was not read yet. */
  readonly #blockLows: Float64Array;
  readonly #blockHighs: Float64Array;
  low = 0;
  high = 0;

  constructor({ low, high }: Columns) {
    this.#lows = low;
    this.#highs = high;
    const blocks = Math.ceil(low.length / blockRows);
    this.#blockLows = new Float64Array(blocks).fill(Number.NaN);
    this.#blockHighs = new Float64Array(blocks);
  }

  /** Widens `low` and `high` to what rows came to. */
  take(from: number, to: number): void {
    const [first, last] = [Math.ceil(from / blockRows), Math.floor(to / blockRows)];
    const isLong = first + 1 < last;
    this.#read(from, isLong ? first * blockRows : to);
    if (!isLong) return;
    for (let block = first; block < last; block++) this.#takeBlock(block);
    this.#read(last * blockRows, to);
  }

  #takeBlock(block: number): void {
    const { low, high } = this;
    if (Number.isNaN(this.#blockLows[block])) {
      this.low = Number.POSITIVE_INFINITY;
      this.high = Number.NEGATIVE_INFINITY;
      this.#read(block * blockRows, (block + 1) * blockRows);
      this.#blockLows[block] = this.low;
      this.#blockHighs[block] = this.high;
    }
    this.low = Math.min(low, this.#blockLows[block] as number);
    this.high = Math.max(high, this.#blockHighs[block] as number);
  }

  /** Both columns at once: what takes time is to fetch them. */
  #read(from: number, to: number): void {
    const [lows, highs] = [this.#lows, this.#highs];
    let { low, high } = this;
    for (let row = from; row < to; row++) {
      if ((lows[row] as number) < low) low = lows[row] as number;
      if ((highs[row] as number) > high) high = highs[row] as number;
    }
    this.low = low;
    this.high = high;
  }
}

/** The row whose kline holds a time; looks from `near` on first, since trips come in the order of time. */
function rowOf(
  openTime: Float64Array,
  near: number,
  { first, end }: MetricSeries,
  time: number,
  lengthMs: number,
): number {
  // Where no kline is missing in between, it is as far as the time says.
  const guess = near + Math.floor((time - (openTime[near] as number)) / lengthMs);
  if (
    guess >= first &&
    guess < end - 1 &&
    (openTime[guess] as number) <= time &&
    time < (openTime[guess + 1] as number)
  )
    return guess;
  let low = (openTime[near] as number) <= time ? near : first;
  let step = 1;
  while (low + step < end && (openTime[low + step] as number) <= time) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((openTime[middle] as number) <= time) low = middle;
    else high = middle;
  }
  return low;
}

type Excursions = Pick<TripTable, 'worst' | 'best'>;

/** From the kline of the entry to that of the exit, unless the exit was at its open. Nothing of symbols without klines. */
export function excursions(
  trips: Omit<TripTable, keyof Excursions>,
  table: FillTable,
  series: readonly MetricSeries[],
): Excursions {
  const found = { worst: new Float64Array(trips.length), best: new Float64Array(trips.length) };
  for (const one of series) {
    const places = table.places.map(({ symbol }) => symbol === one.symbol);
    if (places.includes(true)) measure(trips, places, one, found, table.openRow);
  }
  return found;
}

/** Fills in those of one symbol's trips. */
function measure(
  trips: Omit<TripTable, keyof Excursions>,
  places: readonly boolean[],
  series: MetricSeries,
  { worst, best }: Excursions,
  openRow: Float64Array | undefined,
): void {
  const { length, place, long, entryFill, exitFill, entryTime, exitTime, entryPrice, exitPrice } = trips;
  const { columns, interval, first } = series;
  const { openTime } = columns;
  const range = new Range(columns);
  const lengthMs = intervalMs(interval, 0);
  let near = first;
  for (let trip = 0; trip < length; trip++) {
    if (places[place[trip] as number] !== true) continue;
    const entry = entryPrice[trip] as number;
    const exit = exitPrice[trip] as number;
    let from = 0;
    let to = 0;
    if (openRow !== undefined) {
      from = openRow[entryFill[trip] as number] as number;
      to = openRow[exitFill[trip] as number] as number;
    } else {
      const leaves = exitTime[trip] as number;
      from = rowOf(openTime, near, series, entryTime[trip] as number, lengthMs);
      near = from;
      to = rowOf(openTime, from, series, leaves, lengthMs);
      const opens = openTime[to] as number;
      if (opens < leaves && leaves <= closeTime(interval, opens)) to++;
    }
    range.low = Math.min(entry, exit);
    range.high = Math.max(entry, exit);
    range.take(from, to);
    const low = range.low / entry - 1;
    const high = range.high / entry - 1;
    worst[trip] = long[trip] === 1 ? low : -high;
    best[trip] = long[trip] === 1 ? high : -low;
  }
}
