/** Maximum adverse and favourable excursion of each round trip: how far the price moved against it and for it. */
import { closeTime, intervalMs } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import type { FillTable } from './fill-table.ts';
import type { RoundTripTable } from './round-trip-table.ts';
import { type MetricSeries, rowsOpenedBy } from './series.ts';

/** Rows whose extremes are calculated once. */
const blockRows = 512;

/** The lowest low and the highest high of rows, in blocks: long positions would read the same rows again and again otherwise. */
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

  /** Reads both columns in one loop: fetching them from memory is what takes time. */
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

/** Fills in `worst` and `best`: from the kline of the entry to that of the exit, unless the exit was at its open. */
export function addExcursions(trips: RoundTripTable, fills: FillTable, series: readonly MetricSeries[]): void {
  for (const one of series) {
    const isOwn = fills.positions.map(({ symbol }) => symbol === one.symbol);
    if (isOwn.includes(true)) measure(trips, isOwn, one, fills.openRow);
  }
}

function measure(
  { length, position, long, entryFill, exitFill, entryTime, exitTime, ...trips }: RoundTripTable,
  isOwn: readonly boolean[],
  { columns, interval, first, end }: MetricSeries,
  openRow: Float64Array | undefined,
): void {
  const { entryPrice, exitPrice, worst, best } = trips;
  const { openTime } = columns;
  const range = new Range(columns);
  const lengthMs = intervalMs(interval, 0);
  let near = first;
  for (let trip = 0; trip < length; trip++) {
    if (isOwn[position[trip] as number] !== true) continue;
    const entry = entryPrice[trip] as number;
    const exit = exitPrice[trip] as number;
    let from = 0;
    let to = 0;
    if (openRow !== undefined) {
      from = openRow[entryFill[trip] as number] as number;
      to = openRow[exitFill[trip] as number] as number;
    } else {
      const [enters, leaves] = [entryTime[trip] as number, exitTime[trip] as number];
      if (enters < (openTime[near] as number)) near = first;
      from = Math.max(first, rowsOpenedBy(openTime, enters, lengthMs, { from: near, end }) - 1);
      near = from;
      to = Math.max(first, rowsOpenedBy(openTime, leaves, lengthMs, { from, end }) - 1);
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
