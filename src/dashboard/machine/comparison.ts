/** The live results of a strategy beside the backtest that is the most like them, the newest of several. Shares are fractions, times are UTC ms. */

/** A figure is null where it is not known, or would mean nothing. */
export interface SideFigures {
  readonly from: number;
  readonly to: number;
  readonly days: number;
  readonly fills: number;
  readonly roundTrips: number;
  /** Profit of closed round trips after fees, of the capital. */
  readonly returnPerDay: number | null;
  readonly fillsPerDay: number | null;
  /** Of the value of a fill. */
  readonly feePerFill: number | null;
  /** Of MARKET orders: what was paid beyond the price at the approval. */
  readonly slippage: number | null;
  /** Denied orders of denied and sent ones. */
  readonly denialShare: number | null;
  readonly winRate: number | null;
}

/** One day (UTC) of a side, as far as both cover it: its profit of the capital, and its fills. */
export interface DayFigures {
  readonly return: number | null;
  readonly fills: number;
}
export interface DayPair {
  readonly day: number;
  readonly live: DayFigures;
  readonly backtest: DayFigures;
}

export interface PriceDifference {
  /** Of the value. */
  readonly of: number;
  /** Live fills with a counterpart, of all on these days. */
  readonly matched: number;
  readonly fills: number;
}

export interface StrategyComparison {
  readonly strategy: string;
  /** A shipped strategy's name, or a file. */
  readonly use: string;
  /** Null before its first fill and before its first equity. */
  readonly live: SideFigures | null;
  /** The backtest that is the most like it, of these the newest; null where there is none. */
  readonly run: { readonly id: string; readonly at: number; readonly strategy: string } | null;
  readonly backtest: SideFigures | null;
  /** In what the two differ: code, parameters, markets. Empty where they are the same. */
  readonly differences: readonly string[];
  /** Days that both cover, newest first. */
  readonly days: readonly DayPair[];
  /** What live paid beyond the backtest where both filled within one kline; null where they never did. */
  readonly priceDifference: PriceDifference | null;
  /** Why days cannot be compared; undefined where they can. */
  readonly noDays: string | undefined;
}

export interface ComparisonView {
  readonly strategies: readonly StrategyComparison[];
  readonly notes: readonly string[];
}
