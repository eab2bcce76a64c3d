/** The error of the clock that clients see: steps and drift add up. The exchange itself keeps its own time. */
export class GatewayClock {
  readonly #now: () => number;
  #stepped = 0;
  #ppm = 0;
  #since: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  step(ms: number): void {
    this.#stepped += ms;
  }

  /** Millionths by which it runs fast from now on; negative is slow. */
  drift(ppm: number): void {
    this.#stepped = this.#exact();
    this.#since = this.#now();
    this.#ppm = ppm;
  }

  /** Whole ms. */
  skew(): number {
    return Math.round(this.#exact());
  }

  #exact(): number {
    return this.#stepped + ((this.#now() - this.#since) * this.#ppm) / 1e6;
  }
}
