/** Ignores the signals of a strategy that changes them too often, and counts that against it. */
import type { Clock } from '../clock/clock.ts';
import { type Decision, sameSignal } from '../domain/order.ts';
import type { Journal } from '../journal/journal.ts';
import type { TradingComponents } from './components.ts';

/** One real second, ms. */
const secondMs = 1_000;

interface Second {
  since: number;
  count: number;
}

/** True while a decision is allowed. One that only repeats its signals is not counted. */
export function signalRateLimit(
  { planner, risk }: Pick<TradingComponents, 'planner' | 'risk'>,
  clock: Clock,
  journal: Pick<Journal, 'append'>,
): (decision: Decision) => boolean {
  const most = risk.limits.maxSignalsPerSecond;
  if (most === undefined) return () => true;
  const seconds = new Map<string, Second>();
  const second = clock.machine(secondMs);
  return ({ strategy, legs }) => {
    const changed = legs.find(({ symbol, signal }) => {
      const standing = planner.standing(strategy, symbol);
      return standing === undefined || !sameSignal(standing.signal, signal);
    });
    if (changed === undefined) return true;
    const { symbol, signal } = changed;
    const now = clock.now();
    const one = seconds.get(strategy) ?? { since: now, count: 0 };
    seconds.set(strategy, one);
    if (now - one.since >= second) {
      one.since = now;
      one.count = 0;
    }
    one.count++;
    if (one.count <= most) return true;
    // The first one over it is written down, each is counted.
    if (one.count === most + 1)
      journal.append({
        kind: 'denied',
        at: now,
        strategy,
        symbol,
        code: 'signalRate',
        facts: { inLastSecond: one.count, maxSignalsPerSecond: most },
        draft: signal.kind === 'target' ? 'another target' : 'other quotes',
        reason: signal.reason,
      });
    risk.refused(strategy, 'signalRate');
    return false;
  };
}
