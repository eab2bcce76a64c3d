/**
 * Pre-trade rules: named pure functions in a list, first denial wins. Each says what it judged and by which numbers.
 *
 * A protective exit (`purpose: stop`) only ever reduces what is held: rules that bound what may be gained or lost do not hold
 * it up, for a position that cannot be left is worse than any of them.
 */

import { baseUnits, lotsIn, minus, noLots, priceText, ticksOf, unitsText, worsened } from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import {
  addedBy,
  exposureOf,
  isProtective,
  type Limits,
  type RiskContext,
  type Rule,
  type Valued,
  valued,
} from './context.ts';
import { bookAge, depthShare, move, selfMatch, slippage } from './depth-rules.ts';
import { letsThrough } from './kill.ts';
import {
  accountShare,
  leverage,
  newVersion,
  orderShare,
  positionShare,
  strategyOrderValue,
  strategyPosition,
} from './share-rules.ts';

export type { Created, Limits, RiskContext } from './context.ts';

/** After a kill nothing is created; only the daily loss limit lets protective exits through, since it is there to limit losses. */
function killed({ kill, draft }: Valued): Denial['facts'] | undefined {
  if (kill === undefined || letsThrough(kill, draft.purpose)) return undefined;
  return { since: kill.at, by: kill.by, reason: kill.reason };
}

function staleData({ draft, portfolio, now, maxDataAgeMs }: Valued): Denial['facts'] | undefined {
  const mark = portfolio.lastMark(draft.symbol);
  if (mark !== undefined && now - mark.at <= maxDataAgeMs) return undefined;
  if (mark !== undefined && isProtective(draft)) return undefined;
  return { ageMs: mark === undefined ? 'never seen' : Math.round(now - mark.at), maxDataAgeMs };
}

/** A position that has outgrown the limit must still be left: what only reduces is not judged. */
function orderValue(context: Valued): Denial['facts'] | undefined {
  const { value, limits } = context;
  const { maxOrderValue } = limits;
  if (context.isReducing) return undefined;
  return value <= maxOrderValue ? undefined : { value: unitsText(value), maxOrderValue: unitsText(maxOrderValue) };
}

/** Only what adds to |position| is judged: an exit is always within the limit. */
function position(context: Valued): Denial['facts'] | undefined {
  const { limits } = context;
  if (context.isReducing) return undefined;
  const exposure = exposureOf(context);
  return exposure <= limits.maxPosition
    ? undefined
    : { exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
}

/** A limit below the last price makes an order worth less than the plan reckoned; the exchange would reject it. */
function minimum({ draft, at, value }: Valued): Denial['facts'] | undefined {
  if (draft.price === undefined || value >= at.minNotional) return undefined;
  return { value: unitsText(value), minNotional: unitsText(at.minNotional) };
}

/** A strategy spends what it was allotted and what it earned; buying back a short is always allowed, and where it may borrow `leverage` says how much. */
function allocation(context: Valued): Denial['facts'] | undefined {
  const { draft, portfolio, limits } = context;
  if (limits.maxLeverage !== undefined || draft.side === 'SELL') return undefined;
  if (portfolio.position(draft.strategy, draft.symbol).base < 0n) return undefined;
  const free = portfolio.freeQuote(draft.strategy, draft.symbol);
  const value = addedBy(context);
  return value <= free ? undefined : { value: unitsText(value), free: unitsText(free) };
}

/** On spot a strategy sells what it holds, less what its other orders already sell. */
function holdings({ draft, portfolio, at, isReserved }: Valued): Denial['facts'] | undefined {
  if (draft.side === 'BUY' || draft.account === 'margin') return undefined;
  let free = portfolio.position(draft.strategy, draft.symbol).base;
  for (const order of portfolio.ordersOf(draft.strategy, draft.symbol)) {
    if (order.intent.side === 'SELL') free = minus(free, baseUnits(minus(order.intent.expectedLots, order.filled), at));
  }
  const needed = isReserved === true ? noLots : draft.expectedLots;
  return needed <= lotsIn(free, at)
    ? undefined
    : { selling: unitsText(baseUnits(draft.expectedLots, at)), free: unitsText(free) };
}

/** A maker may rest far away on its own side of the market; only a price that could trade badly is wrong. */
function collar({ draft, portfolio, limits, at }: Valued): Denial['facts'] | undefined {
  const mark = portfolio.lastMark(draft.symbol);
  if (draft.price === undefined || mark === undefined) return undefined;
  const bound = worsened(draft.side, ticksOf(mark.price, at, 'down'), limits.priceCollar);
  if (draft.side === 'BUY' ? draft.price <= bound : draft.price >= bound) return undefined;
  return { price: priceText(draft.price, at), bound: priceText(bound, at), last: mark.price };
}

function duplicate({ draft, recent, limits, now }: Valued): Denial['facts'] | undefined {
  if (isProtective(draft) || limits.duplicateMs === 0) return undefined;
  const twin = recent.find((created) => now - created.at < limits.duplicateMs && isSame(created.draft, draft));
  return twin === undefined ? undefined : { agoMs: Math.round(now - twin.at), duplicateMs: limits.duplicateMs };
}

const isSame = (a: OrderDraft, b: OrderDraft): boolean =>
  a.strategy === b.strategy &&
  a.symbol === b.symbol &&
  a.side === b.side &&
  a.type === b.type &&
  a.price === b.price &&
  a.expectedLots === b.expectedLots;

function orderRate({ draft, recent, limits, now }: Valued): Denial['facts'] | undefined {
  if (isProtective(draft)) return undefined;
  if (recent.length < limits.maxOrdersPerSecond) return undefined;
  const inLastSecond = recent.reduce((count, created) => count + (now - created.at < 1_000 ? 1 : 0), 0);
  return inLastSecond < limits.maxOrdersPerSecond
    ? undefined
    : { inLastSecond, maxOrdersPerSecond: limits.maxOrdersPerSecond };
}

/** What counts for one strategy of the orders of the last second. */
function strategyRate({ draft, recent, limits, now }: Valued): Denial['facts'] | undefined {
  const { maxStrategyOrdersPerSecond: most } = limits;
  if (most === undefined || isProtective(draft) || recent.length < most) return undefined;
  const inLastSecond = recent.reduce(
    (count, created) => count + (now - created.at < 1_000 && created.draft.strategy === draft.strategy ? 1 : 0),
    0,
  );
  return inLastSecond < most ? undefined : { inLastSecond, maxStrategyOrdersPerSecond: most };
}

/** Symbols and strategies that nobody listed may leave what they hold, and nothing else. */
function allowList({ draft, limits }: Valued): Denial['facts'] | undefined {
  if (isProtective(draft)) return undefined;
  if (limits.symbols !== undefined && !limits.symbols.includes(draft.symbol)) return { symbol: draft.symbol };
  if (limits.strategies !== undefined && !limits.strategies.has(draft.strategy)) return { strategy: draft.strategy };
  return undefined;
}

/** What rests, is on its way or of unknown outcome on one symbol, over all strategies, and of one. */
function openOrders({ draft, portfolio, limits, isReserved }: Valued): Denial['facts'] | undefined {
  const ofStrategy = limits.strategies?.get(draft.strategy)?.maxOpenOrders;
  if (isProtective(draft) || (limits.maxOpenOrders === undefined && ofStrategy === undefined)) return undefined;
  let open = isReserved === true ? -1 : 0;
  let own = open;
  for (const { intent } of portfolio.orders()) {
    if (intent.symbol === draft.symbol) open++;
    if (intent.strategy === draft.strategy) own++;
  }
  if (ofStrategy !== undefined && own >= ofStrategy) return { open: own, maxOpenOrders: ofStrategy };
  return limits.maxOpenOrders !== undefined && open >= limits.maxOpenOrders
    ? { open, maxOpenOrders: limits.maxOpenOrders }
    : undefined;
}

/** In the order they are asked. */
export const rules: Readonly<Record<string, Rule>> = {
  killed,
  allowList,
  staleData,
  bookAge,
  move,
  orderValue,
  orderShare,
  strategyOrderValue,
  position,
  positionShare,
  accountShare,
  strategyPosition,
  newVersion,
  minimum,
  allocation,
  leverage,
  holdings,
  collar,
  depthShare,
  slippage,
  selfMatch,
  openOrders,
  duplicate,
  orderRate,
  strategyRate,
};

/** What an order weighs against the limits of value and position, before it is reserved: the numbers of an approval. */
export function weighed(context: RiskContext): Denial['facts'] {
  const whole = valued(context);
  const { limits, value } = whole;
  const worth = { value: unitsText(value), maxOrderValue: unitsText(limits.maxOrderValue) };
  if (whole.isReducing) return { ...worth, reduces: 'yes' };
  const exposure = exposureOf(whole);
  return { ...worth, exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
}

/** Rules that deny nothing while none of these limits is set. */
const needs: Readonly<Record<string, readonly (keyof Limits)[]>> = {
  allowList: ['symbols', 'strategies'],
  move: ['maxMove'],
  orderShare: ['maxOrderShare'],
  strategyOrderValue: ['strategies'],
  positionShare: ['maxPositionShare'],
  accountShare: ['maxAccountShare'],
  strategyPosition: ['strategies'],
  newVersion: ['newVersionShare'],
  leverage: ['maxLeverage'],
  depthShare: ['maxDepthShare'],
  slippage: ['maxSlippage'],
  selfMatch: ['noSelfMatch'],
  openOrders: ['maxOpenOrders', 'strategies'],
  strategyRate: ['maxStrategyOrdersPerSecond'],
};

/** Rules about how fast orders come: an order that was counted when it was reserved is not counted against itself. */
const aboutRate = new Set(['duplicate', 'orderRate', 'strategyRate']);

type Named = readonly [code: string, rule: Rule];
interface InForce {
  readonly first: readonly Named[];
  readonly atLastHop: readonly Named[];
}

const known = new WeakMap<Limits, InForce>();

/** The rules that limits put in force, in their order; worked out once. */
function inForce(limits: Limits): InForce {
  const found = known.get(limits);
  if (found !== undefined) return found;
  const first = Object.entries(rules).filter(
    ([code]) => needs[code]?.every((limit) => limits[limit] === undefined) !== true,
  );
  const made = { first, atLastHop: first.filter(([code]) => !aboutRate.has(code)) };
  known.set(limits, made);
  return made;
}

/** The first rule that denies, with its numbers; undefined when none does. */
export function firstDenial(context: RiskContext): Denial | undefined {
  const whole = valued(context);
  const { first, atLastHop } = inForce(context.limits);
  for (const [code, rule] of context.isReserved === true ? atLastHop : first) {
    const facts = rule(whole);
    if (facts !== undefined) return { code, facts };
  }
  return undefined;
}
