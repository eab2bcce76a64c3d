/** The result of each strategy in each of its symbols. */

import { intervalMs } from '../../domain/interval.ts';
import { rowAt } from '../../domain/market.ts';
import { unitsNumber } from '../../domain/money.ts';
import type { FillTable } from '../../research/fill-table.ts';
import { type MarketRow, marketResults } from '../../research/market-results.ts';
import type { RunInput, RunResult } from '../run.ts';

/** Empty where there are several currencies: sums of them would depend on when each is converted. */
export function marketRows(input: RunInput, { margin, endedAt }: RunResult, fills: FillTable): readonly MarketRow[] {
  if (input.currencies !== undefined) return [];
  return marketResults({
    fills,
    cash: unitsNumber(input.cash),
    instruments: input.instruments,
    lastPrice: (symbol) => lastClose(input, symbol, endedAt),
    charges: (margin?.charges ?? []).map((one) => ({ ...one, amount: unitsNumber(one.amount) })),
  });
}

function lastClose({ series }: RunInput, symbol: string, endedAt = Number.POSITIVE_INFINITY): number {
  const found = series.find((one) => one.symbol === symbol);
  if (found === undefined) throw new Error(`${symbol} was traded and has no klines`);
  const { columns, interval, end } = found;
  // Of a run that was ended early, the last kline that had closed.
  const row = Math.min(end, rowAt(columns.openTime, endedAt - intervalMs(interval, 0) + 1)) - 1;
  return columns.close[row] as number;
}
