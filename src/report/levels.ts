/**
 * Klines for the chart of a report, thinned so that the file stays small: all of them at larger intervals, and at their own interval only
 * around round trips. Millions of klines would make a file that no mail takes and no phone opens.
 */
import { deflateRawSync } from 'node:zlib';
import { closeTime, intervalMs } from '../domain/interval.ts';
import { type Columns, mapColumns } from '../domain/market.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import { rowsOpenedBy } from '../research/series.ts';
import type { PayloadSeries } from './chart-data.ts';
import { indicatorLines } from './indicator-data.ts';
import type { ReportSeries } from './input.ts';

const minute = 60_000;
const steps = [1, 5, 15, 60, 240, 1_440, 10_080, 43_200].map((minutes) => minutes * minute);
/** Klines in all levels of a report, about four bytes each. */
export const maxRows = 180_000;
/** Klines before and after a round trip that is shown in full. */
const around = 90;
/** Round trips shown in full where not all can be, and klines of one at most. */
const maxWindows = 60;
const longestWindow = 1_500;

type Range = readonly [from: number, to: number];

const columnsIn = ({ columns }: ReportSeries, ranges: readonly Range[]): Columns =>
  mapColumns(columns, (column) => Float64Array.from(ranges.flatMap(([from, to]) => [...column.subarray(from, to)])));

type Rows = Pick<ReportSeries, 'columns' | 'first' | 'end'>;

/** Klines of a larger interval, each made of those that open within it. A plain loop: it reads millions of rows. */
function merged({ columns, first, end }: Rows, ms: number): Columns {
  const { openTime, open, high, low, close, volume } = columns;
  const rows: number[] = [];
  for (let row = first, until = Number.NEGATIVE_INFINITY; row < end; row++) {
    const opensAt = openTime[row] as number;
    if (opensAt < until) continue;
    rows.push(row);
    until = Math.floor(opensAt / ms) * ms + ms;
  }
  const large = mapColumns(columns, () => new Float64Array(rows.length));
  for (let index = 0; index < rows.length; index++) {
    const [from, to] = [rows[index] as number, rows[index + 1] ?? end];
    let [top, bottom, traded] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
    for (let row = from; row < to; row++) {
      const [up, down] = [high[row] as number, low[row] as number];
      if (up > top) top = up;
      if (down < bottom) bottom = down;
      traded += volume[row] as number;
    }
    large.openTime[index] = Math.floor((openTime[from] as number) / ms) * ms;
    large.open[index] = open[from] as number;
    large.high[index] = top;
    large.low[index] = bottom;
    large.close[index] = close[to - 1] as number;
    large.volume[index] = traded;
  }
  return large;
}

/** Columns of whole numbers in few characters. */
export const pack = (columns: readonly (readonly (number | null)[])[]): string =>
  deflateRawSync(JSON.stringify(columns), { level: 5 }).toString('base64');

/** Times are written in this unit, ms. */
export const unitMs = minute;

function packed({ openTime, open, high, low, close, volume }: Columns, pricePrecision: number): string {
  const columns: number[][] = Array.from({ length: 6 }, () => []);
  const scale = 10 ** pricePrecision;
  const ticks = (column: Float64Array, row: number): number => Math.round((column[row] as number) * scale);
  const max = volume.reduce((a, b) => Math.max(a, b), 0) || 1;
  let [time, last] = [0, 0];
  for (let row = 0; row < openTime.length; row++) {
    const at = Math.round((openTime[row] as number) / unitMs);
    const [opened, closed] = [ticks(open, row), ticks(close, row)];
    columns[0]?.push(at - time);
    columns[1]?.push(opened - last);
    columns[2]?.push(ticks(high, row) - Math.max(opened, closed));
    columns[3]?.push(Math.min(opened, closed) - ticks(low, row));
    columns[4]?.push(closed - opened);
    columns[5]?.push(Math.round(255 * Math.sqrt((volume[row] as number) / max)));
    [time, last] = [at, closed];
  }
  return pack(columns);
}

/** Rows around the best, the worst and the last round trips, in ranges that do not overlap. */
function windows(series: ReportSeries, trips: readonly RoundTrip[], max: number): readonly Range[] {
  const { columns, interval, first, end } = series;
  const byProfit = trips.toSorted((a, b) => a.profit - b.profit);
  const third = Math.ceil(maxWindows / 3);
  const chosen = new Set([...byProfit.slice(0, third), ...byProfit.slice(-third), ...trips.slice(-third)]);
  const rowAfter = (time: number): number =>
    rowsOpenedBy(columns.openTime, time, intervalMs(interval, 0), { from: first, end });
  const ranges = [...chosen]
    .map(({ entryTime, exitTime }): [number, number] => {
      const from = Math.max(first, rowAfter(entryTime) - around);
      return [from, Math.min(end, rowAfter(exitTime) + around, from + longestWindow)];
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
    if (rows >= max) break;
  }
  return joined;
}

/** Levels of one series from large to small intervals, with at most `budget` klines together, and `values` of indicators. */
export function levelsOf(
  series: ReportSeries,
  trips: readonly RoundTrip[],
  budget: number,
  values: number,
): Pick<PayloadSeries, 'levels' | 'indicators' | 'leftOut'> {
  const { interval, columns, first, end, pricePrecision } = series;
  const { openTime } = columns;
  const own = intervalMs(interval, openTime[first] as number);
  const lastsMs = closeTime(interval, openTime[end - 1] as number) - (openTime[first] as number);
  const found: { readonly ms: number; readonly rows: Columns }[] = [];
  let left = budget;
  const add = (ms: number, rows: Columns): void => {
    found.push({ ms, rows });
    left -= rows.openTime.length;
  };
  // All klines of its own interval where they fit; otherwise windows.
  const isWhole = end - first <= 0.8 * budget;
  const rest = isWhole ? end - first : Math.min(budget / 5, maxWindows * longestWindow);
  // A level has at least 150 klines.
  const possible = steps.filter((ms) => ms > own && lastsMs / ms >= 150 && lastsMs / ms <= left - rest);
  // Each is made of the one below: only the smallest reads all rows.
  const made = new Map<number, Columns>();
  const mergedTo = (ms: number): Columns => {
    const known = made.get(ms);
    if (known !== undefined) return known;
    const below = possible.findLast((step) => step < ms && ms % step === 0);
    const columns = below === undefined ? undefined : mergedTo(below);
    const rows = merged(columns === undefined ? series : { columns, first: 0, end: columns.openTime.length }, ms);
    made.set(ms, rows);
    return rows;
  };
  for (const ms of possible.toReversed()) if (lastsMs / ms <= left - rest) add(ms, mergedTo(ms));
  if (isWhole) add(own, columnsIn(series, [[first, end]]));
  else {
    const ranges = windows(series, trips, left);
    if (ranges.length > 0) add(0, columnsIn(series, ranges));
  }
  const times = found.map(({ ms, rows }) => ({ ms: ms === 0 ? own : ms, openTime: rows.openTime }));
  const { lines, leftOut } = indicatorLines(series, times, values);
  return {
    levels: found.map(({ ms, rows }, index) => ({
      ...{ ms, data: packed(rows, pricePrecision) },
      indicators: pack(lines.map(({ columns }) => columns[index] ?? [])),
    })),
    indicators: lines.map(({ line }) => line),
    leftOut,
  };
}
