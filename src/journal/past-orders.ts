/**
 * Closed orders and fills of a journal. They grow for years and are rarely needed, so they stay in the file. Each query uses an index,
 * and all fills are read page by page.
 */
import type { Database } from 'better-sqlite3';
import type { Side } from '../domain/market.ts';
import type { Purpose } from '../domain/order.ts';
import type { FillEntry, OrderEntryRow } from './entries.ts';
import { readOrders, tables } from './rows.ts';

/** What is needed of our order to book its fills. */
export interface Owner {
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly side: Side;
  readonly purpose: Purpose;
}

/** A closed order with its fills. */
export interface PastOrder {
  readonly row: OrderEntryRow;
  readonly fills: readonly FillEntry[];
}

export type FillKey = Pick<FillEntry, 'tradeId' | 'orderId'>;

export type Past = Readonly<ReturnType<typeof pastIn>>;

/** The past of a new journal. */
export const noPast: Past = pastIn(() => undefined);

const fillColumns = tables.fill.fields.map(({ column }) => column).join(', ');

/** The columns in their order. Rows as objects would take twice as long to read, and a start reads every fill. */
type FillRow = readonly [
  tradeId: string,
  orderId: string,
  clientOrderId: string,
  strategy: string,
  account: FillEntry['account'],
  symbol: string,
  side: FillEntry['side'],
  price: string,
  quantity: string,
  fee: string,
  feeAsset: string,
  maker: number,
  time: number,
  purpose: FillEntry['purpose'],
  evidence: string | null,
  ...more: number[],
];

const fillOf = (row: FillRow): FillEntry => ({
  kind: 'fill',
  tradeId: row[0],
  orderId: row[1],
  clientOrderId: row[2],
  strategy: row[3],
  account: row[4],
  symbol: row[5],
  side: row[6],
  price: row[7],
  quantity: row[8],
  fee: row[9],
  feeAsset: row[10],
  maker: row[11] === 1,
  time: row[12],
  purpose: row[13],
  evidence: row[14],
});

/** Fills by a condition of the table, oldest first. */
export const readFills = (db: Database, where: string, ...values: readonly (string | number)[]): FillEntry[] =>
  (
    db
      .prepare(`SELECT ${fillColumns} FROM fills WHERE ${where} ORDER BY seq`)
      .raw()
      .all(...values) as FillRow[]
  ).map(fillOf);

/** Fills read at a time: larger pages would survive the garbage collector's short rounds and be copied. */
const fillsInPage = 100;

const queries = {
  owner: 'SELECT client_order_id AS clientOrderId, strategy, side, purpose FROM orders WHERE order_id = ?',
  reason: 'SELECT reason FROM orders WHERE client_order_id = ?',
  orderId: 'SELECT order_id FROM orders WHERE client_order_id = ?',
  // The unique index begins with the account.
  fill: `SELECT ${fillColumns} FROM fills WHERE account IN ('spot', 'margin') AND trade_id = ? AND order_id = ?`,
  page: `SELECT ${fillColumns}, seq FROM fills WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${fillsInPage}`,
  newest: `SELECT ${fillColumns} FROM fills ORDER BY seq DESC LIMIT ?`,
  highest: `SELECT max(id) FROM (SELECT max(CAST(order_id AS INTEGER)) AS id FROM orders
    UNION ALL SELECT max(CAST(trade_id AS INTEGER)) FROM fills)`,
} as const;

/** The past in a database, which is opened at the first query. */
export function pastIn(open: () => Database | undefined) {
  let db: Database | undefined;
  let closed = false;
  const prepared = new Map<keyof typeof queries, ReturnType<Database['prepare']>>();
  /** Undefined once it is closed: work that is still in flight then finds nothing. */
  const connected = (): Database | undefined => {
    if (closed) return undefined;
    db ??= open();
    return db?.open === true ? db : undefined;
  };
  const ask = (name: keyof typeof queries) => {
    const query = prepared.get(name) ?? connected()?.prepare(queries[name]);
    if (query !== undefined) prepared.set(name, query);
    return connected() && query;
  };
  return {
    /** Our order with this exchange id, closed ones too, as far as written: fills can come late. */
    ownerOf: (orderId: string): Owner | undefined => ask('owner')?.get(orderId) as Owner | undefined,
    /** The exchange's id of our order. */
    orderIdOf: (clientOrderId: string): string | undefined =>
      (ask('orderId')?.get(clientOrderId) as { readonly order_id: string | null } | undefined)?.order_id ?? undefined,
    /** Why our order was sent. */
    reasonOf: (clientOrderId: string): string | undefined =>
      (ask('reason')?.get(clientOrderId) as { readonly reason: string } | undefined)?.reason,
    /** The row of a fill. */
    fill({ tradeId, orderId }: FillKey): FillEntry | undefined {
      const row = ask('fill')?.raw().get(tradeId, orderId) as FillRow | undefined;
      return row === undefined ? undefined : fillOf(row);
    },
    /** A journalled order with its fills. */
    order(clientOrderId: string): PastOrder | undefined {
      const own = connected();
      const [row] = own === undefined ? [] : readOrders(own, 'client_order_id = ?', clientOrderId);
      return own && row && { row, fills: readFills(own, 'client_order_id = ?', clientOrderId) };
    },
    /** Every fill, oldest first; or those after a row up to another one, by their numbers. */
    *fills(after = 0, until = Number.MAX_SAFE_INTEGER): Iterable<FillEntry> {
      for (let last = after; ; ) {
        const page = (ask('page')?.raw().all(last, until) ?? []) as FillRow[];
        for (const row of page) yield fillOf(row);
        last = (page.at(-1)?.[15] ?? last) as number;
        if (page.length < fillsInPage) return;
      }
    },
    /** The newest fills, oldest first. */
    newestFills: (count: number): readonly FillEntry[] =>
      ((ask('newest')?.raw().all(count) ?? []) as FillRow[]).map(fillOf).reverse(),
    /** The highest number among ids of orders and trades, or 0. For simulated venues, which continue from it; it reads all orders. */
    highestId: (): number => Number(ask('highest')?.pluck().get() ?? 0),
    /** Closes the file; from then on every query finds nothing. */
    close(): void {
      if (db !== undefined && !closed) db.close();
      closed = true;
    },
  };
}

/** Our orders by exchange id. The newest are in memory: they are needed most and may not be written yet. Others are read from the journal. */
export type Owners = ReturnType<typeof ownersAfter>;

/** Owners kept in memory beside those of open orders: more than can wait to be written. */
const maxOwners = 5_000;

/** `isOpen`: whether fills of an order are expected. Its owner stays in memory, as a journal in memory has no past. */
export function ownersAfter(past: Pick<Past, 'ownerOf' | 'orderIdOf'>, isOpen: (clientOrderId: string) => boolean) {
  let newest = new Map<string, Owner>();
  let before = newest;
  const known = (orderId: string): Owner | undefined => newest.get(orderId) ?? before.get(orderId);
  const owners = {
    has: (orderId: string): boolean => owners.get(orderId) !== undefined,
    get(orderId: string): Owner | undefined {
      const owner = known(orderId);
      if (owner !== undefined) return owner;
      const found = past.ownerOf(orderId);
      if (found !== undefined) owners.set(orderId, found);
      return found;
    },
    set(orderId: string, owner: Owner): void {
      newest.set(orderId, owner);
      if (newest.size < maxOwners) return;
      const open = [...before].filter(([, { clientOrderId }]) => isOpen(clientOrderId));
      before = newest;
      newest = new Map(open);
    },
    /** The exchange's id of our order. */
    idOf(clientOrderId: string): string | undefined {
      for (const [orderId, owner] of [...newest, ...before]) if (owner.clientOrderId === clientOrderId) return orderId;
      return past.orderIdOf(clientOrderId);
    },
  };
  return owners;
}
