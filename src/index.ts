/** What a strategy of your own imports: `import { defineStrategy, sma, hold, flat } from 'sluice'`. */
export type { Instrument } from './domain/instrument.ts';
export { type Interval, intervals } from './domain/interval.ts';
export type { Depth, FeedGap, Kline, Level, Side, Ticker, Trade } from './domain/market.ts';
export type { Fill, Goal, Quote, Quotes, Target, Want } from './domain/order.ts';
export {
  type Context,
  defineStrategy,
  flat,
  type Holding,
  hold,
  type Moment,
  quotes,
  type Strategy,
} from './strategy/contract.ts';
export {
  atr,
  type Columns,
  ema,
  type Indicator,
  type Prices,
  rsi,
  type Source,
  sma,
  type TimedPrices,
} from './strategy/indicators.ts';
export { on } from './strategy/larger-klines.ts';
export { choice, decimal, flag, integer, type Param, type Params, type ParamValues } from './strategy/params.ts';
export { highest, lowest, stdev } from './strategy/windows.ts';
