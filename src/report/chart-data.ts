/** What the page's script draws, as JSON. Columns are packed by `pack` of `levels.ts`. */

/** Klines of one interval; times are open times. */
export interface ZoomLevel {
  /** ms; 0: of the series' own interval, in windows around some round trips. */
  readonly ms: number;
  /**
   * Packed columns of whole numbers: time since the kline before in `unitMs`; in ticks the open above the close before, the high above
   * open and close, the low below them, the close above the open; the root of the volume, of 255.
   */
  readonly data: string;
  /** Packed columns, one for each line of `indicators`: steps since the value before, null where there is none. */
  readonly indicators: string;
}

/** A line of an indicator; its values are in `ZoomLevel.indicators`. */
export interface PayloadIndicator {
  readonly strategy: string;
  readonly name: string;
  readonly group: string;
  /** What a value is a multiple of. */
  readonly step: number;
}

export interface PayloadSeries {
  readonly symbol: string;
  readonly interval: string;
  readonly ms: number;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  readonly base: string;
  readonly levels: readonly ZoomLevel[];
  readonly indicators: readonly PayloadIndicator[];
  /** Lines of indicators that the file has no room for. */
  readonly leftOut: number;
  /** Packed columns of its fills; see `payload.ts`. */
  readonly fillData: string;
  /** Packed columns of its round trips; see `payload.ts`. */
  readonly tripData: string;
  /** By index of a fill; most have none. */
  readonly details: Readonly<Record<number, string>>;
  readonly stops: readonly StopStep[];
}

/** The stop and the target of a strategy from a time on, UTC ms. */
export type StopStep = readonly [time: number, strategy: string, stop: number | null, takeProfit: number | null];

export interface Payload {
  readonly asset: string;
  readonly unitMs: number;
  readonly strategies: readonly string[];
  readonly rules: readonly string[];
  readonly purposes: readonly string[];
  readonly series: readonly PayloadSeries[];
}
