/** How far the price went against and for each round trip while it lasted. */
import { closeTime, intervalMs } from '../domain/interval.ts';
import type { FillTable } from './fill-table.ts';
import type { TripTable } from './trip-table.ts';
import type { MetricSeries } from './walkable.ts';

/** Rows whose extremes are kept together. */
const blockRows = 512;

/** The lowest, or with `sign` -1 the highest, of rows, in blocks: a position held for years would be read through again and again otherwise. */
class Lowest {
  readonly #values: Float64Array;
  readonly #sign: 1 | -1;
  readonly #blocks: Float64Array;

  constructor(values: Float64Array, sign: 1 | -1) {
    this.#values = values;
    this.#sign = sign;
    this.#blocks = new Float64Array(Math.ceil(values.length / blockRows)).fill(Number.NaN);
  }

  /** Of at least one row. */
  of(from: number, to: number): number {
    if (to - from < 3 * blockRows) return this.#plain(from, to);
    const [first, last] = [Math.ceil(from / blockRows), Math.floor(to / blockRows)];
    let found = this.#plain(from, first * blockRows);
    for (let block = first; block < last; block++) found = this.#lower(found, this.#block(block));
    return this.#lower(found, this.#plain(last * blockRows, to));
  }

  #block(block: number): number {
    const known = this.#blocks[block] as number;
    if (!Number.isNaN(known)) return known;
    const found = this.#plain(block * blockRows, (block + 1) * blockRows);
    this.#blocks[block] = found;
    return found;
  }

  #plain(from: number, to: number): number {
    const values = this.#values;
    let found = this.#sign === 1 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    if (this.#sign === 1) {
      for (let row = from; row < to; row++) if ((values[row] as number) < found) found = values[row] as number;
    } else for (let row = from; row < to; row++) if ((values[row] as number) > found) found = values[row] as number;
    return found;
  }

  #lower(a: number, b: number): number {
    return this.#sign === 1 ? Math.min(a, b) : Math.max(a, b);
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
  const [lowest, highest] = [new Lowest(columns.low, 1), new Lowest(columns.high, -1)];
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
    const low = Math.min(to > from ? lowest.of(from, to) : exit, exit, entry) / entry - 1;
    const high = Math.max(to > from ? highest.of(from, to) : exit, exit, entry) / entry - 1;
    worst[trip] = long[trip] === 1 ? low : -high;
    best[trip] = long[trip] === 1 ? high : -low;
  }
}
