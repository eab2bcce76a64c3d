/** A strategy with something else in its place. */
import { isStreaming, type Strategy } from './contract.ts';

/**
 * What a strategy says, with these members changed. Each of the others is still asked of the strategy itself: a copy of an object of a
 * class would have none of its methods.
 */
export function over<S extends Strategy>(strategy: S, changes: Partial<S>): S {
  if (Object.getPrototypeOf(strategy) === Object.prototype) return { ...strategy, ...changes };
  const { name, about, params } = strategy;
  const common = {
    ...{ name, about, params },
    ...(strategy.warmup !== undefined && { warmup: (given: never) => strategy.warmup?.(given) }),
    ...(strategy.check !== undefined && { check: (given: never) => strategy.check?.(given) }),
  };
  const all = isStreaming(strategy)
    ? { ...common, signals: (context: never) => strategy.signals(context) }
    : {
        ...common,
        indicators: (given: never) => strategy.indicators(given),
        decide: (values: never, moment: never) => strategy.decide(values, moment),
      };
  return Object.assign(all, changes) as S;
}
