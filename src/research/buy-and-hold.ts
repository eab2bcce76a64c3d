/** What holding from the first open to the last close would have come to: what a strategy is compared with. */
import { type Interval, intervalMs, openTimeOf } from '../domain/interval.ts';
import { type Rates, rateOf } from './currency-rates.ts';
import type { MetricSeries, Walkable } from './equity-input.ts';

/** What holding from the first open would be worth. */
export class Hold {
  readonly #lines: { readonly series: MetricSeries; readonly perPrice: number; row: number }[];
  readonly #cash: number;
  readonly #rates: Rates | undefined;

  constructor({ series, cash, costs, rates }: Walkable) {
    this.#cash = cash;
    this.#rates = rates;
    this.#lines = series.map((one) => ({
      series: one,
      perPrice:
        ((cash / series.length) * (1 - costs(one.symbol).entryFee)) /
        (one.columns.open[one.first] as number) /
        rateOf(rates, one.symbol, one.columns.openTime[one.first] as number),
      row: one.first - 1,
    }));
  }

  at(time: number): number {
    let total = 0;
    for (const line of this.#lines) {
      const { symbol, columns, interval, end, first } = line.series;
      line.row = rowsClosedBy(columns.openTime, interval, line.row + 1, end, time) - 1;
      total +=
        line.row < first
          ? this.#cash / this.#lines.length
          : line.perPrice * (columns.close[line.row] as number) * rateOf(this.#rates, symbol, time);
    }
    return total;
  }
}

/** One past the last row from `row` on that has closed by `time`; looks first where it is if no kline is missing, then near. */
export function rowsClosedBy(
  openTime: Float64Array,
  interval: Interval,
  row: number,
  end: number,
  time: number,
): number {
  // Months differ in length: the one that holds `time` is open until the next one opens.
  const latest = interval === '1month' ? openTimeOf(interval, time) - 1 : time - intervalMs(interval, 0);
  const guess = row + Math.floor((latest - (openTime[row] as number)) / intervalMs(interval, 0)) + 1;
  if (guess > row && guess < end && (openTime[guess - 1] as number) <= latest && latest < (openTime[guess] as number))
    return guess;
  let low = row;
  let step = 1;
  while (low + step <= end && (openTime[low + step - 1] as number) <= latest) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((openTime[middle] as number) <= latest) low = middle + 1;
    else high = middle;
  }
  return low;
}
