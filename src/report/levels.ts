/**
 * Klines for the chart of a report, thinned so that the file stays small: whole at the coarser intervals, and as they are only
 * where something happened. Millions of klines would make a file that no mail takes and no phone opens.
 */
import { closeTime, intervalMs } from '../domain/interval.ts';
import type { Trip } from '../research/trips.ts';
import type { Level } from './chart-data.ts';
import type { ReportSeries } from './input.ts';
import { Packer } from './pack.ts';

const minute = 60_000;
const steps = [1, 5, 15, 60, 240, 1_440, 10_080, 43_200].map((minutes) => minutes * minute);
/** Klines in all levels of a report; some ten bytes each. */
export const mostRows = 180_000;
/** Klines before and after a round trip that is shown in full. */
const around = 90;
/** Round trips shown in full where not all can be, and klines of one at most. */
const mostWindows = 60;
const longestWindow = 1_500;

interface Rows {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
  length: number;
}

function emptyRows(length: number): Rows {
  const column = (): Float64Array => new Float64Array(length);
  return {
    ...{ time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() },
    length: 0,
  };
}

/** Klines of a larger interval, each made of those that open within it. */
function merged({ columns, first, end }: ReportSeries, ms: number): Rows {
  const { openTime, open, high, low, close, volume } = columns;
  const most = Math.ceil(((openTime[end - 1] as number) - (openTime[first] as number)) / ms) + 2;
  const rows = emptyRows(Math.min(end - first, most));
  let at = -1;
  let until = Number.NEGATIVE_INFINITY;
  for (let row = first; row < end; row++) {
    const time = openTime[row] as number;
    if (time >= until) {
      at++;
      rows.time[at] = Math.floor(time / ms) * ms;
      until = (rows.time[at] as number) + ms;
      rows.open[at] = open[row] as number;
      rows.high[at] = high[row] as number;
      rows.low[at] = low[row] as number;
    } else {
      if ((high[row] as number) > (rows.high[at] as number)) rows.high[at] = high[row] as number;
      if ((low[row] as number) < (rows.low[at] as number)) rows.low[at] = low[row] as number;
    }
    rows.close[at] = close[row] as number;
    rows.volume[at] = (rows.volume[at] as number) + (volume[row] as number);
  }
  rows.length = at + 1;
  return rows;
}

/** The klines of some rows, given as ranges that do not overlap. */
function plain({ columns }: ReportSeries, ranges: readonly (readonly [from: number, to: number])[]): Rows {
  const rows = emptyRows(ranges.reduce((sum, [from, to]) => sum + to - from, 0));
  for (const [from, to] of ranges) {
    rows.time.set(columns.openTime.subarray(from, to), rows.length);
    for (const name of ['open', 'high', 'low', 'close', 'volume'] as const)
      rows[name].set(columns[name].subarray(from, to), rows.length);
    rows.length += to - from;
  }
  return rows;
}

/** Times are counted in these, ms. */
export const unitMs = minute;

function packRows(rows: Rows, pricePrecision: number): string {
  const packer = new Packer();
  const scale = 10 ** pricePrecision;
  let most = 0;
  for (let row = 0; row < rows.length; row++) most = Math.max(most, rows.volume[row] as number);
  let time = 0;
  let close = 0;
  for (let row = 0; row < rows.length; row++) {
    const now = Math.round((rows.time[row] as number) / unitMs);
    const [open, end] = [
      Math.round((rows.open[row] as number) * scale),
      Math.round((rows.close[row] as number) * scale),
    ];
    packer.put(now - time);
    packer.put(open - close);
    packer.put(Math.round((rows.high[row] as number) * scale) - Math.max(open, end));
    packer.put(Math.min(open, end) - Math.round((rows.low[row] as number) * scale));
    packer.put(end - open);
    packer.put(most === 0 ? 0 : Math.round(255 * Math.sqrt((rows.volume[row] as number) / most)));
    time = now;
    close = end;
  }
  return packer.packed();
}

/** Rows around the round trips that tell most: the best, the worst, and the last. */
function windows(series: ReportSeries, trips: readonly Trip[], most: number): (readonly [number, number])[] {
  const byProfit = trips.toSorted((a, b) => a.profit - b.profit);
  const third = Math.ceil(mostWindows / 3);
  const chosen = new Set([...byProfit.slice(0, third), ...byProfit.slice(-third), ...trips.slice(-third)]);
  const { openTime } = series.columns;
  const ranges = [...chosen]
    .map(({ entryTime, exitTime }): [number, number] => {
      const from = Math.max(series.first, rowAfter(openTime, series, entryTime) - around);
      const to = Math.min(series.end, rowAfter(openTime, series, exitTime) + around);
      return [from, Math.min(to, from + longestWindow)];
    })
    .toSorted(([a], [b]) => a - b);
  const joined: [number, number][] = [];
  let rows = 0;
  for (const [from, to] of ranges) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) {
      rows += Math.max(0, to - last[1]);
      last[1] = Math.max(last[1], to);
    } else {
      rows += to - from;
      joined.push([from, to]);
    }
    if (rows >= most) break;
  }
  return joined;
}

function rowAfter(openTime: Float64Array, { first, end }: ReportSeries, time: number): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((openTime[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Levels of one series, coarse to fine, with at most `budget` klines together. */
export function levelsOf(series: ReportSeries, trips: readonly Trip[], budget: number): readonly Level[] {
  const { interval, columns, first, end, pricePrecision } = series;
  const { openTime } = columns;
  const own = intervalMs(interval, openTime[first] as number);
  const lastsMs = closeTime(interval, openTime[end - 1] as number) - (openTime[first] as number);
  const found: Level[] = [];
  let left = budget;
  const add = (ms: number, rows: Rows): void => {
    found.push({ ms, rows: rows.length, data: packRows(rows, pricePrecision) });
    left -= rows.length;
  };
  // All klines as they are where they fit; else some windows of them, below coarser ones.
  const isWhole = end - first <= 0.8 * budget;
  const rest = isWhole ? end - first : Math.min(budget / 5, mostWindows * longestWindow);
  for (const ms of steps.toReversed()) {
    // Fewer than some hundred klines are no level of their own; more than are left are none either.
    if (ms <= own || lastsMs / ms < 150 || lastsMs / ms > left - rest) continue;
    add(ms, merged(series, ms));
  }
  if (isWhole) add(own, plain(series, [[first, end]]));
  else {
    const ranges = windows(series, trips, left);
    if (ranges.length > 0) add(0, plain(series, ranges));
  }
  return found;
}
