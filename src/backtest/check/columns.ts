/** Klines cut short or changed, to test whether a strategy depends on later ones. */
import { type Columns, mapColumns } from '../../domain/market.ts';

export const fields = ['open', 'high', 'low', 'close', 'volume'] as const;
export type Field = (typeof fields)[number];

/** Rows from `from` to before `to` in their own memory: nothing can be read beyond them. */
export const cut = (columns: Columns, from: number, to: number): Columns =>
  mapColumns(columns, (column) => column.slice(from, to));

/**
 * Changes the rows from `from` to before `to`: they get the prices from the end backwards, times `factor`. They remain possible klines with
 * as many decimals as before.
 */
export function poisoned(
  columns: Columns,
  from: number,
  to: number,
  { factor, pricePrecision }: { readonly factor: number; readonly pricePrecision: number },
): Columns {
  const scale = 10 ** pricePrecision;
  const last = columns.openTime.length - 1;
  return mapColumns(columns, (column, name) => {
    if (name === 'openTime') return column;
    const copy = column.slice();
    for (let row = from; row < to; row++) {
      const value = column[last - (row - from)] as number;
      copy[row] = name === 'volume' ? value * factor * factor : Math.max(1, Math.round(value * factor * scale)) / scale;
    }
    return copy;
  });
}

/** Multiplies one value by `factor`. */
export const spoiled = (columns: Columns, row: number, field: Field, factor: number): Columns =>
  mapColumns(columns, (column, name) => {
    if (name !== field) return column;
    const copy = column.slice();
    copy[row] = (copy[row] as number) * factor;
    return copy;
  });
