/** Every indicator, by the text of its call. */
import type { Indicator } from '../../src/strategy/indicators.ts';
import * as indicators from '../../src/strategy/indicators.ts';
import { namedIndicators } from '../../src/strategy/named-indicators.ts';

const { accumulationDistribution, adx, anchoredVwap, aroon, atr, beta, bollinger, cci, chaikinOscillator } = indicators;
const { cmo, correlation, dema, donchian, ema, heikinAshi, highest, hma, ichimoku, kama, keltner } = indicators;
const { linearRegression, lowest, macd, mfi, momentum, natr, obv, parabolicSar, percentRank, ppo, roc } = indicators;
const { rollingVwap, rsi, sessionVwap, sma, stdev, stochastic, stochRsi, supertrend, tema, trix } = indicators;
const { trueRange, ultimateOscillator, vwma, williamsR, wma, zScore } = indicators;

export type Lines = Readonly<Record<string, Indicator>>;
export interface Call {
  readonly call: string;
  /** `value` for an indicator of one line. */
  readonly lines: Lines;
}

const called = (calls: Readonly<Record<string, Indicator | Lines>>): readonly Call[] =>
  Object.entries(calls).map(([call, made]) => ({
    call,
    lines: Object.fromEntries(namedIndicators({ made }).map(({ line = 'value', indicator }) => [line, indicator])),
  }));

/** Each value depends on its window alone. */
export const windowed = called({
  "sma('close', 20)": sma('close', 20),
  "sma('volume', 50)": sma('volume', 50),
  "wma('close', 20)": wma('close', 20),
  "wma('close', 200)": wma('close', 200),
  "sma(roc('close', 10), 20)": sma(roc('close', 10), 20),
  "hma('close', 20)": hma('close', 20),
  "vwma('close', 20)": vwma('close', 20),
  'rollingVwap(20)': rollingVwap(20),
  "bollinger('close', 20, 2)": bollinger('close', 20, 2),
  'donchian(20)': donchian(20),
  'ichimoku(9, 26, 52, 26)': ichimoku(9, 26, 52, 26),
  'aroon(14)': aroon(14),
  'stochastic(14, 3, 3)': stochastic(14, 3, 3),
  'williamsR(14)': williamsR(14),
  "cci('hlc3', 20)": cci('hlc3', 20),
  'mfi(14)': mfi(14),
  "cmo('close', 14, 'sum')": cmo('close', 14, 'sum'),
  "roc('close', 10)": roc('close', 10),
  "momentum('close', 10)": momentum('close', 10),
  'ultimateOscillator(7, 14, 28)': ultimateOscillator(7, 14, 28),
  'trueRange()': trueRange(),
  "linearRegression('close', 14)": linearRegression('close', 14),
  "linearRegression('close', 150)": linearRegression('close', 150),
  "zScore('close', 20)": zScore('close', 20),
  "correlation('high', 'volume', 30)": correlation('high', 'volume', 30),
  "beta('close', 'open', 10)": beta('close', 'open', 10),
  "percentRank('close', 100)": percentRank('close', 100),
  "highest('high', 20)": highest('high', 20),
  "lowest('low', 20)": lowest('low', 20),
  "stdev('close', 20)": stdev('close', 20),
});

/** All klines since the first count, with weights that fade; after these many klines the rest is below 1e-9 of the scale. */
export const recursive: readonly (Call & { readonly settled: number })[] = (
  [
    ["ema('close', 20)", ema('close', 20), 10.4 * 21],
    ["dema('close', 20)", dema('close', 20), 12.5 * 21],
    ["tema('close', 20)", tema('close', 20), 14.5 * 21],
    ["kama('close', 10)", kama('close', 10), 4_970],
    ["keltner('hlc3', 20, 10, 2)", keltner('hlc3', 20, 10, 2), 10.4 * 21],
    ["macd('close', 12, 26, 9)", macd('close', 12, 26, 9), 12.5 * 27],
    ["ppo('close', 12, 26, 9)", ppo('close', 12, 26, 9), 12.5 * 27],
    ["trix('close', 15)", trix('close', 15), 14.5 * 16],
    ['adx(14)', adx(14), 25 * 14],
    ["stochRsi('close', 14, 5, 1, 3)", stochRsi('close', 14, 5, 1, 3), 20.8 * 14],
    ["cmo('close', 14)", cmo('close', 14), 20.8 * 14],
    ["rsi('close', 14)", rsi('close', 14), 20.8 * 14],
    ['atr(14)', atr(14), 20.8 * 14],
    ['natr(14)', natr(14), 20.8 * 14],
    ['chaikinOscillator(3, 10)', chaikinOscillator(3, 10), 10.4 * 11],
    ['heikinAshi()', heikinAshi(), 30],
  ] as const
).map(([call, made, settled]) => ({ ...(called({ [call]: made })[0] as Call), settled: Math.ceil(settled) }));

/** The start counts until a turn, or for ever. */
export const others = called({
  'supertrend(10, 3)': supertrend(10, 3),
  'parabolicSar(0.02, 0.2)': parabolicSar(0.02, 0.2),
  'obv()': obv(),
  'accumulationDistribution()': accumulationDistribution(),
  'sessionVwap()': sessionVwap(),
  'anchoredVwap(first)': anchoredVwap(Date.UTC(2025, 9, 1)),
});

export const all: readonly Call[] = [...windowed, ...recursive, ...others];
