/** What each market earned or lost through time. Together with the cash it is the equity, valued at the close. */

import { closeTime } from '../domain/interval.ts';
import type { EquityInput } from './equity-input.ts';
import { type MetricSeries, rowsClosedBy } from './series.ts';

export interface MarketCurve {
  readonly symbol: string;
  /** Closed and open profit after fees and costs of margin, in quote; 0 at the start. */
  readonly profit: Float64Array;
}

export interface MarketCurves {
  /** UTC ms. */
  readonly time: Float64Array;
  /** Of all symbols with fills, in the order of their first fill. */
  readonly markets: readonly MarketCurve[];
}

interface Line {
  readonly series: MetricSeries;
  /** One past the last row that has closed. */
  row: number;
  quote: number;
  base: number;
}

/**
 * At the moments of a curve of the equity, which end with its last close. Undefined where there are several currencies, or costs of margin
 * that name no symbol, as in runs that earlier versions saved.
 */
export function marketCurves(
  { fills, series, charges = [], rates }: EquityInput,
  time: Float64Array,
): MarketCurves | undefined {
  if (rates !== undefined || charges.some(({ symbol }) => symbol === undefined)) return undefined;
  const lines = new Map(
    series.map((one): [string, Line] => [one.symbol, { ...{ series: one, row: one.first }, quote: 0, base: 0 }]),
  );
  const symbols = [...new Set(fills.positions.map(({ symbol }) => symbol))];
  const markets = symbols.map((symbol) => ({ symbol, profit: new Float64Array(time.length) }));
  let [fill, charge] = [0, 0];
  for (const [point, at] of time.entries()) {
    let closed = Number.NEGATIVE_INFINITY;
    for (const line of lines.values()) closed = Math.max(closed, advance(line, at));
    // As in the equity: what fills at an open counts at the close after it, what fills after the last close at that one.
    const until = point + 1 === time.length ? Number.POSITIVE_INFINITY : closed;
    for (; fill < fills.length && (fills.time[fill] as number) < until; fill++) {
      const line = lines.get(fills.positions[fills.position[fill] as number]?.symbol ?? '');
      if (line === undefined) continue;
      line.quote += fills.quote[fill] as number;
      line.base += fills.base[fill] as number;
    }
    for (let next = charges[charge]; next !== undefined && next.time <= closed; next = charges[++charge]) {
      const line = lines.get(next.symbol ?? '');
      if (line !== undefined) line.quote -= next.amount;
    }
    for (const { symbol, profit } of markets) {
      const line = lines.get(symbol);
      if (line !== undefined && line.base !== 0) profit[point] = line.quote + line.base * priceAt(line, closed);
      else if (line !== undefined) profit[point] = line.quote;
    }
  }
  return { time, markets };
}

/** Goes on to a time; when its last kline closed, UTC ms. */
function advance(line: Line, at: number): number {
  const { columns, interval, first, end } = line.series;
  line.row = rowsClosedBy(columns.openTime, interval, at, { from: line.row, end });
  return line.row === first ? Number.NEGATIVE_INFINITY : closeTime(interval, columns.openTime[line.row - 1] as number);
}

/** The last close; of a longer kline that is not over the open, since fills there had that price. */
function priceAt({ series: { columns, end, first }, row }: Line, at: number): number {
  const isOpen = row < end && (columns.openTime[row] as number) < at;
  return (isOpen || row === first ? columns.open[Math.min(row, end - 1)] : columns.close[row - 1]) as number;
}
