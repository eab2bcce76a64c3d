/**
 * Pre-trade rules: named pure functions in a list, first denial wins. Each says what it judged and by which numbers.
 *
 * A protective exit (`purpose: stop`) only ever reduces what is held: rules that bound what may be gained or lost do not hold
 * it up, for a position that cannot be left is worse than any of them.
 */

import type { Instrument } from '../domain/instrument.ts';
import {
  absolute,
  baseUnits,
  lotsIn,
  minus,
  notional,
  plus,
  priceText,
  type Rate,
  type Ticks,
  ticksOf,
  type Units,
  unitsText,
  worsened,
} from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { Draft } from '../portfolio/plan.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { type Kill, letsThrough } from './kill.ts';

export interface Limits {
  /** Most that one order may be worth, in quote. */
  readonly maxOrderValue: Units;
  /** Most that a position may be worth once every open order that adds to it has filled, long or short, in quote, by symbol. */
  readonly maxPosition: Units;
  /** How far a LIMIT price may lie from the last price, as a fraction. */
  readonly priceCollar: Rate;
  /** Oldest price to decide by, real ms. */
  readonly maxDataAgeMs: number;
  /** The same order again within this time is refused, ms. */
  readonly duplicateMs: number;
  /** Most orders created in any second. */
  readonly maxOrdersPerSecond: number;
  /** Loss since midnight UTC, as a fraction of the equity then, at which all creation is killed. */
  readonly maxDailyLoss: Rate;
}

/** An order that was created, for the rules that look back. */
export interface Created {
  readonly at: number;
  readonly draft: Draft;
}

/** What a rule may look at. */
export interface Scene {
  readonly draft: Draft;
  readonly portfolio: Portfolio;
  readonly limits: Limits;
  readonly now: number;
  /** `maxDataAgeMs` in ms of the clock. */
  readonly maxDataAgeMs: number;
  readonly kill: Kill | undefined;
  /** Orders of the last seconds, oldest first. */
  readonly recent: readonly Created[];
}

/** A scene with what several rules need, worked out once. */
interface Valued extends Scene {
  readonly at: Instrument;
  /** The last price in ticks, rounded up; zero before the first. */
  readonly last: Ticks;
  /** What the order is worth in quote: its amount, or price × quantity, at the last price for a MARKET order. */
  readonly value: Units;
}

type Rule = (scene: Valued) => Denial['facts'] | undefined;

const isProtective = (draft: Draft): boolean => draft.purpose === 'stop';

function valued({ draft, portfolio, limits, now, maxDataAgeMs, kill, recent }: Scene): Valued {
  const at = portfolio.instrument(draft.symbol);
  const last = ticksOf(portfolio.lastMark(draft.symbol)?.price ?? 0, at, 'up');
  const value = 'amount' in draft.volume ? draft.volume.amount : notional(draft.price ?? last, draft.volume.lots, at);
  return { draft, portfolio, limits, now, maxDataAgeMs, kill, recent, at, last, value };
}

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
function orderValue(scene: Valued): Denial['facts'] | undefined {
  const { value, limits } = scene;
  const { maxOrderValue } = limits;
  if (reduces(scene)) return undefined;
  return value <= maxOrderValue ? undefined : { value: unitsText(value), maxOrderValue: unitsText(maxOrderValue) };
}

/** Only what adds to |position| is judged: an exit is always within the limit. */
function position(scene: Valued): Denial['facts'] | undefined {
  const { draft, portfolio, limits, value, last } = scene;
  if (reduces(scene)) return undefined;
  const exposure = plus(portfolio.exposure(draft.symbol, draft.side, draft.price ?? last), value);
  return exposure <= limits.maxPosition
    ? undefined
    : { exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
}

/** True for a sale of what is held, and for buying back what is short. */
function reduces({ draft, portfolio, at }: Valued): boolean {
  const { base } = portfolio.position(draft.strategy, draft.symbol);
  const against = draft.side === 'SELL' ? base > 0n : base < 0n;
  return against && baseUnits(draft.expectedLots, at) <= absolute(base);
}

/** A limit below the last price makes an order worth less than the plan reckoned; the exchange would reject it. */
function minimum({ draft, at, value }: Valued): Denial['facts'] | undefined {
  if (draft.price === undefined || value >= at.minNotional) return undefined;
  return { value: unitsText(value), minNotional: unitsText(at.minNotional) };
}

/** A strategy spends what it was allotted and what it earned, nothing else; buying back a short is always allowed. */
function allocation({ draft, portfolio, value }: Valued): Denial['facts'] | undefined {
  if (draft.side === 'SELL' || portfolio.position(draft.strategy, draft.symbol).base < 0n) return undefined;
  const free = portfolio.freeQuote(draft.strategy, draft.symbol);
  return value <= free ? undefined : { value: unitsText(value), free: unitsText(free) };
}

/** On spot a strategy sells what it holds, less what its other orders already sell. */
function holdings({ draft, portfolio, at }: Valued): Denial['facts'] | undefined {
  if (draft.side === 'BUY' || draft.account === 'margin') return undefined;
  let free = portfolio.position(draft.strategy, draft.symbol).base;
  for (const order of portfolio.ordersOf(draft.strategy, draft.symbol)) {
    if (order.intent.side === 'SELL') free = minus(free, baseUnits(minus(order.intent.expectedLots, order.filled), at));
  }
  return draft.expectedLots <= lotsIn(free, at)
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

const isSame = (a: Draft, b: Draft): boolean =>
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

/** In the order they are asked. */
export const rules: Readonly<Record<string, Rule>> = {
  killed,
  staleData,
  orderValue,
  position,
  minimum,
  allocation,
  holdings,
  collar,
  duplicate,
  orderRate,
};

/** What an order weighs against the limits of value and position, before it is reserved: what an approval is told by. */
export function weighed(scene: Scene): Denial['facts'] {
  const whole = valued(scene);
  const { draft, portfolio, limits, value, last } = whole;
  const worth = { value: unitsText(value), maxOrderValue: unitsText(limits.maxOrderValue) };
  if (reduces(whole)) return { ...worth, reduces: 'yes' };
  const exposure = plus(portfolio.exposure(draft.symbol, draft.side, draft.price ?? last), value);
  return { ...worth, exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
}

const inOrder = Object.entries(rules);

/** The first rule that refuses, with its numbers; undefined when none does. */
export function firstDenial(scene: Scene): Denial | undefined {
  const whole = valued(scene);
  for (const [code, rule] of inOrder) {
    const facts = rule(whole);
    if (facts !== undefined) return { code, facts };
  }
  return undefined;
}
