/**
 * Pre-trade rules: named pure functions in a list, first denial wins. Each denial names the numbers that it compared. Rules about values and
 * positions are in `exposure-rules.ts`. Rules about depth and price moves do not apply where nobody shows these, as in a run over klines.
 *
 * A protective exit (`purpose: stop`) only ever reduces a position: rules that limit gains or losses do not delay it, because a position that
 * cannot be left is worse than any of them.
 */

import { averagePrice, levelTicks } from '../domain/depth-price.ts';
import type { Level } from '../domain/market.ts';
import {
  type Lots,
  lotsOf,
  minus,
  noLots,
  partOfLots,
  plus,
  priceNumber,
  priceText,
  quantityText,
  rateNumber,
  rateText,
  type Ticks,
  ticksOf,
  worsened,
} from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import type { Created, Limits, RiskContext, Rule, Valued } from './context.ts';
import {
  accountShare,
  allocation,
  holdings,
  leverage,
  minimum,
  newVersion,
  orderShare,
  orderValue,
  position,
  positionShare,
  strategyGross,
  strategyNet,
  strategyOrderValue,
  strategyPosition,
  valued,
} from './exposure-rules.ts';
import { type Kill, letsThrough } from './kill.ts';

/** After a kill strategies create nothing; what protects their positions goes on unless it stops everything (`kill.ts`). */
const killed: Rule = ({ kill, draft }) =>
  kill?.kind !== 'kill' || letsThrough(kill, draft.purpose) ? undefined : denied(kill);

/** During a pause nothing is entered, nor what would turn a position round. */
const paused: Rule = ({ kill, draft, isReducing }) =>
  kill?.kind !== 'pause' || (letsThrough(kill, draft.purpose) && (isReducing || draft.purpose !== 'exit'))
    ? undefined
    : denied(kill);

const denied = ({ at: since, by, reason }: Kill): Denial['facts'] => ({ since, by, reason });

const staleData: Rule = ({ draft, portfolio, now, maxDataAgeMs, isProtective }) => {
  const mark = portfolio.lastMark(draft.symbol);
  if (mark !== undefined && now - mark.at <= maxDataAgeMs) return undefined;
  if (mark !== undefined && isProtective) return undefined;
  return { ageMs: mark === undefined ? 'never seen' : Math.round(now - mark.at), maxDataAgeMs };
};

/** A maker may rest far away on its own side of the market; only a price that could trade badly is wrong. */
const collar: Rule = ({ draft, portfolio, limits, at }) => {
  const mark = portfolio.lastMark(draft.symbol);
  if (draft.price === undefined || mark === undefined) return undefined;
  const bound = worsened(draft.side, ticksOf(mark.price, at, 'down'), limits.priceCollar);
  if (draft.side === 'BUY' ? draft.price <= bound : draft.price >= bound) return undefined;
  return { price: priceText(draft.price, at), bound: priceText(bound, at), last: mark.price };
};

const duplicate: Rule = ({ draft, recent, limits, now, isProtective }) => {
  if (isProtective || limits.duplicateWindowMs === 0) return undefined;
  const twin = recent.find((created) => now - created.at < limits.duplicateWindowMs && isSame(created.draft, draft));
  return twin === undefined
    ? undefined
    : { agoMs: Math.round(now - twin.at), duplicateWindowMs: limits.duplicateWindowMs };
};

const isSame = (a: OrderDraft, b: OrderDraft): boolean =>
  a.strategy === b.strategy &&
  a.symbol === b.symbol &&
  a.side === b.side &&
  a.type === b.type &&
  a.price === b.price &&
  a.expectedLots === b.expectedLots;

const orderRate: Rule = ({ recent, limits: { maxOrdersPerSecond }, now, isProtective }) => {
  if (isProtective || recent.length < maxOrdersPerSecond) return undefined;
  const inLastSecond = countOf(recent, now, undefined);
  return inLastSecond < maxOrdersPerSecond ? undefined : { inLastSecond, maxOrdersPerSecond };
};

const strategyRate: Rule = ({ draft, recent, limits, now, isProtective }) => {
  const { maxStrategyOrdersPerSecond: limit } = limits;
  if (limit === undefined || isProtective || recent.length < limit) return undefined;
  const inLastSecond = countOf(recent, now, draft.strategy);
  return inLastSecond < limit ? undefined : { inLastSecond, maxStrategyOrdersPerSecond: limit };
};

/** Orders created in the last second, by one strategy or all. */
function countOf(recent: readonly Created[], now: number, strategy: string | undefined): number {
  let count = 0;
  for (const { at, draft } of recent)
    if (now - at < 1_000 && (strategy === undefined || draft.strategy === strategy)) count++;
  return count;
}

/** Symbols and strategies that nobody listed may leave what they hold, and nothing else. */
const allowList: Rule = ({ draft, limits, isProtective }) => {
  if (isProtective) return undefined;
  if (limits.symbols !== undefined && !limits.symbols.includes(draft.symbol)) return { symbol: draft.symbol };
  if (limits.strategies !== undefined && !limits.strategies.has(draft.strategy)) return { strategy: draft.strategy };
  return undefined;
};

/** What rests, is on its way or of unknown outcome on one symbol, over all strategies, and of one. */
const openOrders: Rule = ({ draft, portfolio, limits, isReserved, isProtective }) => {
  const ofStrategy = limits.strategies?.get(draft.strategy)?.maxOpenOrders;
  if (isProtective || (limits.maxOpenOrders === undefined && ofStrategy === undefined)) return undefined;
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
};

/** What the order would take from, best first. */
const opposite = ({ draft, book }: Valued): readonly Level[] => (draft.side === 'BUY' ? book?.asks : book?.bids) ?? [];

const isFresh = ({ book, maxDepthAgeMs }: Valued): boolean =>
  book !== undefined && maxDepthAgeMs !== undefined && book.ageMs <= maxDepthAgeMs;

/** True where an order would trade at once: MARKET, or LIMIT at or beyond the best price of the other side. */
function takes(context: Valued): boolean {
  const { draft, at } = context;
  if (draft.price === undefined) return true;
  const best = opposite(context)[0]?.[0];
  if (best === undefined) return false;
  return draft.side === 'BUY' ? ticksOf(best, at, 'up') <= draft.price : ticksOf(best, at, 'down') >= draft.price;
}

/** A MARKET order has no price: without fresh depth nobody knows what it would pay. */
const depthAge: Rule = (context) => {
  const { draft, maxDepthAgeMs, book, limits, isProtective } = context;
  if (maxDepthAgeMs === undefined || draft.price !== undefined || isProtective || isFresh(context)) return undefined;
  return {
    ageMs: book === undefined ? 'never seen' : Math.round(book.ageMs),
    maxDepthAgeMs: limits.maxDepthAgeMs ?? maxDepthAgeMs,
  };
};

/** Period collar: a price that runs away pauses its symbol until it has been calm for the whole period. */
const move: Rule = ({ moved, limits, isProtective }) => {
  const { maxMove, moveWindowMs } = limits;
  if (maxMove === undefined || moved === undefined || isProtective || moved <= rateNumber(maxMove)) return undefined;
  return { moved: moved.toFixed(4), maxMove: rateText(maxMove), moveWindowMs: moveWindowMs ?? 0 };
};

/** Max volume: a part of what the book shows on the side that the order would take from. */
const depthShare: Rule = (context) => {
  const { draft, at, limits, isProtective } = context;
  if (limits.maxDepthShare === undefined || isProtective || !isFresh(context) || !takes(context)) return undefined;
  let shown = noLots;
  for (const [, quantity] of opposite(context)) shown = plus(shown, lotsOf(quantity, at));
  const allowed = partOfLots(shown, limits.maxDepthShare);
  if (draft.expectedLots <= allowed) return undefined;
  return {
    quantity: quantityText(draft.expectedLots, at),
    shown: quantityText(shown, at),
    maxDepthShare: rateText(limits.maxDepthShare),
  };
};

/** Erroneous price of a MARKET order: what it is expected to pay beyond the mid price, walking the book. */
const slippage: Rule = (context) => {
  const { draft, book, limits, isProtective } = context;
  if (limits.maxSlippage === undefined || draft.price !== undefined || isProtective || !isFresh(context))
    return undefined;
  const bid = book?.bids[0]?.[0];
  const ask = book?.asks[0]?.[0];
  const average = averagePrice(opposite(context), draft.side, draft.expectedLots, context.at);
  const maxSlippage = rateText(limits.maxSlippage);
  if (bid === undefined || ask === undefined || average === undefined)
    return { slippage: 'more than the book shows', maxSlippage };
  const mid = (bid + ask) / 2;
  const estimate = draft.side === 'BUY' ? average / mid - 1 : 1 - average / mid;
  return estimate <= rateNumber(limits.maxSlippage) ? undefined : { slippage: estimate.toFixed(4), maxSlippage };
};

/** Self-match: an order must not trade with one of ours, whichever strategy's. Without a book any of ours that rests is too near for a MARKET order. */
const selfMatch: Rule = (context) => {
  const { draft, portfolio, limits, at, isProtective } = context;
  if (limits.noSelfMatch !== true || isProtective) return undefined;
  const reach = draft.price ?? reachOf(context);
  for (const { intent, state } of portfolio.orders()) {
    if (intent.symbol !== draft.symbol || intent.side === draft.side || state === 'closing') continue;
    const { price } = intent;
    const meets =
      price === undefined || reach === undefined || (draft.side === 'BUY' ? price <= reach : price >= reach);
    if (meets)
      return {
        order: intent.clientOrderId,
        owner: intent.strategy,
        at: price === undefined ? 'market' : priceNumber(price, at),
      };
  }
  return undefined;
};

/** The worst price that a MARKET order would reach; undefined where the depth does not show it. */
function reachOf(context: Valued): Ticks | undefined {
  if (!isFresh(context)) return undefined;
  let left: Lots = context.draft.expectedLots;
  for (const [price, quantity] of opposite(context)) {
    left = minus(left, lotsOf(quantity, context.at));
    if (left <= 0n) return levelTicks(price, context.draft.side, context.at);
  }
  return undefined;
}

/** In the order they are asked. */
export const rules: Readonly<Record<string, Rule>> = {
  killed,
  paused,
  allowList,
  staleData,
  depthAge,
  move,
  orderValue,
  orderShare,
  strategyOrderValue,
  position,
  positionShare,
  accountShare,
  strategyPosition,
  strategyGross,
  strategyNet,
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

/** Rules that deny nothing while none of these limits is set. */
const needs: Readonly<Record<string, readonly (keyof Limits)[]>> = {
  allowList: ['symbols', 'strategies'],
  move: ['maxMove'],
  orderShare: ['maxOrderShare'],
  strategyOrderValue: ['strategies'],
  positionShare: ['maxPositionShare'],
  accountShare: ['maxAccountShare'],
  strategyPosition: ['strategies'],
  strategyGross: ['strategies'],
  strategyNet: ['strategies'],
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
