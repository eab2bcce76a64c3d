/** Orders as rows of a journal. */
import type { Database } from 'better-sqlite3';
import type { OrderEntryRow } from './entries.ts';

const orderColumns = `client_order_id AS clientOrderId, order_id AS orderId, decision, strategy, role, account, symbol, side, type, quantity, amount, price, expected,
  purpose, reason, created_at AS createdAt, expires_at AS expiresAt, state, filled, executed, venue_status AS venueStatus,
  signed_at AS signedAt, recv_window_ms AS recvWindowMs, body_hash AS bodyHash, trade_floor AS tradeFloor,
  cancel_requested AS cancelRequested, quarantine_reason AS quarantineReason, batch, closed_at AS closedAt`;

/** Orders as rows, by any condition of the table. */
export const readOrders = (db: Database, where: string, ...values: readonly (string | number)[]): OrderEntryRow[] =>
  (
    db.prepare(`SELECT ${orderColumns} FROM orders WHERE ${where}`).all(...values) as (Omit<
      OrderEntryRow,
      'cancelRequested'
    > & { cancelRequested: number })[]
  ).map((row) => ({ ...row, kind: 'order', cancelRequested: row.cancelRequested === 1 }));
