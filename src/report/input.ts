/** The input of a report. */

import type { FeedGap } from '../domain/market.ts';
import type { BreakEven, Distance, ExitLevel } from '../domain/target-options.ts';
import type { Curve } from '../research/curves.ts';
import type { FillTable } from '../research/fill-table.ts';
import type { MarketCurves } from '../research/market-curves.ts';
import type { OpenPosition } from '../research/round-trip-table.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import type { MetricSeries } from '../research/series.ts';
import type { Summary } from '../research/summary.ts';

/** An indicator, or one line of several, that a strategy decided on. */
export interface SeriesIndicator {
  readonly strategy: string;
  /** `average`, `macd.signal`. */
  readonly name: string;
  /** The indicator of a line: `macd`. */
  readonly group: string;
  /** A value for each row of the series, NaN where it is not warm. Calculated when a report is made. */
  readonly values: () => Float64Array;
}

export interface ReportSeries extends MetricSeries {
  /** Left out where they are not known. */
  readonly indicators?: readonly SeriesIndicator[];
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  readonly base: string;
  readonly gaps: readonly FeedGap[];
}

/** A stop, a take-profit, a trailing stop or a break-even in force from a moment on, UTC ms; nulls end it. */
export interface StopLevel {
  readonly time: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly stop: ExitLevel | null;
  /** null also for a list of several. */
  readonly takeProfit: ExitLevel | null;
  readonly trailing: number | Distance | null;
  readonly breakEven?: BreakEven | null;
}

/**
 * Shown if the klines of the currency rates no longer exist: fills and round trips are not converted to one currency. The totals are in
 * the summary.
 */
export const missingRates = ({ series, summary }: Pick<ReportInput, 'series' | 'summary'>): string | undefined =>
  series.length === 0 && summary.currencies.length > 0
    ? 'Fills were paid in several currencies, and without the data of this run nothing says at which rates they count together.'
    : undefined;

export interface ReportInput {
  readonly title: string;
  /** The quote asset. */
  readonly asset: string;
  readonly summary: Summary;
  readonly table: FillTable;
  readonly trips: readonly RoundTrip[];
  /** Positions that are open at the end. */
  readonly open: readonly OpenPosition[];
  readonly days: Curve;
  readonly chart: Curve;
  /** Left out where it cannot be told. */
  readonly profitByMarket?: MarketCurves | undefined;
  /** Empty where the klines cannot be read again; `missing` says why. */
  readonly series: readonly ReportSeries[];
  readonly missing: string | undefined;
  readonly stops: readonly StopLevel[];
  /** The evidence of a fill beyond its rule, as text; empty for most. */
  readonly detail: (fill: number) => string;
  /** Whether a fill took more than the print that granted it traded. */
  readonly tookMore: (fill: number) => boolean;
  readonly provenance: readonly (readonly [name: string, value: string])[];
  /** The configuration as it was written. */
  readonly configuration: string;
}
