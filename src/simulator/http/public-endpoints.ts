/** Market data (specification §4.1). */
import type { Instrument } from '../../domain/instrument.ts';
import { isInterval } from '../../domain/interval.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import type { Listed } from '../core/instrument-terms.ts';
import type { Quirks } from '../core/quirks.ts';
import { klinesOf, lastDay } from '../market/aggregate.ts';
import { type Call, type Endpoint, listedOf } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { countOf, required, whole } from './params.ts';
import { amount, klineShape, levelShapes, roseText } from './shapes.ts';

const symbolShape = (at: Listed, quirks: Quirks): Json => ({
  symbol: at.symbol.toLowerCase(),
  baseAsset: at.base,
  quoteAsset: at.quote,
  pricePrecision: at.places?.price ?? at.pricePrecision,
  quantityPrecision: at.places?.quantity ?? at.quantityPrecision,
  ...minimaOf(at, quirks),
});

/** Minima stand beside the documented fields where there are any, under the names that live venues use. */
function minimaOf(at: Instrument, { minima }: Quirks): { [key: string]: Json } {
  if (minima === 'absent') return {};
  const shown = minima === 'shown';
  const quantity = digits(shown ? quantityText(at.minQuantity, at) : '0');
  const notional = digits(shown ? unitsText(at.minNotional) : '0');
  return {
    ...(!(shown && at.minQuantity === 0n) && { limitVolumeMin: quantity, marketSellMin: quantity }),
    ...(!(shown && at.minNotional === 0n) && { limitAmountMin: notional, marketBuyMin: notional }),
  };
}

function depth(call: Call): Json {
  const at = listedOf(call);
  const count = countOf(call.params, 100);
  const { exchange, quirks } = call;
  const matching = exchange.matching(at.symbol);
  const side = (of: 'BUY' | 'SELL'): Json => levelShapes(matching.depth(of, count), at, quirks);
  const time = quirks.depthTime === 'ms' ? exchange.now : null;
  return { time, bids: side('BUY'), asks: side('SELL') };
}

function ticker(call: Call): Json {
  const at = listedOf(call);
  const { quirks } = call;
  const shown = (price: number): Json => (quirks.amounts === 'mixed' ? amount(String(price), quirks) : String(price));
  const day = lastDay(call.exchange.market(at.symbol).minutes, call.exchange.now);
  const { open, high, low, close, volume } = day ?? { open: 0, high: 0, low: 0, close: 0, volume: 0 };
  return {
    time: call.exchange.now,
    ...Object.fromEntries(
      Object.entries({ high, low, open, last: close }).map(([name, price]) => [name, shown(price)]),
    ),
    vol: volume.toFixed(at.quantityPrecision),
    rose: roseText(open, close, quirks),
  };
}

function trades(call: Call): Json {
  const at = listedOf(call);
  const prints = call.exchange.recentPrints(at.symbol, countOf(call.params, 1_000));
  const rows = prints.map((print) => ({
    price: priceText(print.price, at),
    qty: quantityText(print.quantity, at),
    time: print.time,
    side: print.side,
  }));
  return call.quirks.publicTrades === 'wrapped' ? { list: rows } : rows;
}

/** An unknown interval gives an empty list, as live venues do. */
function klines(call: Call): Json {
  const at = listedOf(call);
  const interval = required(call.params, 'interval');
  const count = countOf(call.params, 300);
  const from = whole(call.params, 'startTime');
  const to = whole(call.params, 'endTime');
  if (!isInterval(interval)) return [];
  const range = { count, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const rows = klinesOf(call.exchange.market(at.symbol).minutes, interval, range);
  if (call.quirks.klineOrder === 'oldest first') rows.reverse();
  return rows.map((row) => klineShape(row, at, call.quirks));
}

const open = { method: 'GET' } as const;

export const publicEndpoints: readonly Endpoint[] = [
  { ...open, path: '/sapi/v1/ping', weight: 0, run: () => ({}) },
  {
    ...open,
    path: '/sapi/v1/time',
    weight: 0,
    run: ({ exchange, quirks, skewMs }) => ({ timezone: 'GMT+08:00', [quirks.timeField]: exchange.now + skewMs }),
  },
  {
    ...open,
    path: '/sapi/v1/symbols',
    weight: 1,
    run: ({ exchange, quirks }) => ({
      symbols: exchange.listed().map((at) => symbolShape(at, quirks)),
    }),
  },
  { ...open, path: '/sapi/v1/depth', weight: 5, run: depth },
  { ...open, path: '/sapi/v1/ticker', weight: 5, run: ticker },
  { ...open, path: '/sapi/v1/trades', weight: 5, run: trades },
  { ...open, path: '/sapi/v1/klines', weight: 1, run: klines },
];
