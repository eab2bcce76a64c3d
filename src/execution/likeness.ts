/**
 * Orders told apart by what they are (order-protocol §3.6): those of a batch reach the exchange without a client id, so that side,
 * type, price and volume are all there is to know them by. Pure.
 */
import type { Instrument } from '../domain/instrument.ts';
import { type Lots, minus } from '../domain/money.ts';
import type { Intent, OrderReport } from '../domain/order.ts';
import type { Draft } from '../portfolio/plan.ts';

/** What can be seen of an order from outside; undefined for one that cannot be told from others: at market, or by an amount. */
export function likenessOf({
  symbol,
  side,
  type,
  price,
  volume,
}: Pick<Intent, 'symbol' | 'side' | 'type' | 'price' | 'volume'>): string | undefined {
  return type === 'MARKET' || price === undefined || !('lots' in volume)
    ? undefined
    : `${symbol} ${side} ${price} ${volume.lots}`;
}

/** The same of an order at the exchange; undefined where it does not say enough. */
export const likenessIn = ({ symbol, side, type, price, quantity }: OrderReport): string | undefined =>
  quantity === undefined || price === undefined
    ? undefined
    : likenessOf({ symbol, side, type, price, volume: { lots: quantity } });

/** Quantities tried: the one wished and nine below it, its last digit. */
const mostTries = 10;
const oneLot = 1n as Lots;

/** The draft, or the same with a few lots less, so that nothing else looks like it; undefined when that cannot be. */
export function unlike(draft: Draft, taken: ReadonlySet<string>, at: Instrument): Draft | undefined {
  let tried = draft;
  for (let tries = 0; tries < mostTries; tries++) {
    const likeness = likenessOf(tried);
    if (likeness === undefined || !('lots' in tried.volume)) return undefined;
    if (!taken.has(likeness)) return tried;
    const lots = minus(tried.volume.lots, oneLot);
    if (lots < at.minQuantity || lots <= 0n) return undefined;
    tried = { ...draft, volume: { lots }, expectedLots: lots };
  }
  return undefined;
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
