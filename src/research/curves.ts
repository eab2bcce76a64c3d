/** Equity, buy & hold, drawdown and exposure through time. */
export interface Curve {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly hold: Float64Array;
  /** The deepest drawdown since the point before, 0 or negative. */
  readonly fall: Float64Array;
  /** Mean of the positions' value over equity since the point before. */
  readonly exposure: Float64Array;
}

/** Builds a curve with a point every `stepMs`. */
export class CurveBuilder {
  readonly #points: (readonly [time: number, equity: number, hold: number, fall: number, exposure: number])[] = [];
  readonly stepMs: number;
  /** When the next point is due, UTC ms. */
  dueAt: number;
  /** Since the last point: the deepest drawdown, and the integral of exposure over time. */
  fall = 0;
  exposed = 0;
  #from: number;

  constructor(stepMs: number, from: number) {
    this.stepMs = stepMs;
    this.#from = from;
    this.dueAt = Math.floor(from / stepMs) * stepMs + stepMs;
  }

  add(time: number, equity: number, hold: number): void {
    const exposure = time > this.#from ? this.exposed / (time - this.#from) : 0;
    this.#points.push([time, equity, hold, this.fall, exposure]);
    this.#from = time;
    this.fall = 0;
    this.exposed = 0;
  }

  curve(): Curve {
    const column = (index: 0 | 1 | 2 | 3 | 4): Float64Array => Float64Array.from(this.#points, (point) => point[index]);
    return { time: column(0), equity: column(1), hold: column(2), fall: column(3), exposure: column(4) };
  }
}
