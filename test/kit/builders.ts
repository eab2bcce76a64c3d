/** Builders with defaults for tests: what a test does not name does not matter to it. Money is given as decimal text. */
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import type { Kline, Side } from '../../src/domain/market.ts';
import { lots, noUnits, rate, ticks, units } from '../../src/domain/money.ts';
import {
  type Decision,
  decisionOf,
  type Fill,
  type Intent,
  mainRole,
  type Purpose,
  type Signal,
  type Target,
} from '../../src/domain/order.ts';
import type { OrderDraft } from '../../src/portfolio/plan.ts';
import { Portfolio, type WorkingOrder } from '../../src/portfolio/portfolio.ts';
import type { Limits } from '../../src/risk/context.ts';
import type { Kill } from '../../src/risk/kill.ts';

/** 2020-03-12T00:00Z, a Thursday. */
export const startTime = Date.UTC(2020, 2, 12);

const shape = { symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 };
/** Tick 0.01, lot 0.00001, at least 0.0001 BTC and 5 USDT. */
export const btc: Instrument = instrument({
  ...shape,
  minQuantity: lots('0.0001', shape),
  minNotional: units('5'),
});
export const eth: Instrument = instrument({ ...shape, symbol: 'ETHUSDT', base: 'ETH' });
export const instruments: ReadonlyMap<string, Instrument> = new Map([
  [btc.symbol, btc],
  [eth.symbol, eth],
]);

interface OrderText {
  readonly id?: string;
  readonly strategy?: string;
  readonly symbol?: string;
  readonly account?: 'spot' | 'margin';
  readonly side?: Side;
  /** Base quantity. */
  readonly quantity?: string;
  /** Quote amount of a MARKET BUY, instead of a quantity. */
  readonly amount?: string;
  /** Makes it a LIMIT order. */
  readonly price?: string;
  readonly purpose?: Purpose;
}

/** A draft: a BUY of 1 BTC at market unless it says otherwise. */
export function draft(text: OrderText = {}): OrderDraft {
  const quantity = lots(text.quantity ?? '1', btc);
  return {
    decision: 1,
    strategy: text.strategy ?? 's',
    role: 'main',
    account: text.account ?? 'spot',
    symbol: text.symbol ?? btc.symbol,
    side: text.side ?? 'BUY',
    type: text.price === undefined ? 'MARKET' : 'LIMIT',
    volume: text.amount === undefined ? { lots: quantity } : { amount: units(text.amount) },
    ...(text.price === undefined ? {} : { price: ticks(text.price, btc) }),
    expectedLots: quantity,
    purpose: text.purpose ?? 'enter',
    reason: 'test',
  };
}

/** An intent: a BUY of 1 BTC at market unless it says otherwise; it expires a minute after `startTime`. */
export const intent = (text: OrderText & { readonly expiresAt?: number } = {}): Intent => ({
  ...draft(text),
  clientOrderId: text.id ?? 'c1',
  createdAt: startTime,
  expiresAt: text.expiresAt ?? startTime + 60_000,
});

interface FillText {
  readonly tradeId?: string;
  readonly orderId?: string;
  readonly id?: string;
  readonly strategy?: string;
  readonly symbol?: string;
  readonly side?: Side;
  readonly price?: string;
  readonly quantity?: string;
  readonly fee?: string;
  readonly feeAsset?: string;
  readonly purpose?: Purpose;
}

let trades = 0;
/** A fill: 1 BTC bought at 100 without a fee, each with a trade id of its own. */
export const fill = (text: FillText = {}): Fill => ({
  tradeId: text.tradeId ?? `t${trades++}`,
  orderId: text.orderId ?? 'o1',
  clientOrderId: text.id ?? 'c1',
  strategy: text.strategy ?? 's',
  account: 'spot',
  symbol: text.symbol ?? btc.symbol,
  side: text.side ?? 'BUY',
  price: ticks(text.price ?? '100', btc),
  quantity: lots(text.quantity ?? '1', btc),
  fee: text.fee === undefined ? noUnits : units(text.fee),
  feeAsset: text.feeAsset ?? 'USDT',
  maker: false,
  time: startTime,
  purpose: text.purpose ?? 'enter',
});

/** A kline of one minute that stays at a price. */
export const kline = (close: number, minute = 0, symbol: string = btc.symbol): Kline => ({
  symbol,
  interval: '1min',
  openTime: startTime + minute * 60_000,
  open: close,
  high: close,
  low: close,
  close,
  volume: 1,
  seenAt: startTime + (minute + 1) * 60_000,
});

/** A target of this many BTC. */
export const target = (quantity: number, options: Partial<Target> = {}): Target => ({
  kind: 'target',
  size: { quantity },
  reason: 'test',
  ...options,
});

export const decision = (signal: Signal, strategy = 's', symbol: string = btc.symbol): Decision =>
  decisionOf({ strategy, role: mainRole, symbol, at: startTime, signal });

/** Two strategies, `s` and `t`, with 1,000,000 USDT each on BTCUSDT; the last price is 100; null: none yet. */
export function portfolio(price: number | null = 100): Portfolio {
  const made = new Portfolio(
    instruments,
    ['s', 't'].map((strategy) => ({ strategy, symbol: btc.symbol, amount: units('1000000') })),
  );
  if (price !== null) made.mark(btc.symbol, price, startTime);
  return made;
}

/** An order that rests at the exchange. */
export function resting(held: Portfolio, text: OrderText & { readonly filled?: string } = {}): WorkingOrder {
  const order = held.reserve(intent({ price: '100', ...text }));
  order.state = 'open';
  order.orderId = `o-${order.intent.clientOrderId}`;
  if (text.filled !== undefined) order.filled = lots(text.filled, btc);
  return order;
}

/** Limits that nothing in a test reaches by accident. */
export const wide: Limits = {
  maxOrderValue: units('100000000'),
  maxPosition: units('100000000'),
  priceCollar: rate('0.5'),
  maxDataAgeMs: 1e12,
  duplicateWindowMs: 0,
  maxOrdersPerSecond: 1_000,
  maxDailyLoss: rate('0.9'),
};

/** A kill of all strategies by the operator. */
export const kill = (given: Partial<Kill> = {}): Kill => ({
  ...{ kind: 'kill', everything: false, at: startTime, strategy: undefined, by: 'operator', reason: 'enough' },
  ...given,
});
