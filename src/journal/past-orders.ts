/**
 * What a journal holds of orders that ended and of fills. It grows for years and little of it is ever asked for, so that it stays
 * in the file: each question is one look into an index, and whoever needs every fill reads them once, page by page.
 */
import type { Database } from 'better-sqlite3';
import type { Side } from '../domain/market.ts';
import type { Purpose } from '../domain/order.ts';
import type { FillEntry, OrderEntryRow } from './entries.ts';
import { readOrders } from './order-rows.ts';

/** What must be known of an order of ours to book a fill of it. */
export interface Owner {
  readonly clientOrderId: string;
  readonly strategy: string;
  readonly side: Side;
  readonly purpose: Purpose;
}

/** What an order asked for, and what it came to. */
export interface PastOrder {
  readonly row: OrderEntryRow;
  readonly fills: readonly FillEntry[];
}

export type FillKey = Pick<FillEntry, 'tradeId' | 'orderId'>;

export interface Past {
  /** Whose an exchange id is: closed orders too, since fills can come late. Of what is written by now. */
  readonly ownerOf: (orderId: string) => Owner | undefined;
  /** The exchange's id of an order of ours. */
  readonly orderIdOf: (clientOrderId: string) => string | undefined;
  /** The row of a fill. */
  readonly fill: (key: FillKey) => FillEntry | undefined;
  /** An order that was written down, and its fills. */
  readonly order: (clientOrderId: string) => PastOrder | undefined;
  /** Every fill, oldest first. */
  readonly fills: () => Iterable<FillEntry>;
  /** The newest fills, oldest first. */
  readonly newestFills: (count: number) => readonly FillEntry[];
  /** The highest number among ids of orders and trades; 0 without any. It reads all orders: for venues that count on from it. */
  readonly highestId: () => number;
  /** Nothing is known any more from here on. */
  readonly close: () => void;
}

/** The past of a journal that has none. */
export const noPast: Past = {
  ownerOf: () => undefined,
  orderIdOf: () => undefined,
  fill: () => undefined,
  order: () => undefined,
  fills: () => [],
  newestFills: () => [],
  highestId: () => 0,
  close: () => {},
};

const fillColumns = `trade_id, order_id, client_order_id, strategy, account, symbol, side, price, quantity, fee, fee_asset, maker, time, purpose, evidence`;

/** The columns above in their order: as an object with names each row would take twice as long to read. */
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

/** Fills as rows, oldest first, by any condition of the table. */
export const readFills = (db: Database, where: string, ...values: readonly (string | number)[]): FillEntry[] =>
  (
    db
      .prepare(`SELECT ${fillColumns} FROM fills WHERE ${where} ORDER BY seq`)
      .raw()
      .all(...values) as FillRow[]
  ).map(fillOf);

/** Fills read at a time: more would outlive the collector's short rounds and be copied by them. */
const fillsInPage = 100;

const questions = {
  owner: 'SELECT client_order_id AS clientOrderId, strategy, side, purpose FROM orders WHERE order_id = ?',
  orderId: 'SELECT order_id FROM orders WHERE client_order_id = ?',
  // A journal is one account's: of both, one has none.
  fill: `SELECT ${fillColumns} FROM fills WHERE account IN ('spot', 'margin') AND trade_id = ? AND order_id = ?`,
  page: `SELECT ${fillColumns}, seq FROM fills WHERE seq > ? ORDER BY seq LIMIT ${fillsInPage}`,
  newest: `SELECT ${fillColumns} FROM fills ORDER BY seq DESC LIMIT ?`,
  highest: `SELECT max(id) FROM (SELECT max(CAST(order_id AS INTEGER)) AS id FROM orders
    UNION ALL SELECT max(CAST(trade_id AS INTEGER)) FROM fills)`,
} as const;

/** The past that `open` shows; it is opened at the first question and closed with `close`. */
export function pastIn(open: () => Database): Past {
  let db: Database | undefined;
  let closed = false;
  const prepared = new Map<keyof typeof questions, ReturnType<Database['prepare']>>();
  /** Undefined once nobody may ask any more: what was under way then ends without an answer. */
  const connected = (): Database | undefined => {
    if (closed) return undefined;
    db ??= open();
    return db.open ? db : undefined;
  };
  const ask = (name: keyof typeof questions) => {
    const at = connected();
    if (at === undefined) return undefined;
    const question = prepared.get(name) ?? at.prepare(questions[name]);
    prepared.set(name, question);
    return question;
  };
  return {
    ownerOf: (orderId) => ask('owner')?.get(orderId) as Owner | undefined,
    orderIdOf: (clientOrderId) =>
      (ask('orderId')?.get(clientOrderId) as { readonly order_id: string | null } | undefined)?.order_id ?? undefined,
    fill({ tradeId, orderId }) {
      const row = ask('fill')?.raw().get(tradeId, orderId) as FillRow | undefined;
      return row === undefined ? undefined : fillOf(row);
    },
    order(clientOrderId) {
      const at = connected();
      const [row] = at === undefined ? [] : readOrders(at, 'client_order_id = ?', clientOrderId);
      return at && row && { row, fills: readFills(at, 'client_order_id = ?', clientOrderId) };
    },
    *fills() {
      for (let last = 0; ; ) {
        const page = (ask('page')?.raw().all(last) ?? []) as FillRow[];
        for (const row of page) yield fillOf(row);
        last = (page.at(-1)?.[15] ?? last) as number;
        if (page.length < fillsInPage) return;
      }
    },
    newestFills: (count) => ((ask('newest')?.raw().all(count) ?? []) as FillRow[]).map(fillOf).reverse(),
    highestId: () => Number(ask('highest')?.pluck().get() ?? 0),
    close() {
      if (db !== undefined && !closed) db.close();
      closed = true;
    },
  };
}

/** Whose exchange ids are: the newest in memory, since they are asked for all the time and may not be written yet; the others in the journal. */
export interface Owners {
  has(orderId: string): boolean;
  get(orderId: string): Owner | undefined;
  set(orderId: string, owner: Owner): void;
  /** The exchange's id of an order of ours. */
  idOf(clientOrderId: string): string | undefined;
}

/** Owners kept in memory beside those of orders that are not closed: more than can wait for being written. Others are looked up in the past. */
const mostOwners = 5_000;

/** `isOpen`: whether fills of an order are expected; where nothing is written, only such an owner must not be forgotten. */
export function ownersAfter(
  past: Pick<Past, 'ownerOf' | 'orderIdOf'>,
  isOpen: (clientOrderId: string) => boolean,
): Owners {
  let newest = new Map<string, Owner>();
  let before = newest;
  const known = (orderId: string): Owner | undefined => newest.get(orderId) ?? before.get(orderId);
  const owners: Owners = {
    has: (orderId) => owners.get(orderId) !== undefined,
    get(orderId) {
      const owner = known(orderId);
      if (owner !== undefined) return owner;
      const found = past.ownerOf(orderId);
      if (found !== undefined) owners.set(orderId, found);
      return found;
    },
    set(orderId, owner) {
      newest.set(orderId, owner);
      if (newest.size < mostOwners) return;
      const open = [...before].filter(([, { clientOrderId }]) => isOpen(clientOrderId));
      before = newest;
      newest = new Map(open);
    },
    idOf(clientOrderId) {
      for (const [orderId, owner] of [...newest, ...before]) if (owner.clientOrderId === clientOrderId) return orderId;
      return past.orderIdOf(clientOrderId);
    },
  };
  return owners;
}
