/**
 * Orders told apart by what they are: those of a batch reach the exchange without a client id, and some
 * deployments do not return it. Then side, type, price and volume are all there is to know an order by. Pure.
 */
import { type Instrument, orderLots } from '../../domain/instrument.ts';
import { type Lots, minus, smallest, type Units } from '../../domain/money.ts';
import type { Intent, OrderReport, Volume } from '../../domain/order.ts';
import type { OrderDraft } from '../../portfolio/plan.ts';

/** What can be seen of an order from outside; undefined for a LIMIT order without a price. */
export function likenessOf({
  symbol,
  side,
  type,
  price,
  volume,
}: Pick<Intent, 'symbol' | 'side' | 'type' | 'price' | 'volume'>): string | undefined {
  const size = 'lots' in volume ? `${volume.lots}` : `for ${volume.amount}`;
  if (type === 'MARKET') return `${symbol} ${side} at market ${size}`;
  return price === undefined ? undefined : `${symbol} ${side} ${price} ${size}`;
}

/** The same of an order at the exchange; undefined where it does not say enough. */
export function likenessIn({ symbol, side, type, price, quantity, amount }: OrderReport): string | undefined {
  const volume: Volume | undefined =
    quantity !== undefined ? { lots: quantity } : amount !== undefined ? { amount } : undefined;
  if (volume === undefined) return undefined;
  return likenessOf({ symbol, side, type, volume, ...(price === undefined ? {} : { price }) });
}

/** Volumes tried: the one asked for and nine below it. */
const mostTries = 10;
const oneLot = 1n as Lots;

/** The draft, or the same with a few steps less, so that no other order has its likeness; undefined when that cannot be. */
export function unlike(draft: OrderDraft, taken: ReadonlySet<string>, at: Instrument): OrderDraft | undefined {
  let tried: OrderDraft | undefined = draft;
  for (let tries = 0; tries < mostTries && tried !== undefined; tries++) {
    const likeness = likenessOf(tried);
    if (likeness === undefined) return undefined;
    if (!taken.has(likeness)) return tried;
    tried = oneStepLess(tried, at);
  }
  return undefined;
}

/**
 * Undefined where the exchange would refuse the smaller order. What is expected of it stays what was planned: the plan compares by that,
 * and must not take the smaller order for another one.
 */
function oneStepLess(draft: OrderDraft, at: Instrument): OrderDraft | undefined {
  const { volume } = draft;
  if ('lots' in volume) {
    const lots = orderLots(minus(volume.lots, oneLot), at);
    return lots < at.minQuantity || lots <= 0n ? undefined : { ...draft, volume: { lots } };
  }
  const amount: Units = minus(volume.amount, smallest(at.orderPlaces?.price ?? at.pricePrecision));
  return amount < at.minNotional || amount <= 0n ? undefined : { ...draft, volume: { amount } };
}

/** Which of these orders at the exchange is which of ours: only where exactly one of each is like the other. */
export function pairsOf<T extends { readonly intent: Intent }>(
  ours: readonly T[],
  theirs: readonly OrderReport[],
): ReadonlyMap<T, OrderReport> {
  const byLikeness = Map.groupBy(theirs, likenessIn);
  const pairs = new Map<T, OrderReport>();
  for (const one of ours) {
    const likeness = likenessOf(one.intent);
    const alike = likeness === undefined ? [] : (byLikeness.get(likeness) ?? []);
    const isAlone = ours.filter(({ intent }) => likenessOf(intent) === likeness).length === 1;
    const [report] = alike;
    if (isAlone && alike.length === 1 && report !== undefined) pairs.set(one, report);
  }
  return pairs;
}
