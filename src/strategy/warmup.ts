/** How many klines a strategy needs before its first signal, and which intervals it can run on. */
import { inspect } from 'node:util';
import type { Interval } from '../domain/interval.ts';
import { isStreaming, type Strategy } from './contract.ts';
import type { Indicator } from './indicators.ts';
import { aggregationFault, ownWarmup } from './larger-klines.ts';
import type { Params, ParamValues } from './params.ts';

/** A number of klines, of the larger interval where `of` names one. */
export type Need = Pick<Indicator, 'warmup' | 'of'>;

/** Everything that must have closed before the first signal. */
export function needsOf(strategy: Strategy, params: ParamValues<Params>): readonly Need[] {
  const own: Need = { warmup: strategy.warmup?.(params) ?? 0 };
  if (isStreaming(strategy)) return [own];
  return [own, ...Object.values(strategy.indicators(params) as Record<string, Indicator>)];
}

/** A number of klines of the strategy's own interval that always suffices. */
export const warmupOf = (strategy: Strategy, params: ParamValues<Params>, interval: Interval): number =>
  Math.max(...needsOf(strategy, params).map((need) => ownWarmup(need, interval)));

/** Klines that a live start loads: at least what a chart shows, at most what 100 requests return. */
export const liveHistory = (warmup: number): number => Math.min(30_000, Math.max(300, warmup));

/** What is wrong with its warm-up or indicators, or undefined. Strategy files are not type-checked. */
export function needsFault(strategy: Strategy, params: ParamValues<Params>): string | undefined {
  const { warmup: own } = strategy as { readonly warmup?: unknown };
  if (own !== undefined && typeof own !== 'function')
    return `warmup is ${inspect(own)}: it must be a function that gives a number of klines, such as () => 50`;
  const warmup: unknown = strategy.warmup?.(params) ?? 0;
  if (!Number.isFinite(warmup)) return `warmup() gives ${inspect(warmup)}: it must give a number of klines, such as 50`;
  if (isStreaming(strategy)) return undefined;
  const all: unknown = strategy.indicators(params);
  if (typeof all !== 'object' || all === null || all instanceof Promise)
    return `indicators() gives ${inspect(all)}: it must give an object, such as { average: sma('close', 20) }`;
  for (const [name, one] of Object.entries(all)) {
    if (!isIndicator(one))
      return `indicators() gives ${inspect(one, { depth: 0, breakLength: Number.POSITIVE_INFINITY })} as ${name}: it must be an indicator, such as sma('close', 20), or { warmup, column, stream }`;
    if (!(one.warmup >= 0 && one.warmup < 1e9))
      return `indicators() gives ${name} with a warmup of ${one.warmup}: it must be a number of klines`;
  }
  return undefined;
}

function isIndicator(value: unknown): value is Indicator {
  if (typeof value !== 'object' || value === null) return false;
  const { warmup, column, stream } = value as Readonly<Record<string, unknown>>;
  return typeof warmup === 'number' && typeof column === 'function' && typeof stream === 'function';
}

/** Why its indicators cannot be calculated from klines of an interval, or undefined. */
export const intervalFault = (
  strategy: Strategy,
  params: ParamValues<Params>,
  interval: Interval,
): string | undefined =>
  needsOf(strategy, params)
    .map(({ of }) => (of === undefined ? undefined : aggregationFault(interval, of)))
    .find((fault) => fault !== undefined);
