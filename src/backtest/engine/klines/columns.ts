/** Growing columns: rows of a run without an object each, because most rows are never read. */

/** Numbers. */
export class NumberColumn {
  length = 0;
  #values = new Float64Array(1_024);

  push(value: number): void {
    if (this.length === this.#values.length) {
      const more = new Float64Array(2 * this.length);
      more.set(this.#values);
      this.#values = more;
    }
    this.#values[this.length++] = value;
  }

  at(index: number): number {
    return this.#values[index] as number;
  }

  /** What was pushed so far. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.length);
  }
}

const largest = BigInt(Number.MAX_SAFE_INTEGER);

/** Whole steps: as numbers where they are safe, which nearly all are, and the others by themselves. */
export class ExactColumn<T extends bigint> {
  /** NaN where a value is missing or large. */
  readonly numbers = new NumberColumn();
  readonly #large = new Map<number, T>();

  push(value: T | undefined): void {
    if (value === undefined) this.numbers.push(Number.NaN);
    else if (value <= largest && value >= -largest) this.numbers.push(Number(value));
    else {
      this.#large.set(this.numbers.length, value);
      this.numbers.push(Number.NaN);
    }
  }

  /** The last value once more. */
  pushAgain(): void {
    const last = this.numbers.length - 1;
    const value = this.numbers.at(last);
    if (Number.isNaN(value)) this.push(this.#large.get(last));
    else this.numbers.push(value);
  }

  at(row: number): T | undefined {
    const value = this.numbers.at(row);
    return Number.isNaN(value) ? this.#large.get(row) : (BigInt(value) as T);
  }
}
