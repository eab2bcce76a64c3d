/** Reads what the journal has of a period, in a thread of its own: a long journal delays no order. */
import { parentPort, workerData } from 'node:worker_threads';
import { booksBetween, proofText } from '../../books/daily-proof.ts';
import { openReader } from '../../journal/reader.ts';

export interface CountsAsked {
  readonly stateDir: string;
  /** By the exchange's clock, UTC ms: from this moment on, and before this one. */
  readonly since: number;
  readonly until: number;
}

export interface Counts {
  readonly fills: number;
  /** By rule, the most frequent first. */
  readonly denials: readonly { readonly rule: string; readonly times: number }[];
  /** Orders whose outcome was unknown for a while. */
  readonly unknowns: number;
  /** Closed profit less fees of each strategy that traded, in its quote asset. */
  readonly closed: readonly { readonly strategy: string; readonly net: string; readonly quote: string }[];
  /** Of each UTC day, whether account and ledger agreed: `even at 06:59:30`. Empty where nothing was compared. */
  readonly proofs: readonly { readonly day: string; readonly text: string }[];
}

export function countBetween({ stateDir, since, until }: CountsAsked): Counts {
  const reader = openReader(stateDir);
  const { db } = reader;
  const count = (sql: string): number => (db.prepare(sql).get(since, until) as { readonly count: number }).count;
  try {
    const { profit, proofs } = booksBetween(reader, since, until);
    return {
      closed: profit.rows.map(({ group: { strategy = '' }, quote, net }) => ({ strategy, quote, net })),
      proofs: proofs.map((proof) => ({ day: proof.day, text: proofText(proof) })),
      fills: count('SELECT count(*) AS count FROM fills WHERE time >= ? AND time < ?'),
      denials: reader.denialsSince(since).map(({ rule, times }) => ({ rule, times })),
      unknowns: count(
        "SELECT count(DISTINCT client_order_id) AS count FROM events WHERE at >= ? AND at < ? AND event IN ('unknown', 'quarantined')",
      ),
    };
  } finally {
    reader.close();
  }
}

parentPort?.postMessage(countBetween(workerData as CountsAsked));
