/** Curves of a run, and how they grow. */

/** A series of points in time. */
export interface Curve {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly hold: Float64Array;
  /** The deepest fall below the peak so far since the point before, 0 or negative. */
  readonly fall: Float64Array;
  /** Mean of |what is held| over equity since the point before. */
  readonly exposure: Float64Array;
}

/** A curve that grows. */
export class Points {
  readonly #rows: number[][] = [[], [], [], [], []];
  readonly stepMs: number;
  edge: number;
  fall = 0;
  exposed = 0;
  #from: number;

  constructor(stepMs: number, from: number) {
    this.stepMs = stepMs;
    this.#from = from;
    this.edge = Math.floor(from / stepMs) * stepMs + stepMs;
  }

  add(time: number, equity: number, hold: number): void {
    const exposure = time > this.#from ? this.exposed / (time - this.#from) : 0;
    for (const [index, value] of [time, equity, hold, this.fall, exposure].entries()) this.#rows[index]?.push(value);
    this.#from = time;
    this.fall = 0;
    this.exposed = 0;
  }

  curve(): Curve {
    const [time, equity, hold, fall, exposure] = this.#rows.map((values) => Float64Array.from(values));
    if (!time || !equity || !hold || !fall || !exposure) throw new Error('a curve has five columns');
    return { time, equity, hold, fall, exposure };
  }
}
