/** Orders as rows of a journal, also of an earlier schema. */
import type { Database } from 'better-sqlite3';
import type { OrderEntryRow } from './entries.ts';
import { versionOf } from './schema.ts';

const orderColumns = `client_order_id AS clientOrderId, order_id AS orderId, strategy, account, symbol, side, type, quantity, amount, price, expected,
  purpose, reason, created_at AS createdAt, expires_at AS expiresAt, state, filled, executed, venue_status AS venueStatus,
  signed_at AS signedAt, recv_window_ms AS recvWindowMs, body_hash AS bodyHash, trade_floor AS tradeFloor,
  cancel_requested AS cancelRequested, closed_at AS closedAt`;

/** A journal of the first schema is read as it is: it has no evidence, no adjustments and no doubts. */
export const isFirst = (db: Database): boolean => versionOf(db) < 2;

/** Columns of orders that earlier schemas lack. */
const laterColumns = (db: Database): string =>
  `${isFirst(db) ? 'NULL' : 'doubt'} AS doubt, ${versionOf(db) < 3 ? 'NULL' : 'batch'} AS batch`;

/** Orders as rows, by any condition of the table. */
export const readOrders = (db: Database, where: string, ...values: readonly (string | number)[]): OrderEntryRow[] =>
  (
    db.prepare(`SELECT ${orderColumns}, ${laterColumns(db)} FROM orders WHERE ${where}`).all(...values) as (Omit<
      OrderEntryRow,
      'cancelRequested'
    > & { cancelRequested: number })[]
  ).map((row) => ({ ...row, kind: 'order', cancelRequested: row.cancelRequested === 1 }));
