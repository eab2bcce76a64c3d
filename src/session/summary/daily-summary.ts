/** Once a day, what happened since the last time: `alerts.summary`. Its base is kept in the journal, so that a restart loses no day. */
import { Worker } from 'node:worker_threads';
import { lastTimeOfDay } from '../../alerts/routes.ts';
import type { AlertsConfig } from '../../config/alerts.ts';
import type { View } from '../../dashboard/view.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import type { Counts, CountsAsked } from './counts-thread.ts';
import { type Base, summaryText } from './summary-text.ts';

/** The name under which the journal keeps it. */
export const summaryName = 'dailySummary';
/** Poll interval, real ms. */
export const summaryCheckMs = 5_000;
const dayMs = 86_400_000;
/** Two times of day that are closer are the same one: clocks were changed between. */
const sameTimeMs = 2 * 3_600_000;

export interface SummaryParts {
  /** When it is due; a reload may change it. Undefined: never. */
  readonly time: () => AlertsConfig['summary'];
  readonly isReady: () => boolean;
  readonly view: () => View;
  /** What the journal has kept. */
  readonly kept: string | undefined;
  readonly remember: (value: string) => void;
  readonly counts: (since: number, until: number) => Promise<Counts>;
  readonly summarize: (text: string) => void;
  readonly failed: (error: unknown) => void;
  /** UTC ms of the machine, and since when the daemon runs. */
  readonly now: () => number;
  readonly startedAt: number;
  /** When the journal began, by the exchange's clock, UTC ms. */
  readonly journalFrom: number;
}

/** To be called often. It does something once a day, while the daemon is ready. */
export function dailySummary(parts: SummaryParts): () => void {
  const { time, isReady, view, remember, counts, summarize, failed, now, startedAt } = parts;
  let base = parts.kept === undefined ? undefined : (JSON.parse(parts.kept) as Base);
  const keep = (kept: Base): void => {
    base = kept;
    remember(JSON.stringify(kept));
  };
  return () => {
    const daily = time();
    if (daily === undefined || !isReady()) return;
    const due = lastTimeOfDay(daily, now());
    if (base === undefined) {
      const { marketTime, equity } = view();
      // The first one starts at midnight UTC, or with the journal.
      const at = Math.max(marketTime - (marketTime % dayMs), parts.journalFrom);
      keep({ due, at, equity: equity.dayStart });
    } else if (due - base.due >= sameTimeMs) {
      const [since, shown] = [base, view()];
      keep({ due, at: shown.marketTime, equity: shown.equity.now });
      const upMs = now() - startedAt;
      counts(since.at, shown.marketTime).then((counted) => summarize(summaryText(shown, since, counted, upMs)), failed);
    }
  };
}

/** Counts in a thread of its own. */
export const countInThread = (asked: CountsAsked): Promise<Counts> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(moduleUrl('./counts-thread', import.meta.url), { workerData: asked });
    thread.once('message', resolve).once('error', reject);
  });
