/**
 * Matches orders by their terms. Orders of a batch have no client id at the exchange, and some deployments do not return it. Then only
 * symbol, side, type, price and volume identify an order. Pure functions.
 */
import { type Instrument, orderLots } from '../../domain/instrument.ts';
import { type Lots, minus, smallest, type Units } from '../../domain/money.ts';
import type { Intent, OrderReport, Volume } from '../../domain/order.ts';
import type { OrderDraft } from '../../portfolio/plan.ts';

/** An order's visible properties as a key; undefined for a LIMIT order without a price. */
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

/** The key of an order at the exchange; undefined where its report is not complete. */
export function likenessIn({ symbol, side, type, price, quantity, amount }: OrderReport): string | undefined {
  const volume: Volume | undefined =
    quantity !== undefined ? { lots: quantity } : amount !== undefined ? { amount } : undefined;
  if (volume === undefined) return undefined;
  return likenessOf({ symbol, side, type, volume, ...(price === undefined ? {} : { price }) });
}

/** Volumes tried: the planned one and nine smaller ones. */
const maxTries = 10;
const oneLot = 1n as Lots;

/** The draft, or a slightly smaller one, whose key no other order has; undefined if there is none. */
export function unlike(draft: OrderDraft, taken: ReadonlySet<string>, instrument: Instrument): OrderDraft | undefined {
  let tried: OrderDraft | undefined = draft;
  for (let tries = 0; tries < maxTries && tried !== undefined; tries++) {
    const likeness = likenessOf(tried);
    if (likeness === undefined) return undefined;
    if (!taken.has(likeness)) return tried;
    tried = oneStepLess(tried, instrument);
  }
  return undefined;
}

/** Undefined if the order would be below the minimum. Its expected quantity stays as planned, so that the plan recognises the order. */
function oneStepLess(draft: OrderDraft, instrument: Instrument): OrderDraft | undefined {
  const { volume } = draft;
  if ('lots' in volume) {
    const lots = orderLots(minus(volume.lots, oneLot), instrument);
    return lots < instrument.minQuantity || lots <= 0n ? undefined : { ...draft, volume: { lots } };
  }
  const step = smallest(instrument.orderPlaces?.price ?? instrument.pricePrecision);
  const amount: Units = minus(volume.amount, step);
  return amount < instrument.minNotional || amount <= 0n ? undefined : { ...draft, volume: { amount } };
}

/** Pairs of our orders and orders at the exchange, where exactly one of each has the same key. */
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
