/**
 * Sizes of positions by rule: by the loss at the stop, by volatility, and by Kelly's formula. Pure: each returns a `Size` for `hold` from the
 * numbers it is given, and throws a `SignalError` that names a number which is impossible.
 */
import { type Interval, intervalMs } from '../domain/interval.ts';
import { SignalError } from './fault.ts';

/** 365 days, ms: markets of this field trade every day. */
const yearMs = 365 * 86_400_000;

export interface RiskOptions {
  /** What may be lost if the stop is hit, as a fraction of the equity: 0.01 is 1 %. */
  readonly risk: number;
  /** Price of the stop: below `price` for a long position, above it for a short one. */
  readonly stop: number;
  /** Price of the entry, such as the last close. */
  readonly price: number;
  /** The largest share, 1 if left out. */
  readonly cap?: number;
}

/**
 * Fixed fractional position sizing (R. Vince, Portfolio Management Formulas, 1990, chapter 2; V. K. Tharp, Trade Your Way to Financial Freedom,
 * chapter on position sizing): the share of the equity that loses `risk` of it between `price` and `stop`. Below zero, so short, where the stop
 * is above the price. Fees and slippage come on top of the loss. With `equity`, in quote, the same as an amount of that equity.
 */
export function riskShare(options: RiskOptions & { readonly equity: number }): { readonly amount: number };
export function riskShare(options: RiskOptions & { readonly equity?: undefined }): { readonly share: number };
export function riskShare(
  options: RiskOptions & { readonly equity?: number | undefined },
): { readonly amount: number } | { readonly share: number } {
  const { risk, stop, price, equity, cap = 1 } = options;
  known('riskShare', options, ['risk', 'stop', 'price', 'equity', 'cap']);
  within('riskShare', { risk, stop, price, cap });
  if (risk > 1) throw impossible('riskShare', 'risk', risk, 'a fraction of the equity: 0.01 is 1 %');
  if (stop === price) throw impossible('riskShare', 'stop', stop, 'another price than that of the entry');
  const share = Math.min((risk * price) / Math.abs(price - stop), cap) * Math.sign(price - stop);
  if (equity === undefined) return { share };
  within('riskShare', { equity });
  return { amount: share * equity };
}

export interface VolatilityOptions {
  /** Volatility to have, a year, as a fraction: 0.2 is 20 %. */
  readonly target: number;
  /** Standard deviation of the returns of one kline, as a fraction. */
  readonly deviation: number;
  /** Interval of these klines. */
  readonly interval: Interval;
  /** The largest share, 1 if left out; also the share where nothing moved. */
  readonly cap?: number;
}

/**
 * Volatility targeting: the share of the equity whose volatility would be `target` a year if the returns go on to deviate as they did
 * (Harvey et al., The Impact of Volatility Targeting, 2018, section 2). Moreira and Muir (Volatility-Managed Portfolios, 2017) scale by the
 * variance instead of its root. A year has 365 days, and the returns count as independent.
 */
export function volatilityShare(options: VolatilityOptions): { readonly share: number } {
  const { target, deviation, interval, cap = 1 } = options;
  known('volatilityShare', options, ['target', 'deviation', 'interval', 'cap']);
  within('volatilityShare', { target, cap });
  if (!(deviation >= 0 && Number.isFinite(deviation)))
    throw impossible('volatilityShare', 'deviation', deviation, 'a number of at least 0');
  const yearly = deviation * Math.sqrt(klinesOfYear(interval));
  return { share: yearly === 0 ? cap : Math.min(target / yearly, cap) };
}

function klinesOfYear(interval: Interval): number {
  const ms = interval === '1month' ? yearMs / 12 : intervalMs(interval, 0);
  if (!(ms > 0)) throw impossible('volatilityShare', 'interval', interval, "an interval such as '60min'");
  return yearMs / ms;
}

export interface KellyOptions {
  /** Share of the trades that win, 0 to 1. */
  readonly winRate: number;
  /** The average win divided by the average loss. */
  readonly payoff: number;
  /** The largest share, 0.25 if left out. */
  readonly cap?: number;
}

/**
 * Kelly's formula, capped: `winRate - (1 - winRate) / payoff`, never below zero (J. L. Kelly, A New Interpretation of Information Rate, 1956;
 * E. O. Thorp, The Kelly Criterion in Blackjack, Sports Betting, and the Stock Market, 2006, section 2). It counts a lost trade as a lost stake:
 * with a stop, give the share to `riskShare` as its `risk`. Too large where the estimates are too good, hence the cap.
 */
export function kellyShare(options: KellyOptions): { readonly share: number } {
  const { winRate, payoff, cap = 0.25 } = options;
  known('kellyShare', options, ['winRate', 'payoff', 'cap']);
  if (!(winRate >= 0 && winRate <= 1)) throw impossible('kellyShare', 'winRate', winRate, 'a number from 0 to 1');
  within('kellyShare', { payoff, cap });
  return { share: Math.min(Math.max(winRate - (1 - winRate) / payoff, 0), cap) };
}

/** Throws unless all are finite and above zero. */
function within(name: string, numbers: Readonly<Record<string, unknown>>): void {
  for (const key in numbers) {
    const value = numbers[key];
    if (!(typeof value === 'number' && value > 0 && Number.isFinite(value)))
      throw impossible(name, key, value, 'a number above 0');
  }
}

/** Throws for an unknown option: a misspelt cap would cap nothing. */
function known(name: string, options: object, keys: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw new SignalError(`${name}() with the unknown option ${unknown}; there are ${keys.join(', ')}`);
}

const impossible = (name: string, key: string, value: unknown, allowed: string): SignalError =>
  new SignalError(`${name}() with ${key} ${String(value)}: it must be ${allowed}`);
