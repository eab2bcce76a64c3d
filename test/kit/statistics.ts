/** Klines and fills for the tests of statistics. */
import { instrument } from '../../src/domain/instrument.ts';
import type { Columns } from '../../src/domain/market.ts';
import { feeOn, lots, notional, rate, ticks } from '../../src/domain/money.ts';
import type { Fill } from '../../src/domain/order.ts';
import type { EquityInput } from '../../src/research/equity-input.ts';
import { fillTable } from '../../src/research/fill-table.ts';
import type { MetricSeries } from '../../src/research/series.ts';

export const at = instrument({ symbol: 'XZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 3 });
const other = { ...at, symbol: 'YZ', base: 'Y' };
/** XZ and YZ. */
export const instruments = new Map([at, other].map((one) => [one.symbol, one]));
export const minute = 60_000;
export const day = 86_400_000;

/** Klines whose open is the close before, with wicks of one. */
export function series(
  closes: readonly number[],
  interval: '1min' | '60min' | '1day' = '1min',
  symbol = 'XZ',
): MetricSeries {
  const ms = { '1min': minute, '60min': 60 * minute, '1day': day }[interval];
  const column = (make: (row: number) => number): Float64Array => Float64Array.from(closes, (_, row) => make(row));
  const close = (row: number): number => closes[Math.max(0, row)] as number;
  const columns: Columns = {
    openTime: column((row) => row * ms),
    open: column((row) => close(row - 1)),
    high: column((row) => Math.max(close(row - 1), close(row)) + 1),
    low: column((row) => Math.min(close(row - 1), close(row)) - 1),
    close: column(close),
    volume: column(() => 5),
  };
  return { symbol, interval, columns, first: 0, end: closes.length };
}

let made = 0;
/** With an order, and a fee of a thousandth, of its own. */
export function fill(
  time: number,
  side: 'BUY' | 'SELL',
  price: string,
  quantity: string,
  more: Partial<Fill> = {},
): Fill {
  const given = { price: ticks(price, at), quantity: lots(quantity, at) };
  const id = String(made++);
  return {
    ...{ tradeId: id, orderId: id, clientOrderId: id, strategy: 's', account: 'spot', symbol: 'XZ', side, time },
    ...given,
    fee: feeOn(notional(given.price, given.quantity, at), rate('0.001')),
    feeAsset: 'Z',
    maker: false,
    purpose: side === 'BUY' ? 'enter' : 'exit',
    evidence: { rule: 'kline-open' },
    ...more,
  };
}

/** Valued at the close; the entry of buy & hold costs a thousandth. */
export const equityInput = (fills: readonly Fill[], all: readonly MetricSeries[], cash = 1_000): EquityInput => ({
  fills: fillTable(fills, instruments),
  series: all,
  cash,
  instruments,
  costs: () => ({ long: 1, short: 1, entryFee: 0.001 }),
});
