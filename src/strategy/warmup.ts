/** What klines a strategy needs before it can say anything, and from which interval it can have them. */
import { inspect } from 'node:util';
import type { Interval } from '../domain/interval.ts';
import { isStreaming, type Strategy } from './contract.ts';
import type { Indicator } from './indicators.ts';
import { frameFault, ownWarmup } from './larger-klines.ts';
import type { Params, ParamValues } from './params.ts';

/** So many klines, of a larger interval than the strategy's where it is named. */
export type Need = Pick<Indicator, 'warmup' | 'of'>;

/** What a strategy must have seen closed before it may want anything, all of it. */
export function needsOf(strategy: Strategy, params: ParamValues<Params>): readonly Need[] {
  const own: Need = { warmup: strategy.warmup?.(params) ?? 0 };
  if (isStreaming(strategy)) return [own];
  return [own, ...Object.values(strategy.indicators(params) as Record<string, Indicator>)];
}

/** How many closed klines of its interval are always enough for that. */
export const warmupOf = (strategy: Strategy, params: ParamValues<Params>, interval: Interval): number =>
  Math.max(...needsOf(strategy, params).map((need) => ownWarmup(need, interval)));

/** Klines that a live start loads: at least what a chart shows, and no more than 100 requests give. */
export const liveHistory = (warmup: number): number => Math.min(30_000, Math.max(300, warmup));

/** What of its warm-up or its indicators is none, or undefined; a file of one's own is not held to types. */
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
  const none = Object.entries(all).find(([, one]) => !isIndicator(one));
  if (none === undefined) {
    const odd = Object.entries(all as Record<string, Indicator>).find(
      ([, one]) => !(one.warmup >= 0 && one.warmup < 1e9),
    );
    return odd && `indicators() gives ${odd[0]} with a warmup of ${odd[1].warmup}: it must be a number of klines`;
  }
  const [name, one] = none;
  return `indicators() gives ${inspect(one, { depth: 0, breakLength: Number.POSITIVE_INFINITY })} as ${name}: it must be an indicator, such as sma('close', 20), or { warmup, column, stream }`;
}

function isIndicator(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { warmup, column, stream } = value as Readonly<Record<string, unknown>>;
  return typeof warmup === 'number' && typeof column === 'function' && typeof stream === 'function';
}

/** Why its indicators cannot be had from klines of an interval, or undefined. */
export function intervalFault(strategy: Strategy, params: ParamValues<Params>, interval: Interval): string | undefined {
  if (isStreaming(strategy)) return undefined;
  const indicators = Object.values(strategy.indicators(params) as Record<string, Indicator>);
  for (const { of } of indicators) {
    const fault = of === undefined ? undefined : frameFault(interval, of);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
