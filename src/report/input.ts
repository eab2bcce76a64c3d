/** What a report is made of. */
import type { FeedGap } from '../domain/market.ts';
import type { Curve } from '../research/curves.ts';
import type { MetricSeries } from '../research/equity-input.ts';
import type { FillTable } from '../research/fill-table.ts';
import type { Summary } from '../research/summary.ts';
import type { OpenPosition } from '../research/trip-table.ts';
import type { Trip } from '../research/trips.ts';
import type { Html } from './html.ts';

export interface ReportSeries extends MetricSeries {
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  readonly base: string;
  readonly gaps: readonly FeedGap[];
}

/** A stop, a take-profit or a trailing stop in force from a moment on; nulls end it. */
export interface StopLevel {
  readonly time: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly stop: number | null;
  readonly takeProfit: number | null;
  readonly trailing: number | null;
}

/** Why fills and round trips are not counted in one currency, where the klines that say the rates are gone; the sums are in the summary. */
export const uncounted = ({ series, summary }: Pick<ReportInput, 'series' | 'summary'>): string | undefined =>
  series.length === 0 && (summary.currencies?.length ?? 0) > 0
    ? 'Fills were paid in several currencies, and without the data of this run nothing says at which rates they count together.'
    : undefined;

export interface ReportInput {
  readonly title: string;
  /** The quote asset. */
  readonly asset: string;
  readonly summary: Summary;
  readonly table: FillTable;
  readonly trips: readonly Trip[];
  /** What was held at the end. */
  readonly open: readonly OpenPosition[];
  readonly days: Curve;
  readonly chart: Curve;
  /** None where the klines are not at hand any more; `missing` says why. */
  readonly series: readonly ReportSeries[];
  readonly missing: string | undefined;
  readonly stops: readonly StopLevel[];
  /** What a fill's evidence says beyond its rule, as text; nothing for most. */
  readonly detail: (fill: number) => string;
  /** Whether it took more than the print that granted it traded. */
  readonly isMore: (fill: number) => boolean;
  readonly provenance: readonly (readonly [name: string, value: string])[];
  /** The configuration as it was written. */
  readonly configuration: string;
  /** Further sections, such as the heat map of a grid. */
  readonly extra: readonly Html[];
}
