/** The door through which strategies are heard: one that changes its mind without end is not, and that counts against it. */
import type { Clock } from '../clock/clock.ts';
import type { Signal } from '../domain/order.ts';
import type { Journal } from '../journal/journal.ts';
import { sameWant } from '../portfolio/planner.ts';
import type { Book } from './components.ts';

/** One real second, ms. */
const secondMs = 1_000;

interface Heard {
  since: number;
  count: number;
}

/** True while a signal is heard. A wish that is only repeated costs nothing and is not counted. */
export function signalRateLimit(
  { planner, risk }: Pick<Book, 'planner' | 'risk'>,
  clock: Clock,
  journal: Pick<Journal, 'append'>,
): (signal: Signal) => boolean {
  const most = risk.limits.maxSignalsPerSecond;
  if (most === undefined) return () => true;
  const heard = new Map<string, Heard>();
  const second = clock.machine(secondMs);
  return ({ strategy, symbol, want }) => {
    const standing = planner.standing(strategy, symbol);
    if (standing !== undefined && sameWant(standing.want, want)) return true;
    const now = clock.now();
    const one = heard.get(strategy) ?? { since: now, count: 0 };
    heard.set(strategy, one);
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
        wanted: want.kind === 'target' ? 'another target' : 'other quotes',
        reason: want.reason,
      });
    risk.refused(strategy, 'signalRate');
    return false;
  };
}
