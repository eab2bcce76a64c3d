/** The exports for your own strategy: `import { defineStrategy, sma, hold, flat } from 'sluice'`; and `backtest`, which runs one. */
import type {
  AnyBacktestOptions,
  BacktestOptions,
  BacktestResult,
  ListBacktestOptions,
  MarketsBacktestOptions,
} from './backtest/options.ts';
import type { MarketUse } from './strategy/contract.ts';
import type { Params } from './strategy/params.ts';

export type {
  AnyBacktestOptions,
  BacktestFill,
  BacktestOptions,
  BacktestResult,
  InstrumentOptions,
  KlineColumns,
  KlineRow,
  ListBacktestOptions,
  MarketsBacktestOptions,
} from './backtest/options.ts';
export type { Instrument } from './domain/instrument.ts';
export { type Interval, intervals } from './domain/interval.ts';
export type { Depth, FeedGap, Kline, Level, Side, Ticker, Trade } from './domain/market.ts';
export type { Memory, MemoryValue } from './domain/memory.ts';
export type { Fill, Quote, Quotes, Signal, Size, Target } from './domain/order.ts';
export type { Curve } from './research/curves.ts';
export type { MarketCurve, MarketCurves } from './research/market-curves.ts';
export type { Metrics } from './research/metrics.ts';
export type { Summary } from './research/summary.ts';
export {
  type Context,
  type DecidingStrategy,
  defineStrategy,
  type Holding,
  type LastExit,
  type Legs,
  type ListMarket,
  type ListStrategy,
  type MarketsMoment,
  type MarketsStrategy,
  type MarketUse,
  type Moment,
  type Strategy,
  type StreamingStrategy,
  type WeightExits,
  type Weights,
} from './strategy/contract.ts';
export {
  accumulationDistribution,
  adx,
  anchoredVwap,
  aroon,
  atr,
  beta,
  bollinger,
  type Columns,
  cci,
  chaikinOscillator,
  cmo,
  correlation,
  dema,
  donchian,
  ema,
  formula,
  fromStreaming,
  heikinAshi,
  highest,
  hma,
  type Indicator,
  ichimoku,
  kama,
  keltner,
  linearRegression,
  lowest,
  macd,
  mfi,
  momentum,
  natr,
  obv,
  type PriceName,
  type Prices,
  parabolicSar,
  percentRank,
  ppo,
  roc,
  rollingVwap,
  rsi,
  type Source,
  type StreamingOptions,
  sessionVwap,
  sma,
  stdev,
  stochastic,
  stochRsi,
  supertrend,
  type TimedPrices,
  tema,
  trix,
  trueRange,
  ultimateOscillator,
  vwma,
  williamsR,
  wma,
  zScore,
} from './strategy/indicators.ts';
export { on } from './strategy/larger-klines.ts';
export { of } from './strategy/markets/joined-klines.ts';
export { weights } from './strategy/markets/weights.ts';
export type { Indicators } from './strategy/named-indicators.ts';
export {
  type ChoiceParam,
  choice,
  decimal,
  type FlagParam,
  flag,
  integer,
  type NumberParam,
  type Param,
  type Params,
  type ParamValues,
} from './strategy/params.ts';
export { flat, hold, quotes } from './strategy/signals.ts';
export { kellyShare, riskShare, volatilityShare } from './strategy/sizing.ts';

/**
 * Runs a strategy over recorded klines, as `sluice backtest` does, and gives its fills, equity and figures. One of several markets takes klines
 * by role, or by symbol where it chooses. Rejects with an Error of one message where the command would refuse: wrong options or data, or an
 * error that the strategy throws.
 */
export function backtest<P extends Params, M extends Readonly<Record<string, MarketUse>>>(
  options: MarketsBacktestOptions<P, M>,
): Promise<BacktestResult>;
export function backtest<P extends Params>(options: ListBacktestOptions<P>): Promise<BacktestResult>;
export function backtest<P extends Params>(options: BacktestOptions<P>): Promise<BacktestResult>;
export async function backtest(options: AnyBacktestOptions): Promise<BacktestResult> {
  // Loaded here: strategies import this file, and what runs a backtest loads strategies.
  const { backtest: run } = await import('./backtest/from-code.ts');
  return run(options);
}
