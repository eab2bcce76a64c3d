/**
 * A lane carries out one wish at a time. It does not queue: of each strategy it keeps the latest signal, so nothing is sent
 * while an earlier outcome is unknown, and nothing stale is sent after it.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import type { Clock } from '../clock/clock.ts';
import type { Signal } from '../domain/order.ts';

/**
 * Hands signals to `carryOut` one after another, each strategy's latest only. `carryOut` gives undefined when there was
 * nothing to do. Work that has begun is never abandoned: unsubscribing only stops taking new signals.
 */
export function latestWhenFree(
  clock: Clock,
  carryOut: (signal: Signal) => Promise<void> | undefined,
): OperatorFunction<Signal, never> {
  return (signals) =>
    new Observable((out) => {
      const waiting = new Map<string, Signal>();
      let busy = false;
      let ended = false;

      function begin(signal: Signal): void {
        const work = carryOut(signal);
        if (work === undefined) return;
        busy = true;
        clock.track(work.then(free, fail)).catch(fail);
      }
      function free(): void {
        busy = false;
        while (!busy && waiting.size > 0 && !out.closed) {
          const [strategy, signal] = waiting.entries().next().value as [string, Signal];
          waiting.delete(strategy);
          begin(signal);
        }
        if (ended && !busy) out.complete();
      }
      function fail(error: unknown): void {
        out.error(error);
      }

      return signals.subscribe({
        next(signal) {
          if (busy) waiting.set(signal.strategy, signal);
          else begin(signal);
        },
        error: fail,
        complete() {
          ended = true;
          if (!busy) out.complete();
        },
      });
    });
}
