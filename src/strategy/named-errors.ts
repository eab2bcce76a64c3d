/** A strategy whose throws say which one it was, and when: what is thrown need not even be an error. */
import { catchError } from 'rxjs';
import { type Context, isStreaming, type Strategy } from './contract.ts';
import { StrategyThrew } from './fault.ts';
import { over } from './override.ts';
import type { Params } from './params.ts';

/** `id` and `use` as configured. */
export function named(strategy: Strategy, id: string, use: string): Strategy {
  if (isStreaming(strategy)) {
    const rethrown = (error: unknown): never => {
      throw new StrategyThrew(error, { id, use });
    };
    return over(strategy, {
      signals(context: Context<Params>) {
        try {
          return strategy.signals(context).pipe(catchError(rethrown));
        } catch (error) {
          return rethrown(error);
        }
      },
    });
  }
  return over(strategy, {
    decide(values: Readonly<Record<string, number>>, moment: Parameters<typeof strategy.decide>[1]) {
      try {
        return strategy.decide(values, moment);
      } catch (error) {
        throw new StrategyThrew(error, { id, use, at: moment.kline.openTime });
      }
    },
  });
}
