/** The indicators on the chart of klines, for each of its levels: the value after the last kline within each shown one. */
import type { PayloadIndicator } from './chart-data.ts';
import type { ReportSeries, SeriesIndicator } from './input.ts';

/** Values in one report, and lines of one symbol. Further lines are counted, and not drawn. */
export const maxValues = 600_000;
const maxLines = 8;
/** A value is written in steps of this part of the largest: finer ones cannot be seen. */
const finest = 2_000;

/** Open times of the klines of a level, with how long one lasts, ms. */
export interface LevelTimes {
  readonly openTime: Float64Array;
  readonly ms: number;
}

/** In steps since the value before; the first since zero. Null before it is warm. */
function steps(
  values: Float64Array,
  step: number,
  series: ReportSeries,
  { openTime, ms }: LevelTimes,
): (number | null)[] {
  const own = series.columns.openTime;
  let [row, last] = [0, 0];
  return Array.from(openTime, (opensAt) => {
    while (row < series.end && (own[row] as number) < opensAt + ms) row++;
    const value = values[row - 1] ?? Number.NaN;
    if (!Number.isFinite(value)) return null;
    const before = last;
    last = Math.round(value / step);
    return last - before;
  });
}

function lineOf(
  { strategy, name, group, values }: SeriesIndicator,
  series: ReportSeries,
  levels: readonly LevelTimes[],
): { readonly line: PayloadIndicator; readonly columns: readonly (number | null)[][] } {
  const all = values();
  const shown = all.subarray(series.first, series.end).filter(Number.isFinite);
  const largest = shown.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
  const step = 10 ** Math.floor(Math.log10(largest / finest));
  return {
    line: { strategy, name, group, step },
    columns: levels.map((level) => steps(all, step, series, level)),
  };
}

/** `budget`: values of all lines of this symbol. */
export function indicatorLines(series: ReportSeries, levels: readonly LevelTimes[], budget: number) {
  const rows = levels.reduce((sum, { openTime }) => sum + openTime.length, 0);
  const all = series.indicators ?? [];
  const max = Math.min(maxLines, Math.floor(budget / Math.max(1, rows)));
  const lines = all.slice(0, max).map((one) => lineOf(one, series, levels));
  return { lines, leftOut: all.length - lines.length };
}
