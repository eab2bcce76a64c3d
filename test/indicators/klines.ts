/** Klines that indicators are tested over. */
import { join } from 'node:path';
import { loadKlines } from '../../src/data/klines.ts';
import { type Columns, mapColumns } from '../../src/domain/market.ts';
import type { Indicator } from '../../src/strategy/indicators.ts';
import { pricesAt } from '../../src/strategy/larger-klines.ts';
import { fc } from '../kit/properties.ts';

const folder = join(import.meta.dirname, '..', '..', 'backtests', 'data');

/** The first klines of BTCUSDT, quarters of an hour. */
export const quarterHours = (count: number): Columns =>
  first(
    loadKlines({
      ...{ path: join(folder, 'BTCUSDT-15m-2025-10_2026-03.csv.gz'), symbol: 'BTCUSDT' },
      ...{ interval: '15min', pricePrecision: 2 },
    }).columns,
    count,
  );

/** The first klines of XBTUSD, minutes: many have no range, and many do not move. */
export const minutes = (count: number): Columns =>
  first(
    loadKlines({
      ...{ path: join(folder, 'XBTUSD-1m-2020-02_2020-04.csv.gz'), symbol: 'XBTUSD' },
      ...{ interval: '1min', pricePrecision: 1 },
    }).columns,
    count,
  );

const first = (columns: Columns, count: number): Columns => mapColumns(columns, (column) => column.slice(0, count));

/** The klines from row `from` to before `to`. */
export const rowsOf = (columns: Columns, from: number, to: number): Columns =>
  mapColumns(columns, (column) => column.slice(from, to));

/** The same klines; from row `from` to before `to` nothing is traded, and every price is the close before. */
export function flattened(columns: Columns, from: number, to: number): Columns {
  const close = columns.close[from - 1] as number;
  return mapColumns(columns, (column, name) =>
    name === 'openTime' ? column : column.slice().fill(name === 'volume' ? 0 : close, from, to),
  );
}

/** The values of an indicator that is given the klines one after another. */
export function streamed(indicator: Indicator, klines: Columns, interval: '1min' | '15min' = '1min'): Float64Array {
  const next = indicator.stream(interval);
  return klines.close.map((_, row) => next(pricesAt(klines, row)));
}

/** Klines of prices and volumes that repeat now and then, with klines without range and without volume. */
export const anyKlines = fc
  .array(
    fc.tuple(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
    ),
    { maxLength: 30 },
  )
  .map((runs) => {
    const rows = runs.flatMap(([prices, volume, times, isFlat]) => {
      const [low = 1, one = 1, other = 1, high = 1] = prices.toSorted((a, b) => a - b).map((price) => 100 + price / 10);
      const row = isFlat ? [one, one, one, one, volume] : [one, high, low, other, volume * 1.37];
      return new Array<readonly number[]>(times).fill(row);
    });
    const column = (index: number): Float64Array => Float64Array.from(rows, (row) => row[index] as number);
    return {
      ...{ openTime: Float64Array.from(rows, (_, row) => row * 60_000), open: column(0) },
      ...{ high: column(1), low: column(2), close: column(3), volume: column(4) },
    };
  });
