/**
 * A lane carries out one decision at a time. It keeps only the latest decision of each strategy. So nothing is sent while an earlier
 * outcome is unknown, and nothing stale is sent afterwards.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import type { Clock } from '../clock/clock.ts';
import type { Decision } from '../domain/order.ts';

/**
 * Calls `carryOut` for one decision after another, for each strategy's latest only. `carryOut` returns undefined when there was nothing to
 * do. Running work is never abandoned: unsubscribing only stops new decisions.
 */
export function latestWhenFree(
  clock: Clock,
  carryOut: (decision: Decision) => Promise<void> | undefined,
): OperatorFunction<Decision, never> {
  return (decisions) =>
    new Observable((out) => {
      const waiting = new Map<string, Decision>();
      let busy = false;
      let ended = false;

      function begin(decision: Decision): void {
        const work = carryOut(decision);
        if (work === undefined) return;
        busy = true;
        clock.track(work.then(free, fail)).catch(fail);
      }
      function free(): void {
        busy = false;
        while (!busy && waiting.size > 0 && !out.closed) {
          const [strategy, decision] = waiting.entries().next().value as [string, Decision];
          waiting.delete(strategy);
          begin(decision);
        }
        if (ended && !busy) out.complete();
      }
      function fail(error: unknown): void {
        out.error(error);
      }

      return decisions.subscribe({
        next(decision) {
          if (busy) waiting.set(decision.strategy, decision);
          else begin(decision);
        },
        error: fail,
        complete() {
          ended = true;
          if (!busy) out.complete();
        },
      });
    });
}
