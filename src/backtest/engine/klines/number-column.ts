/** A column of numbers that grows: rows of a run that nobody may ever look at take no object each. */
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
