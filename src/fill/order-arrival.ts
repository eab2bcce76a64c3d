/**
 * The arrival of an order on klines, at a kline's open or at the close of its decision: how much fills at once, and which prices reach it
 * once it rests.
 */
import type { Instrument } from '../domain/instrument.ts';
import { closeTime, type Interval, intervalMs } from '../domain/interval.ts';
import type { Kline, Side } from '../domain/market.ts';
import { minus, plus, priceFor, priceNumber, type Ticks, worsened } from '../domain/money.ts';
import type { Evidence } from '../domain/order.ts';
import type { SimOrder } from './orders.ts';
import { limitOf } from './resting-order.ts';
import type { Rules } from './rules.ts';

interface KlineMarket {
  readonly instrument: Instrument;
  readonly interval: Interval;
  readonly rules: Rules;
}

/** The price at which an order that arrives with this kline takes. */
export function arrivalPrice(
  side: Side,
  { open, close }: Pick<Kline, 'open' | 'close'>,
  { rules, instrument }: KlineMarket,
): Ticks {
  const worse = side === 'BUY' ? Math.max(open, close) : Math.min(open, close);
  const price = rules.worseOfOpenAndClose ? worse : rules.marketAt === 'open' ? open : close;
  const base = priceFor(side, price, instrument);
  return rules.halfSpread === 0n ? base : worsened(side, base, rules.halfSpread);
}

/** UTC ms. */
export const arrivalMs = ({ openTime }: Pick<Kline, 'openTime'>, { rules, interval }: KlineMarket): number =>
  rules.marketAt === 'open' ? openTime : closeTime(interval, openTime);

/** Whole klines that an order or a cancel takes to arrive. */
export const delayOf = (
  { feedLatencyMs, entryLatencyMs }: Pick<Rules, 'feedLatencyMs' | 'entryLatencyMs'>,
  interval: Interval,
): number => Math.floor((feedLatencyMs + entryLatencyMs) / intervalMs(interval, 0));

/**
 * Whether what was ordered at a time (UTC ms), at a close or in the last moment of a kline, arrives more than a kline after it was due:
 * klines are missing, and it waited for whatever came next.
 */
export const isLate = (orderedAt: number, arrivedAt: number, interval: Interval, delay: number): boolean =>
  arrivedAt - 1 - orderedAt > (delay + 1) * intervalMs(interval, orderedAt);

const arrivals = {
  open: { rule: 'kline-open' },
  close: { rule: 'kline-close' },
  cross: { rule: 'kline-cross' },
} as const satisfies Record<string, Evidence>;
const lateArrivals = {
  open: { rule: 'kline-open-late' },
  close: { rule: 'kline-close-late' },
  cross: { rule: 'kline-cross-late' },
} as const satisfies Record<keyof typeof arrivals, Evidence>;

/** By what an order is filled that takes as it arrives. */
export const arrivalEvidence = (how: keyof typeof arrivals, late: boolean): Evidence =>
  (late ? lateArrivals : arrivals)[how];

/** The same of an order that arrives with this kline. */
export function evidenceIn(
  { type, createdAt }: Pick<SimOrder, 'type' | 'createdAt'>,
  kline: Pick<Kline, 'openTime'>,
  delay: number,
  market: KlineMarket,
): Evidence {
  const late = createdAt !== undefined && isLate(createdAt, arrivalMs(kline, market), market.interval, delay);
  return arrivalEvidence(type === 'LIMIT' ? 'cross' : market.rules.marketAt, late);
}

/** The last moment within a kline, UTC ms. */
export const lastMs = ({ openTime }: Pick<Kline, 'openTime'>, { interval }: Pick<KlineMarket, 'interval'>): number =>
  closeTime(interval, openTime) - 1;

/** Whether an open has passed a resting LIMIT, by rules under which it then gets the open. */
export function isPassed(order: SimOrder, { open }: Pick<Kline, 'open'>, { rules, instrument }: KlineMarket): boolean {
  if (rules.gapFill === 'limit') return false;
  const limit = priceNumber(limitOf(order), instrument);
  return order.side === 'BUY' ? open < limit : open > limit;
}

/** The price that the market must reach for a resting LIMIT to fill, as data spell it. */
export function reachOf(side: Side, limit: Ticks, { rules, instrument }: Omit<KlineMarket, 'interval'>): number {
  const { penetrationTicks } = rules;
  return priceNumber(side === 'BUY' ? minus(limit, penetrationTicks) : plus(limit, penetrationTicks), instrument);
}

export const isReached = (side: Side, reach: number, { low, high }: Pick<Kline, 'low' | 'high'>): boolean =>
  side === 'BUY' ? low <= reach : high >= reach;
