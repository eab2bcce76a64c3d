/** When an order on klines arrives, at a kline's open or at the close after which it was decided, what it gets, and what reaches one that rests. */
import type { Instrument } from '../domain/instrument.ts';
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Kline, Side } from '../domain/market.ts';
import { minus, plus, priceFor, priceNumber, type Ticks, worsened } from '../domain/money.ts';
import type { SimOrder } from './orders.ts';
import type { Rules } from './rules.ts';
import { limitOf } from './working.ts';

interface Place {
  readonly instrument: Instrument;
  readonly interval: Interval;
  readonly rules: Rules;
}

/** The price at which an order that arrives with this kline takes. */
export function arrivalPrice(
  side: Side,
  { open, close }: Pick<Kline, 'open' | 'close'>,
  { rules, instrument }: Place,
): Ticks {
  const worse = side === 'BUY' ? Math.max(open, close) : Math.min(open, close);
  const price = rules.lateBar ? worse : rules.marketAt === 'open' ? open : close;
  const base = priceFor(side, price, instrument);
  return rules.halfSpread === 0n ? base : worsened(side, base, rules.halfSpread);
}

/** UTC ms. */
export const arrivalMs = ({ openTime }: Pick<Kline, 'openTime'>, { rules, interval }: Place): number =>
  rules.marketAt === 'open' ? openTime : closeTime(interval, openTime);

/** The last moment within a kline, UTC ms. */
export const lastMs = ({ openTime }: Pick<Kline, 'openTime'>, { interval }: Pick<Place, 'interval'>): number =>
  closeTime(interval, openTime) - 1;

/** Whether an open has passed a resting LIMIT, by rules under which it then gets the open. */
export function isPassed(order: SimOrder, { open }: Pick<Kline, 'open'>, { rules, instrument }: Place): boolean {
  if (rules.gapFill === 'limit') return false;
  const limit = priceNumber(limitOf(order), instrument);
  return order.side === 'BUY' ? open < limit : open > limit;
}

/** The price that the market must reach for a resting LIMIT to fill, as data spell it. */
export function reachOf(side: Side, limit: Ticks, { rules, instrument }: Omit<Place, 'interval'>): number {
  const { penetrationTicks } = rules;
  return priceNumber(side === 'BUY' ? minus(limit, penetrationTicks) : plus(limit, penetrationTicks), instrument);
}

export const isReached = (side: Side, reach: number, { low, high }: Pick<Kline, 'low' | 'high'>): boolean =>
  side === 'BUY' ? low <= reach : high >= reach;
