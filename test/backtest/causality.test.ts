/** No decision knows the future: whatever comes after a kline, what was decided and filled until then is the same. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadKlines } from '../../src/data/klines.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { byColumns, byStream, type Case, cut, type Rows } from './agreement.ts';

const rows = 1_500;
const more = 3_000;

function recorded(to: number): Case {
  const path = fileURLToPath(new URL('../../backtests/data/ETHUSDT-15m-2025-10_2026-03.csv.gz', import.meta.url));
  const { columns } = loadKlines({ path, symbol: 'ETHUSDT', interval: '15min', pricePrecision: 2 });
  return {
    symbol: 'ETHUSDT',
    interval: '15min',
    instrument: {
      base: 'ETH',
      quote: 'USDT',
      pricePrecision: 2,
      quantityPrecision: 4,
      minQuantity: '0.0001',
      minNotional: '5',
    },
    columns: cut(columns, 0, to),
    rules: 'sluice',
    fees: { maker: '0.001', taker: '0.001' },
    cash: '1000000',
    strategy: smaCross,
    params: {},
  };
}

/** The same klines, and after a row each price is another one. */
function otherwise(given: Case, from: number): Case {
  const bent = (column: Float64Array): Float64Array =>
    column.map((price, row) => (row < from ? price : Math.round(price * (1.2 + 0.1 * Math.sin(row / 7)) * 100) / 100));
  const { open, high, low, close } = given.columns;
  return {
    ...given,
    columns: { ...given.columns, open: bent(open), high: bent(high), low: bent(low), close: bent(close) },
  };
}

test.each(['columns', 'stream'] as const)('what comes later changes nothing before it (%s)', async (driver) => {
  const run = (given: Case): Promise<Rows> | Rows => (driver === 'columns' ? byColumns(given) : byStream(given));
  const whole = recorded(more);
  const endAt = whole.columns.openTime[rows] as number;
  const before = ({ decisions, fills }: Rows): unknown => ({
    decisions: decisions.filter(({ time }) => time <= endAt),
    // A fill of the last kline's decision happens in the next one.
    fills: fills.filter((fill) => 'time' in fill && Number(fill.time) < endAt),
  });
  const expected = before(await run(whole));
  expect(before(await run(otherwise(whole, rows)))).toEqual(expected);
  expect(await run(otherwise(whole, rows))).not.toEqual(await run(whole));
  expect((expected as { decisions: unknown[] }).decisions.length).toBeGreaterThan(20);
  expect((expected as { fills: unknown[] }).fills.length).toBeGreaterThan(20);
});
