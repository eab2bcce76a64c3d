/** A column of whole steps that grows: as numbers where they are safe, which nearly all are, and the others by themselves. */
import { NumberColumn } from './number-column.ts';

const largest = BigInt(Number.MAX_SAFE_INTEGER);

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

  at(row: number): T | undefined {
    const value = this.numbers.at(row);
    return Number.isNaN(value) ? this.#large.get(row) : (BigInt(value) as T);
  }
}
