/** What the charts of a session receive of a strategy: the values that its indicators had when it decided. */
import type { NamedIndicator } from './named-indicators.ts';

export interface ValuesWatcher {
  /** Its indicators, before their first value. They begin again with each warm-up. */
  begin(indicators: readonly NamedIndicator[]): void;
  /**
   * The values after a kline of a market (its index), those of the warm-up too. They are the ones that `decide` reads, in the order of the
   * indicators, and change with the next kline: copy what you keep.
   */
  after(market: number, openTime: number, values: Float64Array): void;
}
