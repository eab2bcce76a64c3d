/** Limits that shall not take. The exchange has no such order, so they are moved to the nearest price that does not cross the best price that is known. */
import { type Instrument, orderPrice } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { max, min, minus, plus, priceFor, priceNumber, type Ticks, ticksOf } from '../domain/money.ts';
import type { Expiries } from './expiries.ts';
import type { Create, Situation } from './plan.ts';
import type { Standing } from './standing.ts';

/** The best prices of a book; both are the last price where there is none. */
export interface Best {
  readonly bid: number;
  readonly ask: number;
}

/** The nearest price to a limit at which an order does not cross; zero or less where there is none. */
export function makingPrice(side: Side, limit: Ticks, { bid, ask }: Best, at: Instrument): Ticks {
  const tick = 1n as Ticks;
  return side === 'BUY'
    ? min(limit, orderPrice('SELL', minus(ticksOf(ask, at, 'up'), tick), at))
    : max(limit, orderPrice('BUY', plus(ticksOf(bid, at, 'down'), tick), at));
}

/** True for a LIMIT entry or exit; take-profits have rules of their own. */
export const isOfLimit = ({ draft: { type, purpose } }: Create): boolean =>
  type === 'LIMIT' && purpose !== 'takeProfit';

/** The order of a limit that shall not take, at the price at which it does not; undefined where it would anywhere. */
export function makingStep(
  standing: Standing,
  { draft }: Create,
  { instrument: at, price: last }: Pick<Situation, 'instrument' | 'price'>,
  best: Best = { bid: last, ask: last },
  entries: Pick<Expiries, 'keep'>,
): Create | undefined {
  const { signal } = standing.leg;
  if (signal.kind !== 'target' || signal.limit === undefined) return undefined;
  const { side } = draft;
  const asked = orderPrice(side, priceFor(side, signal.limit, at), at);
  const price = makingPrice(side, asked, best, at);
  if (price <= 0n) return undefined;
  const movedTo = price === asked ? undefined : priceNumber(price, at);
  if (movedTo !== standing.movedTo) {
    standing.movedTo = movedTo;
    entries.keep(standing);
  }
  return { do: 'create', draft: { ...draft, price, postOnly: true } };
}
