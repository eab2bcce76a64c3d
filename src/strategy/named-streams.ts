/** Strategies made of streams whose errors name them. */
import { catchError } from 'rxjs';
import type { Context, StreamingStrategy } from './contract.ts';
import { StrategyThrew } from './fault.ts';
import { over } from './override.ts';
import type { Params } from './params.ts';

/** A strategy whose errors name it, by its configured `id` and `use`. */
export function namedStreams(strategy: StreamingStrategy<Params>, id: string, use: string): StreamingStrategy<Params> {
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
