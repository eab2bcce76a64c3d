/** Recorded public trades from a CSV file that a configuration names. */
import type { Trade } from '../domain/market.ts';
import { refuseNamed } from './check/errors.ts';
import { TradeChecks } from './check/trades.ts';
import { namedCsv, type ReadFile, readNamedTable } from './named-file.ts';
import { type TradeColumns, tradeColumns } from './tape.ts';

/**
 * Reads trades with the header `time_ms,price,qty,side` (the taker's side), `.csv` or `.csv.gz`, in their order of time.
 * Identical rows are kept: venues print several equal trades in one millisecond. Throws a `Refusal` with all faults that an import would
 * find.
 */
export function readTrades(path: string): ReadFile & { readonly columns: TradeColumns } {
  const checks = new TradeChecks();
  const file = namedCsv(path, [
    { name: 'time_ms', role: 'epoch' },
    { name: 'price', role: 'number' },
    { name: 'qty', role: 'number' },
    { name: 'side', role: 'side' },
  ]);
  const { columns, ...read } = readNamedTable(file, 'trades', (batch) =>
    checks.add(batch.columns, batch.rows, batch.lines),
  );
  refuseNamed(path, checks.findings(), checks.rows);
  return { ...read, columns: tradeColumns(columns) };
}

/** The same, one by one. */
export function loadTrades({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Trade[] {
  const { time: times, price, quantity, side } = readTrades(path).columns;
  return Array.from(times, (time, row) => ({
    symbol,
    time,
    price: price[row] as number,
    quantity: quantity[row] as number,
    side: side[row] === 1 ? 'BUY' : 'SELL',
    seenAt: time,
  }));
}
