/** Reduces an order to the most that the limits of size allow, for targets with `clip: true`. */
import type { Instrument } from '../domain/instrument.ts';
import { orderLots } from '../domain/instrument.ts';
import {
  cut,
  type Lots,
  lots,
  lotsFor,
  minus,
  noLots,
  notional,
  partOfLots,
  type Ticks,
  type Units,
  units,
} from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import type { RiskContext, Valued } from './context.ts';
import { valued } from './exposure-rules.ts';
import { rules } from './rules.ts';

/** Rules that compare an amount that grows with the order by as much, and the most that is allowed: the names of both numbers. */
const ofValue: Readonly<Record<string, readonly [counted: string, allowed: string]>> = {
  orderValue: ['value', 'maxOrderValue'],
  orderShare: ['value', 'allowed'],
  strategyOrderValue: ['value', 'allowed'],
  position: ['exposure', 'maxPosition'],
  positionShare: ['value', 'allowed'],
  accountShare: ['value', 'allowed'],
  strategyPosition: ['exposure', 'allowed'],
  strategyGross: ['gross', 'allowed'],
  strategyNet: ['net', 'allowed'],
  newVersion: ['exposure', 'allowed'],
  allocation: ['value', 'free'],
  leverage: ['exposure', 'allowed'],
};

export const isOfSize = (code: string): boolean => code === 'depthShare' || Object.hasOwn(ofValue, code);

/** The draft, reduced by the rule that allows the least; undefined where that is below the exchange's minimum, or not less. */
export function clippedDraft(context: RiskContext): OrderDraft | undefined {
  const whole = valued(context);
  const { draft } = whole;
  const price = draft.price ?? whole.last;
  let [smallest, by]: [Lots, Denial | undefined] = [draft.expectedLots, undefined];
  for (const code of [...Object.keys(ofValue), 'depthShare']) {
    const facts = rules[code]?.(whole);
    if (facts === undefined) continue;
    const allowed = allowedBy(code, facts, whole, price);
    if (allowed < smallest) [smallest, by] = [allowed, { code, facts }];
  }
  return by === undefined ? undefined : reducedTo(smallest, by, price, whole);
}

function allowedBy(code: string, facts: Denial['facts'], { at, value, limits }: Valued, price: Ticks): Lots {
  const names = ofValue[code];
  const { maxDepthShare } = limits;
  if (names === undefined)
    return maxDepthShare === undefined
      ? noLots
      : orderLots(partOfLots(lots(String(facts['shown']), at), maxDepthShare), at);
  const excess = minus(units(String(facts[names[0]])), units(String(facts[names[1]])));
  return orderLots(lotsFor(minus(value, excess), price, at), at);
}

function reducedTo(size: Lots, by: Denial, price: Ticks, { draft, at }: Valued): OrderDraft | undefined {
  const value = notional(price, size, at);
  if (size <= 0n || size < at.minQuantity || value < at.minNotional) return undefined;
  const volume = 'lots' in draft.volume ? { lots: size } : { amount: amountOf(value, at) };
  return { ...draft, volume, expectedLots: size, reduced: { from: draft.expectedLots, by } };
}

const amountOf = (value: Units, at: Instrument): Units => cut(value, at.orderPlaces?.price ?? at.pricePrecision);
