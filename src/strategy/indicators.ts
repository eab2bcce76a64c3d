/** The indicators that a strategy may use, and their types. */
export type { Columns } from '../domain/market.ts';
export type { Indicator, PriceName, Prices, Source, TimedPrices } from './indicator.ts';
export { dema, ema, hma, kama, sma, tema, vwma, wma } from './indicators/averages.ts';
export { bollinger, donchian, ichimoku, keltner } from './indicators/bands.ts';
export { macd, ppo, trix } from './indicators/convergence.ts';
export { formula } from './indicators/formula.ts';
export { fromStreaming, type StreamingOptions } from './indicators/from-streaming.ts';
export { heikinAshi } from './indicators/heikin-ashi.ts';
export { cci, momentum, roc, stochastic, stochRsi, williamsR } from './indicators/oscillators.ts';
export { atr, natr, trueRange } from './indicators/ranges.ts';
export {
  beta,
  correlation,
  highest,
  linearRegression,
  lowest,
  percentRank,
  stdev,
  zScore,
} from './indicators/statistics.ts';
export { cmo, mfi, rsi, ultimateOscillator } from './indicators/strength.ts';
export { adx, aroon, parabolicSar, supertrend } from './indicators/trend.ts';
export { accumulationDistribution, chaikinOscillator, obv } from './indicators/volume.ts';
export { anchoredVwap, rollingVwap, sessionVwap } from './indicators/vwap.ts';
