/** Counts what the journal has since a time, in a thread of its own: a long journal delays no order. */
import { parentPort, workerData } from 'node:worker_threads';
import { openReader, openToRead } from '../../journal/reader.ts';

export interface CountsAsked {
  readonly stateDir: string;
  /** By the exchange's clock, UTC ms. */
  readonly since: number;
}

export interface Counts {
  readonly fills: number;
  /** By rule, the most frequent first. */
  readonly denials: readonly { readonly rule: string; readonly times: number }[];
  /** Orders whose outcome was unknown for a while. */
  readonly unknowns: number;
}

export function countSince({ stateDir, since }: CountsAsked): Counts {
  const { db } = openToRead(stateDir);
  const reader = openReader(stateDir);
  const count = (sql: string): number => (db.prepare(sql).get(since) as { readonly count: number }).count;
  try {
    return {
      fills: count('SELECT count(*) AS count FROM fills WHERE time > ?'),
      denials: reader.denialsSince(since).map(({ rule, times }) => ({ rule, times })),
      unknowns: count(
        "SELECT count(DISTINCT client_order_id) AS count FROM events WHERE at > ? AND event IN ('unknown', 'quarantined')",
      ),
    };
  } finally {
    reader.close();
    db.close();
  }
}

parentPort?.postMessage(countSince(workerData as CountsAsked));
