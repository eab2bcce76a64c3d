/** Strategies made of streams whose errors name them. */
import { inspect } from 'node:util';
import { catchError, isObservable, type Observable } from 'rxjs';
import type { Signal } from '../domain/order.ts';
import type { Context, StreamingStrategy } from './contract.ts';
import { SignalError, StrategyThrew } from './fault.ts';
import { over } from './override.ts';
import type { Params } from './params.ts';

/** What `signals` returned. Throws a `SignalError` for what is no stream. */
export function streamOf(returned: Observable<Signal>): Observable<Signal> {
  if (isObservable(returned)) return returned;
  throw new SignalError(
    `signals() returned ${inspect(returned, { depth: 0 })}: it must return a stream of signals, such as klines.pipe(map(…))`,
  );
}

/** A strategy whose errors name it, by its configured `id` and `use`. */
export function namedStreams(strategy: StreamingStrategy<Params>, id: string, use: string): StreamingStrategy<Params> {
  const rethrow = (error: unknown): never => {
    throw new StrategyThrew(error, { id, use });
  };
  return over(strategy, {
    signals(context: Context<Params>) {
      try {
        return streamOf(strategy.signals(context)).pipe(catchError(rethrow));
      } catch (error) {
        return rethrow(error);
      }
    },
  });
}
