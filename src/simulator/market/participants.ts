/**
 * The other participants of a synthetic market. Makers keep a ladder of orders around a random-walk price. Takers arrive at random and
 * trade with any resting order, of makers or users. All place real orders through the exchange, with borrowed money.
 */
import type { Rng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import {
  type Lots,
  lotsOf,
  max,
  noLots,
  noTicks,
  notional,
  noUnits,
  plus,
  priceNumber,
  ticks,
  ticksOf,
  units,
} from '../../domain/money.ts';
import type { Exchange, OrderRequest } from '../core/exchange.ts';
import type { SimOrder } from '../core/order.ts';
import type { SyntheticMarket } from '../options.ts';
import { gauss, lastPrice, settled, symbolRng, usualValue, walked } from './synthetic-market.ts';

/** Their accounts; no user may have these. */
export const makerUid = '999999999000000001';
export const takerUid = '999999999000000002';
export const crowdUids: readonly string[] = [makerUid, takerUid];

/** Mean interval at which makers renew their ladder, ms of exchange time. */
const makerMs = 1_000;
const ordersPerSide = 25;
/** Half the spread and the width of a ladder, as fractions of the price. */
const halfSpread = 0.0001;
const ladderWidth = 0.002;
/** An order further away than this is taken back. */
const furthest = 0.004;
/** The share of valid orders that is replaced at each renewal. */
const renewed = 0.05;
/** Lent whenever there is too little. */
const loan = units('1000000000');

/** Starts them in every synthetic market. */
export function startCrowd(exchange: Exchange, markets: readonly SyntheticMarket[], seed: number): void {
  // Their orders of an earlier run were not kept.
  for (const uid of crowdUids)
    for (const [asset, { locked }] of exchange.accounts.holdings(uid)) exchange.accounts.unlock(uid, asset, locked);
  for (const market of markets) {
    const instrument = exchange.instruments.get(market.symbol);
    if (instrument === undefined) throw new Error(`the market ${market.symbol} has no instrument`);
    crowdOf(exchange, instrument, market, symbolRng(market.symbol, seed + 1));
  }
}

function crowdOf(exchange: Exchange, at: Instrument, options: SyntheticMarket, rng: Rng): void {
  const { price, volatility, takersPerSecond } = settled(options);
  let fair = lastPrice(exchange.market(at.symbol), at) ?? priceNumber(ticks(price, at, 'up'), at);
  let renewedAt = exchange.now;
  const ladder = { BUY: new Set<SimOrder>(), SELL: new Set<SimOrder>() };

  const renew = (): void => {
    fair = walked(fair, exchange.now - renewedAt, volatility, rng);
    renewedAt = exchange.now;
    for (const side of ['BUY', 'SELL'] as const) {
      tidy(ladder[side], { exchange, at, side, fair, rng });
      while (ladder[side].size < ordersPerSide) {
        const order = quote(exchange, at, side, fair, rng);
        if (order === undefined) break;
        ladder[side].add(order);
      }
    }
  };
  const take = (): void => {
    const side = rng() < 0.5 ? 'BUY' : 'SELL';
    placed(exchange, at, takerUid, marketOrder(at, side, fair, sizeOf(at, fair, rng)));
  };
  renew();
  repeat(exchange, makerMs, rng, renew);
  if (takersPerSecond > 0) repeat(exchange, 1_000 / takersPerSecond, rng, take);
}

/** At random times, so far apart on average. */
function repeat(exchange: Exchange, meanMs: number, rng: Rng, act: () => void): void {
  const waitMs = Math.max(1, Math.round(-Math.log(1 - rng()) * meanMs));
  exchange.at(exchange.now + waitMs, () => {
    act();
    repeat(exchange, meanMs, rng, act);
  });
}

interface Around {
  readonly exchange: Exchange;
  readonly at: Instrument;
  readonly side: Side;
  readonly fair: number;
  readonly rng: Rng;
}

/** Forgets what has traded, and takes back what is too far from the price, on its wrong side, or old enough. */
function tidy(orders: Set<SimOrder>, { exchange, at, side, fair, rng }: Around): void {
  const nearest = ticksOf(fair, at, 'down');
  const last = ticksOf(fair * (side === 'BUY' ? 1 - furthest : 1 + furthest), at, 'down');
  const [lowest, highest] = side === 'BUY' ? [last, nearest] : [nearest, last];
  for (const order of orders) {
    const open = exchange.orders.open(makerUid).has(order);
    const strayed = order.price < lowest || order.price > highest;
    if (open && !strayed && rng() >= renewed) continue;
    orders.delete(order);
    if (open) exchange.cancel(order);
  }
}

function quote(exchange: Exchange, at: Instrument, side: Side, fair: number, rng: Rng): SimOrder | undefined {
  const away = halfSpread + ladderWidth * rng() ** 2;
  const [price, rounding] =
    side === 'BUY' ? ([fair * (1 - away), 'down'] as const) : ([fair * (1 + away), 'up'] as const);
  const common = { symbol: at.symbol, clientOrderId: '', amount: noUnits };
  const steps = ticksOf(price, at, rounding);
  if (steps <= 0n) return undefined;
  const quantity = sizeOf(at, price, rng);
  return placed(exchange, at, makerUid, { ...common, side, type: 'LIMIT', price: steps, quantity });
}

/** At least what the exchange takes. */
function sizeOf(at: Instrument, price: number, rng: Rng): Lots {
  const value = usualValue * Math.exp(gauss(rng) * 0.8);
  const one = 1n as Lots;
  let quantity = max(plus(at.minQuantity, one), lotsOf(value / price, at));
  const steps = max(noTicks, ticksOf(price, at, 'down'));
  while (steps > 0n && notional(steps, quantity, at) < at.minNotional) quantity = plus(quantity, quantity);
  return quantity;
}

function marketOrder(at: Instrument, side: Side, price: number, quantity: Lots): OrderRequest {
  const common = { symbol: at.symbol, clientOrderId: '', side, type: 'MARKET', price: noTicks } as const;
  if (side === 'SELL') return { ...common, quantity, amount: noUnits };
  return { ...common, quantity: noLots, amount: notional(ticksOf(price, at, 'up'), quantity, at) };
}

/** Places it, with a loan when the money has run out; undefined when it ended at once. */
function placed(exchange: Exchange, at: Instrument, uid: string, order: OrderRequest): SimOrder | undefined {
  const asset = order.side === 'BUY' ? at.quote : at.base;
  const free = exchange.accounts.holdings(uid).get(asset)?.free ?? noUnits;
  if (free < loan) exchange.accounts.deposit(uid, asset, plus(loan, loan));
  const result = exchange.place(uid, order);
  return result.ok ? result.value : undefined;
}
