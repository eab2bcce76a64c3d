/** Detects swapped open and close columns: a kline opens near the close before it. A single row does not show the swap. */

/** Fewer pairs of rows prove nothing. */
const leastPairs = 50;
/** More pairs change nothing. */
const mostPairs = 10_000;
/** How many times nearer closes must be to the previous open than opens to the previous close. Recorded rows reach 1.02 at most. */
const surelyNearer = 2;

/** Takes klines in the order of time. */
export class SwappedColumns {
  #pairs = 0;
  #wide = 0;
  #near = 0;
  #time = Number.NaN;
  #open = Number.NaN;
  #close = Number.NaN;

  add(times: Float64Array, opens: Float64Array, closes: Float64Array, rows: number): void {
    for (let row = 0; row < rows && this.#pairs < mostPairs; row++)
      this.#next(times[row] as number, opens[row] as number, closes[row] as number);
  }

  #next(time: number, open: number, close: number): void {
    const [one, other] = [Math.abs(open - this.#close), Math.abs(close - this.#open)];
    const [step, swapped] = time < this.#time ? [other, one] : [one, other];
    this.#time = time;
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
