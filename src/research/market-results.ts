/** What each strategy gained in each of its symbols. Together they are the profit of the account. */
import type { Instrument } from '../domain/instrument.ts';
import { type FillTable, restsAt } from './fill-table.ts';

export interface MarketRow {
  readonly strategy: string;
  readonly symbol: string;
  /** Closed and open at the last close, after fees and costs of margin, in quote. */
  readonly profit: number;
  /** Of the cash at the start, a fraction. */
  readonly contribution: number;
  readonly fills: number;
  /** In quote. */
  readonly fees: number;
  readonly turnover: number;
  /** The position at the end at its last close, in quote; negative when short, 0 below the minimum order. */
  readonly held: number;
}

export interface MarketResultsInput {
  readonly fills: FillTable;
  readonly cash: number;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** The last close of a symbol. */
  readonly lastPrice: (symbol: string) => number;
  /** Costs of margin of each strategy at each symbol. */
  readonly charges: readonly { readonly strategy: string; readonly symbol: string; readonly amount: number }[];
}

/** The greatest profit first. */
export function marketResults({
  fills,
  cash,
  instruments,
  lastPrice,
  charges,
}: MarketResultsInput): readonly MarketRow[] {
  const sums = fills.positions.map((one) => ({ ...one, quote: 0, fills: 0, fees: 0, turnover: 0, base: 0 }));
  for (let fill = 0; fill < fills.length; fill++) {
    const sum = sums[fills.position[fill] as number] as (typeof sums)[number];
    sum.quote += fills.quote[fill] as number;
    sum.base += fills.base[fill] as number;
    sum.fees += fills.fee[fill] as number;
    sum.turnover += Math.abs((fills.quantity[fill] as number) * (fills.price[fill] as number));
    sum.fills++;
  }
  for (const { strategy, symbol, amount } of charges) {
    const sum = sums.find((one) => one.strategy === strategy && one.symbol === symbol);
    if (sum !== undefined) sum.quote -= amount;
  }
  return sums
    .map(({ quote, base, ...sum }): MarketRow => {
      const price = lastPrice(sum.symbol);
      const profit = quote + base * price;
      const held = restsAt(instruments.get(sum.symbol))(base, price) ? 0 : base * price;
      return { ...sum, profit, contribution: profit / cash, held };
    })
    .toSorted((a, b) => b.profit - a.profit);
}
