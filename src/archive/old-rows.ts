/**
 * Which rows move to the archive: the evidence of orders that ended before a moment, and what is shown of the past. Orders and fills stay:
 * they make fills unique, own late ones, and are the books. So do the latest signal of each strategy, and trades that no fill explains.
 */

/** Their conditions. Each `?` is the moment, UTC ms of the exchange. */
export const oldRows = {
  events: 'client_order_id IN (SELECT client_order_id FROM orders WHERE closed_at < ?)',
  venue_orders: 'order_id IN (SELECT order_id FROM orders WHERE closed_at < ?)',
  venue_trades: `EXISTS (SELECT 1 FROM fills JOIN orders USING (client_order_id, order_id)
    WHERE fills.account IN ('spot', 'margin') AND fills.trade_id = venue_trades.trade_id
      AND fills.symbol = venue_trades.symbol AND '["' || fills.order_id || '"]' = venue_trades.order_ids
      AND orders.closed_at < ?)`,
  signals: `at < ? AND (strategy, symbol, seq) NOT IN
    (SELECT strategy, symbol, max(seq) FROM signals GROUP BY strategy, symbol)`,
  // The last one stays: SQLite numbers the next row above it, so no number of the archive comes again.
  denials: 'last_at < ? AND seq < (SELECT max(seq) FROM denials)',
  notices: 'at < ? AND seq < (SELECT max(seq) FROM notices)',
  // The first point is the equity at the beginning, and the last of each UTC day gives the profit of that day.
  equity: `at < ? AND at > (SELECT min(at) FROM equity)
    AND at NOT IN (SELECT max(at) FROM equity GROUP BY at / 86400000)`,
} as const;
export type OldTable = keyof typeof oldRows;
