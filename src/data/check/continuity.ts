/** Whether opens and closes stand in the place of each other: no row tells, but klines open where those before closed. */

/** Pairs of rows from which on it is no chance which of two columns goes on where the other one ended. */
const leastPairs = 50;
/** More of them say nothing more. */
const mostPairs = 10_000;
/** So many times nearer closes are to the opens before than opens to the closes before; in rows that were recorded it is 1.02 at the most. */
const surelyNearer = 2;

/** Takes klines in the order of time. */
export class Continuity {
  #pairs = 0;
  #wide = 0;
  #near = 0;
  #open = Number.NaN;
  #close = Number.NaN;

  get isFull(): boolean {
    return this.#pairs === mostPairs;
  }

  add(open: number, close: number): void {
    const [step, swapped] = [Math.abs(open - this.#close), Math.abs(close - this.#open)];
    this.#open = open;
    this.#close = close;
    if (Number.isNaN(step + swapped)) return;
    this.#pairs++;
    this.#wide += step;
    this.#near += swapped;
  }

  get isSwapped(): boolean {
    return this.#pairs >= leastPairs && this.#wide > surelyNearer * this.#near;
  }
}
