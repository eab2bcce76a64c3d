/** Strategies with some members replaced. */
import { hasList, hasRoles, isStreaming, type Moment, type Strategy } from './contract.ts';
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
        ...(strategy.memory !== undefined && { memory: strategy.memory }),
        indicators: (given: never) => strategy.indicators(given),
        ...(hasList(strategy)
          ? {
              ...(strategy.rebalance !== undefined && { rebalance: strategy.rebalance }),
              choose: (markets: never, moment: never) => strategy.choose(markets, moment),
            }
          : { decide: (values: never, moment: never) => strategy.decide(values, moment as never) }),
        ...(hasRoles(strategy) && {
          ...{ markets: strategy.markets, allowMissing: strategy.allowMissing === true },
          ...(strategy.legsAlone !== undefined && { legsAlone: strategy.legsAlone }),
        }),
      };
  return Object.assign(all, changes) as S;
}

/** A strategy whose errors name it, by its configured `id` and `use`, and the kline. */
export async function named(strategy: Strategy, id: string, use: string): Promise<Strategy> {
  // RxJS takes a sixth of the start of a backtest, and only streams need it.
  if (isStreaming(strategy)) return (await import('./named-streams.ts')).namedStreams(strategy, id, use);
  const threw = (error: unknown, openTime: number): StrategyThrew => new StrategyThrew(error, { id, use, openTime });
  if (hasList(strategy))
    return over(strategy, {
      choose(markets, moment) {
        try {
          return strategy.choose(markets, moment);
        } catch (error) {
          throw threw(error, moment.time);
        }
      },
    });
  if (hasRoles(strategy))
    return over(strategy, {
      decide(values, moment) {
        try {
          return strategy.decide(values, moment);
        } catch (error) {
          throw threw(error, moment.time);
        }
      },
    });
  return over(strategy, {
    // Called at each kline: what only an error needs is read after it.
    decide(values: Values, moment: Moment<Params>) {
      try {
        return strategy.decide(values, moment);
      } catch (error) {
        throw threw(error, moment.kline.openTime);
      }
    },
  });
}
