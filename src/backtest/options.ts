/** The options and the result of `backtest()`. */
import type { Interval } from '../domain/interval.ts';
import type { Columns, ColumnValues, Kline } from '../domain/market.ts';
import type { Memory } from '../domain/memory.ts';
import type { Account, Evidence, FillJson } from '../domain/order.ts';
import type { RulesetName } from '../fill/ruleset-names.ts';
import type { Curve } from '../research/curves.ts';
import type { MarketCurves } from '../research/market-curves.ts';
import type { Summary } from '../research/summary.ts';
import type {
  DecidingStrategy,
  ListStrategy,
  MarketsStrategy,
  MarketUse,
  StreamingStrategy,
} from '../strategy/contract.ts';
import type { Indicators } from '../strategy/named-indicators.ts';
import type { Params, ParamValues } from '../strategy/params.ts';

/** A decimal: text keeps every digit. */
export type Amount = string | number;

/** One kline as code gives it: opening time in UTC ms, prices in quote, volume in base. */
export interface KlineRow extends Pick<Kline, keyof Columns> {
  readonly symbol?: string;
  readonly interval?: Interval;
}

/** Klines as columns of one length, oldest first: opening times in UTC ms, prices in quote, volumes in base. */
export type KlineColumns = ColumnValues;

/** How a symbol of your own is traded. */
export interface InstrumentOptions {
  readonly base: string;
  readonly quote: string;
  /** Decimals of a price. */
  readonly pricePrecision: number;
  /** Decimals of a quantity. */
  readonly quantityPrecision: number;
  /** In base. */
  readonly minQuantity?: string;
  /** In quote. */
  readonly minNotional?: string;
}

/** The path of a klines file, relative to the working directory; or klines. */
export type Klines = string | Iterable<KlineRow> | KlineColumns;

/** What every backtest takes. */
interface RunOptions<P extends Params> {
  /** Values of its parameters; their defaults where they are left out. */
  readonly params?: Partial<ParamValues<P>>;
  /** The strategy's interval. May be left out where the klines contain it. */
  readonly interval?: Interval;
  /** The interval of the data, where that is smaller. */
  readonly dataInterval?: Interval;
  /** `2020-03-12`, `2020-03-12T08:00:00Z`, or a Date. Earlier klines warm the strategy up. */
  readonly from?: string | Date;
  /** The first moment that does not belong to the run. */
  readonly to?: string | Date;
  /** What the account begins with, in quote. */
  readonly cash: Amount;
  /** How orders fill; `sluice` when left out. */
  readonly rules?: RulesetName;
  /** As fractions of a trade's value: 0.1 % is `'0.001'`. */
  readonly fees?: { readonly maker?: Amount; readonly taker?: Amount };
  /** What differs from the rules, such as `{ halfSpread: '0.0002' }`. */
  readonly fills?: Readonly<Record<string, unknown>>;
  /** Limits by their names. Without one, `maxOrderValue` and `maxPosition` are too large to bind. */
  readonly risk?: Readonly<Record<string, unknown>>;
  readonly account?: Account;
  /** The rules of `account: 'margin'`. */
  readonly margin?: Readonly<Record<string, unknown>>;
  /** A year's return without risk, as a fraction. */
  readonly riskFree?: Amount;
}

/**
 * A backtest of one strategy on one symbol. What is left out has the default of a configuration file; keys of the same name mean the same
 * there (docs/reference/configuration.md).
 */
export interface BacktestOptions<P extends Params = Params> extends RunOptions<P> {
  readonly strategy: DecidingStrategy<P, Indicators> | DecidingStrategy<P, Indicators, Memory> | StreamingStrategy<P>;
  /** Left out: the catalogue. */
  readonly data?: Klines;
  /** Such as `BTCUSDT`. May be left out where the klines contain it. */
  readonly symbol?: string;
  /** Of a symbol that Sluice does not know. */
  readonly instrument?: InstrumentOptions;
}

/** By symbol, of those that Sluice does not know. */
interface SeveralOptions<P extends Params> extends RunOptions<P> {
  readonly instruments?: Readonly<Record<string, InstrumentOptions>>;
}

/** A backtest of one strategy with markets by role. */
export interface MarketsBacktestOptions<
  P extends Params = Params,
  M extends Readonly<Record<string, MarketUse>> = Readonly<Record<string, MarketUse>>,
> extends SeveralOptions<P> {
  readonly strategy: MarketsStrategy<P, M, Indicators> | MarketsStrategy<P, M, Indicators, Memory>;
  /** By role; what is left out comes from the catalogue, or from the klines of another role with this symbol. */
  readonly data?: { readonly [Role in keyof M]?: Klines };
  /** As in a configuration. A role may be left out where its klines contain their symbol. */
  readonly markets?: { readonly [Role in keyof M]?: { readonly symbol: string; readonly interval?: Interval } };
}

/** A backtest of one strategy that chooses among a list of symbols. */
export interface ListBacktestOptions<P extends Params = Params> extends SeveralOptions<P> {
  readonly strategy: ListStrategy<P, Indicators> | ListStrategy<P, Indicators, Memory>;
  /** By symbol; what is left out comes from the catalogue. */
  readonly data?: Readonly<Record<string, Klines>>;
  /** The list; the symbols of `data` when left out. */
  readonly symbols?: readonly string[];
}

/** A backtest of any strategy. */
export type AnyBacktestOptions<P extends Params = Params> =
  | BacktestOptions<P>
  | MarketsBacktestOptions<P>
  | ListBacktestOptions<P>;

/** One fill of a backtest. */
export interface BacktestFill extends FillJson {
  /** Whether its order rested before it filled. */
  readonly maker: boolean;
  /** By which rule it was granted. */
  readonly evidence: Evidence | null;
}

export interface BacktestResult {
  /** Oldest first; the same as in `sluice backtest --json`. */
  readonly fills: readonly BacktestFill[];
  /** Equity through time, in quote, at up to 1,200 evenly spaced points. Times are UTC ms. */
  readonly equity: Curve;
  /** The same at each UTC day's close, by which the ratios are computed. */
  readonly daily: Curve;
  /** Profit of each symbol at the times of `equity`, computed when called; undefined where there are several currencies. */
  readonly profitByMarket: () => MarketCurves | undefined;
  /** Return, Sharpe ratio, max drawdown and so on; null where a figure would mean nothing (docs/reference/json.md). */
  readonly figures: Summary['metrics'];
  /** Everything else that `sluice backtest --json` prints: final equity, denials, warnings, the verdict. */
  readonly summary: Summary;
}
