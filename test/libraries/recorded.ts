/** Cases on recorded klines: two averages that cross, alone, with a stop and a target, and entered below the close. */
import { fileURLToPath } from 'node:url';
import { loadKlines } from '../../src/data/klines.ts';
import { resampleKlines } from '../../src/data/resample.ts';
import { klinesOf } from '../backtest/agreement.ts';
import type { Kline } from '../reference/types.ts';
import type { LibraryCase, Wanted } from './cases.ts';

const load = (file: string, symbol: string, interval: '1min' | '15min') =>
  loadKlines({
    path: fileURLToPath(new URL(`../../backtests/data/${file}`, import.meta.url)),
    symbol,
    interval,
    pricePrecision: 2,
  }).columns;

/** What to want at an entry, by the close. */
const strategies: Readonly<Record<string, (close: number) => Wanted>> = {
  'two averages': () => ({ share: '0.9' }),
  'two averages with stop and target': (close) => ({
    share: '0.9',
    stop: (close * 0.985).toFixed(2),
    takeProfit: (close * 1.015).toFixed(2),
  }),
  'two averages, entered at a limit': (close) => ({
    quantity: '100',
    limit: (close * 0.998).toFixed(2),
    stop: (close * 0.985).toFixed(2),
    takeProfit: (close * 1.01).toFixed(2),
  }),
};

/** Long while the average of 5 closes is above that of 20. */
function wantsOf(klines: readonly Kline[], entry: (close: number) => Wanted): LibraryCase['wants'] {
  const average = (row: number, count: number): number =>
    klines.slice(row + 1 - count, row + 1).reduce((sum, { close }) => sum + close, 0) / count;
  const wants: (readonly [number, Wanted])[] = [];
  let isLong = false;
  for (const [row, { close }] of klines.entries()) {
    if (row < 20) continue;
    const isAbove = average(row, 5) > average(row, 20);
    if (isAbove !== isLong) wants.push([row, isAbove ? entry(close) : { quantity: '0' }]);
    isLong = isAbove;
  }
  return wants;
}

/** Every strategy on every recording of klines in `backtests/data`. */
export function recordedCases(): readonly LibraryCase[] {
  const minutes = load('XBTUSD-1m-2020-02_2020-04.csv.gz', 'XBTUSD', '1min');
  const series = [
    { name: 'XBTUSD', intervalMs: 3_600_000, columns: resampleKlines('1min', minutes, { interval: '60min' }) },
    ...['BTCUSDT', 'ETHUSDT'].map((symbol) => ({
      name: symbol,
      intervalMs: 900_000,
      columns: load(`${symbol}-15m-2025-10_2026-03.csv.gz`, symbol, '15min'),
    })),
  ];
  return series.flatMap(({ name, intervalMs, columns }) => {
    // Counted from 0 without gaps: no library knows of klines that are missing.
    const klines = klinesOf(columns).map((kline, row) => ({ ...kline, time: row * intervalMs }));
    return Object.entries(strategies).map(([strategy, entry]) => ({
      ...{ name: `${name}, ${strategy}`, klines, intervalMs, wants: wantsOf(klines, entry) },
      cash: 100_000_000,
      fee: 0.001,
    }));
  });
}
