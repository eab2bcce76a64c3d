/** A journal as its rules are checked on: one consistent moment, read-only, beside a running daemon or without one. */

import { readClientOrderId } from '../../domain/ids.ts';
import { Decimal } from '../../domain/money.ts';
import type { EventEntry, FillEntry, OrderEntryRow } from '../../journal/entries.ts';
import { readFills } from '../../journal/past-orders.ts';
import type { openToRead } from '../../journal/reader.ts';
import { readOrders } from '../../journal/rows.ts';

type Database = ReturnType<typeof openToRead>['db'];

/** A violation, with the order that it is about, if there is one. */
export interface Finding {
  readonly rule: string;
  readonly order?: string;
  readonly text: string;
}

export type Step = Pick<EventEntry, 'event' | 'detail'>;

export interface View {
  readonly db: Database;
  readonly idKey: Uint8Array;
  readonly orders: readonly OrderEntryRow[];
  readonly fills: readonly FillEntry[];
  readonly fillsOf: ReadonlyMap<string, readonly FillEntry[]>;
  /** An order's steps, oldest first. */
  readonly steps: (clientOrderId: string) => readonly Step[];
  /**
   * Whether an order that has no row is of ours all the same: of a time that this journal lost and that an operator gave up when it was
   * accepted as restored.
   */
  readonly isLost: (clientOrderId: string) => boolean;
  readonly all: <T>(sql: string) => readonly T[];
}

export function viewOf(db: Database): View {
  const orders = readOrders(db, '1 ORDER BY client_order_id');
  const fills = readFills(db, '1');
  const fillsOf = new Map<string, FillEntry[]>();
  for (const fill of fills) {
    const known = fillsOf.get(fill.clientOrderId);
    if (known === undefined) fillsOf.set(fill.clientOrderId, [fill]);
    else known.push(fill);
  }
  const idKey = Buffer.from(keyOf(db), 'hex');
  const known = new Set(orders.map(({ clientOrderId }) => clientOrderId));
  const openings = db
    .prepare('SELECT epoch, accepted IS NOT NULL AS isAccepted FROM openings ORDER BY epoch')
    .all() as { readonly epoch: number; readonly isAccepted: number }[];
  // Of each that was accepted: from the one before it, of which the copy may have a part, until itself.
  const gaps = openings.flatMap(({ epoch, isAccepted }, index) =>
    isAccepted === 1 ? [{ from: openings[index - 1]?.epoch ?? 0, until: epoch }] : [],
  );
  const isInGap = (epoch: number): boolean => gaps.some(({ from, until }) => epoch >= from && epoch < until);
  const steps = db.prepare('SELECT event, detail FROM events WHERE client_order_id = ? ORDER BY seq');
  return {
    db,
    idKey,
    orders,
    fills,
    fillsOf,
    steps: (id) =>
      (steps.all(id) as { event: EventEntry['event']; detail: string }[]).map(({ event, detail }) => ({
        event,
        detail: JSON.parse(detail) as EventEntry['detail'],
      })),
    isLost: (id) => !known.has(id) && isInGap(readClientOrderId(id, idKey)?.epoch ?? Number.POSITIVE_INFINITY),
    all: <T>(sql: string) => db.prepare(sql).all() as T[],
  };
}

const keyOf = (db: Database): string =>
  (db.prepare("SELECT value FROM meta WHERE key = 'idKey'").pluck().get() as string | undefined) ?? '';

/** Exact sum of decimal text. */
export const sumOf = (texts: Iterable<string>): Decimal => {
  let sum = new Decimal(0);
  for (const text of texts) sum = sum.plus(text);
  return sum;
};
