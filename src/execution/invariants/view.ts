/** A read-only view of a journal at one moment, on which its rules are checked, also beside a running daemon. */
import { readClientOrderId } from '../../domain/ids.ts';
import { Decimal } from '../../domain/money.ts';
import type { EventEntry, FillEntry, OrderEntryRow } from '../../journal/entries.ts';
import { readFills } from '../../journal/past-orders.ts';
import type { openToRead } from '../../journal/reader.ts';
import { readOrders, readRows } from '../../journal/rows.ts';

type Database = ReturnType<typeof openToRead>['db'];

/** A violation, with its order if it has one. */
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
  /** Whether an order without a row is ours: of the epochs that the journal lost before an operator accepted it as restored. */
  readonly isLost: (clientOrderId: string) => boolean;
  readonly all: <T>(sql: string) => readonly T[];
}

export function viewOf(db: Database): View {
  const orders = readOrders(db, '1 ORDER BY client_order_id');
  const fills = readFills(db, '1');
  const idKey = Buffer.from(keyOf(db), 'hex');
  const known = new Set(orders.map(({ clientOrderId }) => clientOrderId));
  const openings = db
    .prepare('SELECT epoch, accepted IS NOT NULL AS isAccepted FROM openings ORDER BY epoch')
    .all() as { readonly epoch: number; readonly isAccepted: number }[];
  // For each accepted opening: the epochs since the one before, of which the copy may lack a part.
  const gaps = openings.flatMap(({ epoch, isAccepted }, index) =>
    isAccepted === 1 ? [{ from: openings[index - 1]?.epoch ?? 0, until: epoch }] : [],
  );
  const isInGap = (epoch: number): boolean => gaps.some(({ from, until }) => epoch >= from && epoch < until);
  return {
    db,
    idKey,
    orders,
    fills,
    fillsOf: Map.groupBy(fills, ({ clientOrderId }) => clientOrderId),
    steps: (id) => readRows(db, 'event', 'WHERE client_order_id = ? ORDER BY seq', id),
    isLost: (id) => !known.has(id) && isInGap(readClientOrderId(id, idKey)?.epoch ?? Number.POSITIVE_INFINITY),
    all: <T>(sql: string) => db.prepare(sql).all() as T[],
  };
}

const keyOf = (db: Database): string =>
  (db.prepare("SELECT value FROM meta WHERE key = 'idKey'").pluck().get() as string | undefined) ?? '';

/** Exact sum of decimal text. */
export const sumOf = (texts: Iterable<string | Decimal>): Decimal => {
  let sum = new Decimal(0);
  for (const text of texts) sum = sum.plus(text);
  return sum;
};
