/** How commands print what the exchange says: a table for people, JSON lines for programs. */
import type { Depth, Kline, Ticker, Trade } from '../../domain/market.ts';
import { moment } from '../../domain/words.ts';
import { textTable } from '../text-table.ts';

/** The plain form of a message: exact integers would not be JSON, and nothing of ours is for the user's programs. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

export const tradeRow = ({ time, side, price, quantity }: Trade): Row => ({ time, side, price, quantity });
export const tickerRow = ({ time, symbol, open, high, low, last, volume }: Ticker): Row => ({
  time,
  symbol,
  open,
  high,
  low,
  last,
  volume,
});
export const klineRow = (kline: Omit<Kline, 'symbol' | 'interval' | 'seenAt'>, closed: boolean): Row => ({
  openTime: kline.openTime,
  open: kline.open,
  high: kline.high,
  low: kline.low,
  close: kline.close,
  volume: kline.volume,
  closed,
});
export const depthJson = ({ time, bids, asks }: Pick<Depth, 'time' | 'bids' | 'asks'>): object => ({
  time,
  bids,
  asks,
});

/** A row as the cells of a table under these names; times as UTC. */
export const cells = (row: Row, names: readonly string[] = Object.keys(row)): string[] =>
  names.map((name) => {
    const value = row[name];
    return name.toLowerCase().endsWith('time') && typeof value === 'number' ? moment(value) : `${value ?? ''}`;
  });

/** Rows as a table under the names of their columns, or as one JSON object a line. */
export function printRows(rows: readonly Row[], json: boolean, out: (line: string) => void, empty: string): void {
  if (json) for (const row of rows) out(JSON.stringify(row));
  else {
    const names = Object.keys(rows[0] ?? {});
    out(
      textTable(
        names,
        rows.map((row) => cells(row, names)),
        empty,
      ),
    );
  }
}
