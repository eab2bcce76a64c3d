import type { RunResult } from '../../src/backtest/run.ts';

/** Everything that a run wrote and counted, but for what only a daemon signs; signals of one moment in no order among them. */
export function allOf(result: RunResult) {
  const { finalEquity, kills, refused, ambiguousKlines } = result;
  const db = result.journal();
  const rows = (sql: string): readonly unknown[] => db.prepare(sql).all();
  try {
    return {
      ...{ finalEquity, kills, refused, ambiguousKlines, asked: result.asked() },
      signals: rows('SELECT at, strategy, symbol, signal, quantity FROM signals ORDER BY at, strategy'),
      denials: rows(
        'SELECT at, strategy, symbol, code, facts, draft, times, last_at FROM denials ORDER BY at, strategy, seq',
      ),
      orders: rows(
        `SELECT client_order_id, strategy, symbol, side, type, quantity, amount, price, purpose, state, created_at, closed_at,
         cancel_requested FROM orders ORDER BY client_order_id`,
      ),
      fills: rows('SELECT client_order_id, side, price, quantity, fee, maker, time, evidence FROM fills'),
      killRows: rows('SELECT at, strategy, by, reason FROM kills'),
    };
  } finally {
    db.close();
  }
}
