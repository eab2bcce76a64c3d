/** What the equity of a run is walked through with. */
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import type { Rates } from './currency-rates.ts';
import type { FillTable } from './fill-table.ts';

/** Klines of one symbol, and the rows of them that the run covered. */
export interface MetricSeries {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  readonly first: number;
  readonly end: number;
}

export interface Walkable {
  readonly fills: FillTable;
  readonly series: readonly MetricSeries[];
  /** Equity before the first fill. */
  readonly cash: number;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** Of a symbol. */
  readonly costs: (symbol: string) => Costs;
  /** Money paid in, or out (negative), from a time on, UTC ms, in the order of time. */
  readonly flows?: readonly { readonly time: number; readonly amount: number; readonly asset?: string }[];
  /** What margin cost, from a time on, UTC ms, in the order of time. */
  readonly charges?: readonly { readonly time: number; readonly amount: number }[];
  /** Where symbols are paid in other currencies than the equity is counted in; `cash` has those of the start in it. */
  readonly rates?: Rates;
}

export interface Costs {
  /** What of its price a held unit would bring if sold now, and a short one would cost: 1 marks at the close. */
  readonly long: number;
  readonly short: number;
  /** The rate that holding pays once, to enter. */
  readonly entryFee: number;
}
