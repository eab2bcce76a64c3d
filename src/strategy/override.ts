/** Strategies with some members replaced. */
import { catchError } from 'rxjs';
import { type Context, isStreaming, type Strategy } from './contract.ts';
import { StrategyThrew } from './fault.ts';
import type { Params } from './params.ts';
import type { Values } from './values.ts';

/** A strategy with these members replaced. The others are still called on the strategy: a copied class instance would lose its methods. */
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

/** A strategy whose errors name it, by its configured `id` and `use`, and the kline. */
export function named(strategy: Strategy, id: string, use: string): Strategy {
  if (isStreaming(strategy)) {
    const rethrow = (error: unknown): never => {
      throw new StrategyThrew(error, { id, use });
    };
    return over(strategy, {
      signals(context: Context<Params>) {
        try {
          return strategy.signals(context).pipe(catchError(rethrow));
        } catch (error) {
          return rethrow(error);
        }
      },
    });
  }
  return over(strategy, {
    decide(values: Values, moment: Parameters<typeof strategy.decide>[1]) {
      try {
        return strategy.decide(values, moment);
      } catch (error) {
        throw new StrategyThrew(error, { id, use, openTime: moment.kline.openTime });
      }
    },
  });
}
