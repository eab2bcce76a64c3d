/** When an order on klines arrives, and what it gets: at a kline's open, or at the close after which it was decided. */
import type { Instrument } from '../domain/instrument.ts';
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Kline, Side } from '../domain/market.ts';
import { priceFor, priceNumber, type Ticks, worsened } from '../domain/money.ts';
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

/** Whether an open has passed a resting LIMIT, by rules under which it then gets the open. */
export function isPassed(order: SimOrder, { open }: Pick<Kline, 'open'>, { rules, instrument }: Place): boolean {
  if (rules.gapFill === 'limit') return false;
  const limit = priceNumber(limitOf(order), instrument);
  return order.side === 'BUY' ? open < limit : open > limit;
}
