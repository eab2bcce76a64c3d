/** The input from which the equity of a run is calculated. */
import type { Instrument } from '../domain/instrument.ts';
import type { Rates } from './currency-rates.ts';
import type { FillTable } from './fill-table.ts';
import type { MetricSeries } from './series.ts';

export interface EquityInput {
  readonly fills: FillTable;
  readonly series: readonly MetricSeries[];
  /** Equity before the first fill. */
  readonly cash: number;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly costs: (symbol: string) => Costs;
  /** Money paid in, or out (negative), from a time on, UTC ms; ascending. */
  readonly flows?: readonly { readonly time: number; readonly amount: number; readonly asset?: string }[];
  /** Costs of margin from a time on, UTC ms; ascending. */
  readonly charges?: readonly {
    readonly time: number;
    readonly amount: number;
    readonly symbol?: string | undefined;
  }[];
  /** Where symbols are paid in other currencies than the one of the equity; `cash` includes those at the start. */
  readonly rates?: Rates;
}

export interface Costs {
  /** The share of its price that a held unit brings if sold now, and that a short unit costs; 1 values at the close. */
  readonly long: number;
  readonly short: number;
  /** The fee rate that buy & hold pays once. */
  readonly entryFee: number;
}
