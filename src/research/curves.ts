/** Equity, buy & hold, drawdown and exposure through time, and returns from one UTC day to the next. */
import { type MetricSeries, rowsClosedBy } from './series.ts';

export interface Curve {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly buyAndHold: Float64Array;
  /** The deepest drawdown since the point before, 0 or negative. */
  readonly drawdown: Float64Array;
  /** Mean of the positions' value over equity since the point before. */
  readonly exposure: Float64Array;
}

/** Builds a curve with a point every `stepMs`. */
export class CurveBuilder {
  readonly #points: (readonly [
    time: number,
    equity: number,
    buyAndHold: number,
    drawdown: number,
    exposure: number,
  ])[] = [];
  readonly stepMs: number;
  /** When the next point is due, UTC ms. */
  dueAt: number;
  /** Since the last point: the deepest drawdown, and the integral of exposure over time. */
  drawdown = 0;
  exposed = 0;
  #from: number;

  constructor(stepMs: number, from: number) {
    this.stepMs = stepMs;
    this.#from = from;
    this.dueAt = Math.floor(from / stepMs) * stepMs + stepMs;
  }

  add(time: number, equity: number, buyAndHold: number): void {
    const exposure = time > this.#from ? this.exposed / (time - this.#from) : 0;
    this.#points.push([time, equity, buyAndHold, this.drawdown, exposure]);
    this.#from = time;
    this.drawdown = 0;
    this.exposed = 0;
  }

  curve(): Curve {
    const column = (): Float64Array => new Float64Array(this.#points.length);
    const curve = { time: column(), equity: column(), buyAndHold: column(), drawdown: column(), exposure: column() };
    // A loop: `Float64Array.from` took a quarter of the time of a grid's figures.
    for (const [row, [time, equity, buyAndHold, drawdown, exposure]] of this.#points.entries()) {
      curve.time[row] = time;
      curve.equity[row] = equity;
      curve.buyAndHold[row] = buyAndHold;
      curve.drawdown[row] = drawdown;
      curve.exposure[row] = exposure;
    }
    return curve;
  }
}

const dayMs = 86_400_000;

/** Returns of the whole UTC days of a run. They end where the equity reaches zero. */
export function dailyReturns({ time }: Pick<Curve, 'time'>, equity: Float64Array): Float64Array {
  const [first, end] = midnights(time);
  return first < 0 ? new Float64Array(0) : returnsOf(equity.subarray(first, end));
}

/** On how many of these days a kline closed. On the others the equity is not known, and a return of 0 proves nothing. */
export function daysKnown(series: readonly MetricSeries[], { time }: Pick<Curve, 'time'>): number {
  const [first, end] = midnights(time);
  if (first < 0) return 0;
  const rows = series.map((one) => one.first);
  let known = -1;
  for (const midnight of time.subarray(first, end)) {
    let isKnown = known < 0;
    for (const [index, { columns, interval, end: last }] of series.entries()) {
      const row = rows[index] as number;
      const next = rowsClosedBy(columns.openTime, interval, midnight, { from: row, end: last });
      isKnown ||= next > row;
      rows[index] = next;
    }
    if (isKnown) known++;
  }
  return known;
}

/** The first midnight, UTC, and one past the last. */
function midnights(time: Float64Array): readonly [first: number, end: number] {
  const isMidnight = (at: number): boolean => at % dayMs === 0;
  return [time.findIndex(isMidnight), time.findLastIndex(isMidnight) + 1];
}

/** Returns from point to point. They end where the equity reaches zero. */
export function returnsOf(equity: Float64Array): Float64Array {
  const ruin = equity.findIndex((value) => !(value > 0));
  const usable = ruin < 0 ? equity.length - 1 : ruin;
  return Float64Array.from(
    { length: Math.max(0, usable) },
    (_, index) => (equity[index + 1] as number) / (equity[index] as number) - 1,
  );
}
