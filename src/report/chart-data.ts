/** What the page's script is given to draw; it knows nothing else of ours. */

/** Klines of one length; times are where they open. */
export interface Level {
  /** ms; 0: as they are, in windows around some round trips. */
  readonly ms: number;
  readonly rows: number;
  /** Time in `unitMs`, open, high, low, close in ticks, volume of 255; see `page/unpack.ts`. */
  readonly data: string;
}

export interface PayloadSeries {
  readonly symbol: string;
  readonly interval: string;
  readonly ms: number;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  readonly base: string;
  readonly levels: readonly Level[];
  readonly fills: number;
  readonly fillData: string;
  /** By index of a fill; most have none. */
  readonly details: Readonly<Record<number, string>>;
  readonly stops: readonly (readonly [
    time: number,
    strategy: string,
    stop: number | null,
    takeProfit: number | null,
  ])[];
}

export interface Payload {
  readonly asset: string;
  readonly unitMs: number;
  readonly strategies: readonly string[];
  readonly rules: readonly string[];
  readonly purposes: readonly string[];
  readonly series: readonly PayloadSeries[];
}
