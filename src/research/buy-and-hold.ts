/** Buy & hold from the first open on, with the cash split evenly over the symbols. */
import { rateOf } from './currency-rates.ts';
import type { EquityInput } from './equity-input.ts';
import { type MetricSeries, rowsClosedBy } from './series.ts';

export class BuyAndHold {
  readonly #lines: { readonly series: MetricSeries; readonly perPrice: number; rows: number }[];
  readonly #input: EquityInput;

  constructor(input: EquityInput) {
    const { series, cash, costs, rates } = input;
    this.#input = input;
    this.#lines = series.map((one) => {
      const { symbol, columns, first } = one;
      const entry = (columns.open[first] as number) * rateOf(rates, symbol, columns.openTime[first] as number);
      return { series: one, perPrice: ((cash / series.length) * (1 - costs(symbol).entryFee)) / entry, rows: first };
    });
  }

  /** Its equity at a time, UTC ms; times ascend from call to call. */
  at(time: number): number {
    const { cash, rates } = this.#input;
    let total = 0;
    for (const line of this.#lines) {
      const { symbol, columns, interval, end, first } = line.series;
      line.rows = rowsClosedBy(columns.openTime, interval, time, { from: line.rows, end });
      total +=
        line.rows === first
          ? cash / this.#lines.length
          : line.perPrice * (columns.close[line.rows - 1] as number) * rateOf(rates, symbol, time);
    }
    return total;
  }
}
