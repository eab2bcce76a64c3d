/** How many klines a strategy needs before its first signal, and which intervals it can run on. */
import { inspect } from 'node:util';
import { aggregationFault } from '../domain/aggregator.ts';
import type { Interval } from '../domain/interval.ts';
import type { AlonePolicy } from '../domain/order.ts';
import { hasList, hasRoles, isStreaming, type Strategy } from './contract.ts';
import { SignalError } from './fault.ts';
import type { Indicator } from './indicators.ts';
import { ownWarmup } from './larger-klines.ts';
import { joinedPrices } from './markets/joined-klines.ts';
import { scheduleFault } from './markets/schedule.ts';
import { type Indicators, isIndicator, namedIndicators } from './named-indicators.ts';
import type { Params, ParamValues } from './params.ts';

/** A number of klines, of the larger interval where `of` names one, and those of `after` beside them. */
export type Need = Pick<Indicator, 'warmup' | 'of' | 'after'>;

/** Everything that must have closed before the first signal; of a strategy of several markets, in the market of a role. */
export function needsOf(strategy: Strategy, params: ParamValues<Params>, role?: string): readonly Need[] {
  const own: Need = { warmup: strategy.warmup?.(params) ?? 0 };
  if (isStreaming(strategy)) return [own];
  const all = namedIndicators(strategy.indicators(params)).map(({ indicator }) => indicator);
  // One that is made of several markets needs klines of each.
  return [own, ...all.filter(({ market }) => market === undefined || role === undefined || market === role)];
}

/** A number of klines of an interval that always suffices: the strategy's own, or that of the market of a role. */
export const warmupOf = (strategy: Strategy, params: ParamValues<Params>, interval: Interval, role?: string): number =>
  Math.max(...needsOf(strategy, params, role).map((need) => ownWarmup(need, interval)));

/** Klines that a live start loads: at least what a chart shows, at most what about 300 requests return. */
export const liveHistory = (warmup: number): number => Math.min(100_000, Math.max(300, warmup));

/** What is wrong with its warm-up, indicators or schedule, or undefined. Strategy files are not type-checked. */
export function needsFault(strategy: Strategy, params: ParamValues<Params>): string | undefined {
  const { warmup: own } = strategy as { readonly warmup?: unknown };
  if (own !== undefined && typeof own !== 'function')
    return `warmup is ${inspect(own)}: it must be a function that gives a number of klines, such as () => 50`;
  const warmup: unknown = strategy.warmup?.(params) ?? 0;
  if (!(Number.isFinite(warmup) && Number(warmup) >= 0))
    return `warmup() gives ${inspect(warmup)}: it must give a number of klines, such as 50`;
  if (isStreaming(strategy)) return undefined;
  const unscheduled = hasList(strategy) ? scheduleFault(strategy.rebalance) : undefined;
  if (unscheduled !== undefined) return unscheduled;
  const loose = aloneFault(strategy);
  if (loose !== undefined) return loose;
  const all: unknown = strategy.indicators(params);
  if (typeof all !== 'object' || all === null || all instanceof Promise)
    return `indicators() gives ${inspect(all)}: it must give an object, such as { average: sma('close', 20) }`;
  for (const [name, one] of Object.entries(all))
    if (!isIndicator(one) && !isLines(one))
      return `indicators() gives ${inspect(one, { depth: 0, breakLength: Number.POSITIVE_INFINITY })} as ${name}: it must be an indicator, such as sma('close', 20), or { warmup, column, stream }, or an object of them, such as macd('close')`;
  for (const { name, indicator } of namedIndicators(all as Indicators))
    if (!(indicator.warmup >= 0 && indicator.warmup < 1e9))
      return `indicators() gives ${name} with a warmup of ${indicator.warmup}: it must be a number of klines`;
  return marketsFault(strategy, all as Indicators);
}

/** Which indicator reads a market that there is not, or undefined. */
function marketsFault(strategy: Strategy, indicators: Indicators): string | undefined {
  if (!hasRoles(strategy)) return undefined;
  const roles = Object.keys(strategy.markets as object);
  // Not one kline has closed: whatever reads a market finds it missing, or not there at all.
  const moment = joinedPrices(0, Object.fromEntries(roles.map((role) => [role, undefined])));
  for (const { name, indicator } of namedIndicators(indicators))
    try {
      indicator.stream('1min')(moment);
    } catch (error) {
      if (error instanceof SignalError) return `indicators() gives ${name}: ${error.message}`;
    }
  return undefined;
}

/** What is wrong with what a strategy says about legs that are open alone, or undefined. */
function aloneFault(strategy: Strategy): string | undefined {
  const { legsAlone } = strategy as { readonly legsAlone?: Partial<AlonePolicy> };
  if (legsAlone === undefined) return undefined;
  const traded = hasRoles(strategy) ? Object.values(strategy.markets).filter((use) => use === 'traded').length : 0;
  if (traded < 2)
    return 'has legsAlone: only a strategy with at least two traded markets can have legs that are open alone';
  const { afterMs, action } = legsAlone;
  if (Number.isSafeInteger(afterMs) && Number(afterMs) >= 1_000 && (action === 'complete' || action === 'unwind'))
    return undefined;
  return `legsAlone is ${inspect(legsAlone)}: it must be { afterMs: 60_000, action: 'complete' or 'unwind' }, with at least 1000 ms`;
}

/** Whether a value is an object of indicators, at least one. */
const isLines = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length > 0 &&
  Object.values(value).every(isIndicator);

/** Why its indicators cannot be calculated from klines of an interval, those of the market of a role, or undefined. */
export const intervalFault = (
  strategy: Strategy,
  params: ParamValues<Params>,
  interval: Interval,
  role?: string,
): string | undefined =>
  needsOf(strategy, params, role)
    .map(({ of }) => (of === undefined ? undefined : aggregationFault(interval, of)))
    .find((fault) => fault !== undefined);
