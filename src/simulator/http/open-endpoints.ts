/** Public aggregated data (specification §2.7, §4.6), from the same books and trades as everything else. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { notional, plus, priceText, quantityText, steppedPrice, unitsText } from '../../domain/money.ts';
import type { Asset } from '../core/assets.ts';
import type { DisplayedLevel } from '../core/displayed-depth.ts';
import { malformed, refusals } from '../core/errors.ts';
import { lastDay, quoteVolume } from '../market/aggregate.ts';
import type { MinuteRow } from '../market/market.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { countOf, Refused, required, whole } from './params.ts';
import { levelShape } from './shapes.ts';

const longestTrades = 1_000;
const longestDepth = 100;
/** Levels that are merged into a coarse depth: enough to fill it where prices are close together. */
const finestLevels = 10_000;

const envelope = ({ exchange }: Call, fields: { readonly [key: string]: Json }): Json => ({
  code: '0',
  msg: 'suc',
  message: null,
  data: { date: exchange.now, ...fields },
});

/** The instrument of the parameters `base` and `quote`, in any case. */
function instrumentOf({ params, exchange }: Call): Instrument {
  const base = required(params, 'base').toUpperCase();
  const quote = required(params, 'quote').toUpperCase();
  for (const at of exchange.listed()) if (at.base === base && at.quote === quote) return at;
  throw new Refused(refusals.symbol);
}

/** The newest first. */
function trades(call: Call): Json {
  const at = instrumentOf(call);
  const prints = call.exchange.recentPrints(at.symbol, countOf(call.params, longestTrades, 'trades'));
  const list = prints.map(({ id, price, quantity, time, side }) => ({
    tradeID: id,
    price: priceText(price, at),
    base_volume: quantityText(quantity, at),
    quote_volume: unitsText(notional(price, quantity, at)),
    trade_timestamp: String(time),
    type: side.toLowerCase(),
  }));
  return envelope(call, { trades: list });
}

const dayOf = ({ exchange }: Call, { symbol }: Instrument): MinuteRow | undefined =>
  lastDay(exchange.market(symbol).minutes, exchange.now);

function ticker(call: Call): Json {
  const { instruments, assets } = call.exchange;
  const entries = [...instruments.values()].map((at) => {
    const day = dayOf(call, at);
    const entry = {
      base_id: assets.get(at.base)?.unifiedId ?? '0',
      quote_id: assets.get(at.quote)?.unifiedId ?? '0',
      last_price: String(day?.close ?? 0),
      base_volume: (day?.volume ?? 0).toFixed(at.quantityPrecision),
      quote_volume: day === undefined ? '0' : quoteVolume(day),
    };
    return [`${at.base}_${at.quote}`, entry] as const;
  });
  return envelope(call, { ticker: Object.fromEntries(entries) });
}

function asset(call: Call): Json {
  const shape = ({ name, unifiedId, canWithdraw, canDeposit, minWithdraw, maxWithdraw }: Asset): Json => ({
    name,
    unified_cryptoasset_id: unifiedId,
    can_withdraw: String(canWithdraw),
    can_deposit: String(canDeposit),
    min_withdraw: unitsText(minWithdraw),
    max_withdraw: maxWithdraw === undefined ? '' : unitsText(maxWithdraw),
  });
  const entries = [...call.exchange.assets].map(([code, one]) => [code, shape(one)] as const);
  return envelope(call, { asset: Object.fromEntries(entries) });
}

/** `depth` 1 and 2 add levels up to ten and a hundred steps of the price, bids down and asks up. */
function depth(call: Call): Json {
  const at = instrumentOf(call);
  const coarseness = whole(call.params, 'depth') ?? 0;
  if (coarseness > 2) throw new Refused(malformed('depth'));
  const matching = call.exchange.matching(at.symbol);
  const side = (of: Side, count: number): Json => {
    const finest = matching.depth(of, coarseness === 0 ? count : finestLevels);
    return coarser(finest, of, coarseness)
      .slice(0, count)
      .map((level) => levelShape(level, at, call.quirks));
  };
  const bids = side('BUY', countOf(call.params, longestDepth, 'bids'));
  const asks = side('SELL', countOf(call.params, longestDepth, 'asks'));
  return envelope(call, { [depthField]: { bids, asks } });
}

function coarser(levels: readonly DisplayedLevel[], side: Side, coarseness: number): DisplayedLevel[] {
  const merged: DisplayedLevel[] = [];
  for (const { price, quantity } of levels) {
    const stepped = steppedPrice(price, coarseness, side === 'BUY' ? 'down' : 'up');
    const last = merged[merged.length - 1];
    if (last?.price === stepped)
      merged[merged.length - 1] = { price: stepped, quantity: plus(last.quantity, quantity) };
    else merged.push({ price: stepped, quantity });
  }
  return merged;
}

function allTickers(call: Call): Json {
  const { exchange } = call;
  const list = [...exchange.instruments.values()].map((at) => {
    const day = dayOf(call, at);
    const { open, high, low, close, volume } = day ?? { open: 0, high: 0, low: 0, close: 0, volume: 0 };
    const best = (side: Side): Json => {
      const [level] = exchange.matching(at.symbol).depth(side, 1);
      return digits(level === undefined ? '0' : priceText(level.price, at));
    };
    return {
      symbol: at.symbol.toLowerCase(),
      high: String(high),
      low: String(low),
      buy: best('BUY'),
      sell: best('SELL'),
      vol: volume.toFixed(at.quantityPrecision),
      last: close,
      rose: (open === 0 ? 0 : (close - open) / open).toFixed(8),
    };
  });
  return envelope(call, { ticker: list });
}

/** The name of the field and of the path. */
const depthField = 'orderbook';
/** The specification gives these no weight; they count like the cheapest of the others. */
const open = { method: 'GET', family: 'open', weight: 1 } as const;

export const openEndpoints: readonly Endpoint[] = [
  { ...open, path: '/open/pub/trades', run: trades },
  { ...open, path: '/open/pub/ticker', run: ticker },
  { ...open, path: '/open/pub/asset', run: asset },
  { ...open, path: `/open/pub/${depthField}`, run: depth },
  { ...open, path: '/open/api/get_allticker', run: allTickers },
];
