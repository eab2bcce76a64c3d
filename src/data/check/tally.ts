/** Counting with the first few places. */

export interface Place {
  readonly line?: number;
  /** UTC ms. */
  readonly time?: number;
  readonly what?: string;
}

/** Places that are kept of each kind. */
const mostPlaces = 3;

export class Tally {
  count = 0;
  readonly places: Place[] = [];

  add(line: number, time: number, what?: string): void {
    this.count++;
    if (this.places.length < mostPlaces)
      this.places.push({ ...(line > 0 && { line }), time, ...(what !== undefined && { what }) });
  }
}

/** The longest of runs of rows that are alike, and how many rows lie in runs that are long enough to be told. */
export class Runs {
  readonly #least: number;
  #length = 0;
  #start = { line: 0, time: 0 };
  rows = 0;
  longest = 0;
  first: Place | undefined;

  constructor(least: number) {
    this.#least = least;
  }

  /** The row before was alike; where neither it nor this one is, there is nothing to step. */
  get runs(): boolean {
    return this.#length > 0;
  }

  step(alike: boolean, line: number, time: number): void {
    if (!alike) {
      this.end();
      return;
    }
    if (this.#length === 0) this.#start = { line, time };
    this.#length++;
  }

  end(): void {
    if (this.#length >= this.#least) {
      this.rows += this.#length;
      if (this.#length > this.longest) {
        this.longest = this.#length;
        this.first = { ...(this.#start.line > 0 && { line: this.#start.line }), time: this.#start.time };
      }
    }
    this.#length = 0;
  }
}
