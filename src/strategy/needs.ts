/** What klines a strategy needs before it can say anything, and from which interval it can have them. */
import type { Interval } from '../domain/interval.ts';
import { isStreaming, type Strategy } from './contract.ts';
import { frameFault, ownWarmup } from './frames.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';

/** How many closed klines of its interval a strategy must have seen before it may want anything. */
export function warmupOf(strategy: Strategy, params: ParamValues<Params>, interval: Interval): number {
  const own = strategy.warmup?.(params) ?? 0;
  if (isStreaming(strategy)) return own;
  const indicators = Object.values(strategy.indicators(params) as Record<string, Indicator>);
  return Math.max(own, ...indicators.map((indicator) => ownWarmup(indicator, interval)));
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
