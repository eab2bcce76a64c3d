/** The value of an order and the exposure after it, and the rules that limit both: by amounts, equity, strategy and version. */
import type { Instrument } from '../domain/instrument.ts';
import {
  absolute,
  baseUnits,
  lotsIn,
  max,
  minus,
  noLots,
  notional,
  noUnits,
  part,
  plus,
  type Rate,
  rateText,
  ticksOf,
  type Units,
  unitsText,
} from '../domain/money.ts';
import type { Denial } from '../domain/order.ts';
import type { Position } from '../domain/position.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import { exposureBeside, exposureTowards } from '../portfolio/pool-exposure.ts';
import type { RiskContext, Rule, Valued } from './context.ts';

export function valued(context: RiskContext): Valued {
  const { draft, portfolio, limits, now, maxDataAgeMs, kill, recent, book, maxDepthAgeMs, moved, newVersion } = context;
  const { instrument: at, position } = portfolio.subAccount(draft.strategy, draft.symbol);
  const last = ticksOf(portfolio.lastMark(draft.symbol)?.price ?? 0, at, 'up');
  const value = 'amount' in draft.volume ? draft.volume.amount : notional(draft.price ?? last, draft.volume.lots, at);
  const isReducing = reduces(draft, position, at);
  const isProtective = draft.purpose === 'stop' || draft.purpose === 'flatten';
  const isReserved = context.isReserved === true;
  // Spelt out: a spread that adds fields costs more than all rules that pass.
  return {
    draft,
    portfolio,
    limits,
    now,
    maxDataAgeMs,
    kill,
    recent,
    book,
    maxDepthAgeMs,
    moved,
    newVersion,
    isReserved,
    at,
    last,
    value,
    isReducing,
    isProtective,
  } satisfies Required<Valued>;
}

function reduces({ side, expectedLots }: OrderDraft, { base }: Position, at: Instrument): boolean {
  const against = side === 'SELL' ? base > 0n : base < 0n;
  return against && baseUnits(expectedLots, at) <= absolute(base);
}

/** What the order adds to what the portfolio counts already. */
const addedBy = ({ isReserved, value }: Valued): Units => (isReserved === true ? noUnits : value);

/** What would be held of the symbol, in quote, once this order and every open one of its side has filled. */
const exposureOf = (context: Valued): Units => {
  const { draft, portfolio, last } = context;
  return plus(portfolio.exposure(draft.symbol, draft.side, draft.price ?? last), addedBy(context));
};

/** What the strategy alone would hold, in quote, once this order and its open ones of the same side have filled. */
function ownExposure(context: Valued): Units {
  const { draft, portfolio, last } = context;
  const { strategy, symbol, side } = draft;
  return plus(exposureTowards(portfolio, strategy, symbol, side, draft.price ?? last), addedBy(context));
}

/** What an order weighs against the limits of value and position, before it is reserved: the numbers of an approval. */
export function weighed(context: RiskContext): Denial['facts'] {
  const whole = valued(context);
  const { limits, value } = whole;
  const worth = { value: unitsText(value), maxOrderValue: unitsText(limits.maxOrderValue) };
  if (whole.isReducing) return { ...worth, reduces: 'yes' };
  const exposure = exposureOf(whole);
  return { ...worth, exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
}

/** A position that has outgrown the limit must still be left: what only reduces is not judged. */
export const orderValue: Rule = (context) => {
  const { value, limits } = context;
  const { maxOrderValue } = limits;
  if (context.isReducing) return undefined;
  return value <= maxOrderValue ? undefined : { value: unitsText(value), maxOrderValue: unitsText(maxOrderValue) };
};

/** Only what adds to |position| is judged: an exit is always within the limit. */
export const position: Rule = (context) => {
  const { limits } = context;
  if (context.isReducing) return undefined;
  const exposure = exposureOf(context);
  return exposure <= limits.maxPosition
    ? undefined
    : { exposure: unitsText(exposure), maxPosition: unitsText(limits.maxPosition) };
};

/** A limit below the last price makes an order worth less than the plan calculated; the exchange would reject it. */
export const minimum: Rule = ({ draft, at, value }) => {
  if (draft.price === undefined || value >= at.minNotional) return undefined;
  return { value: unitsText(value), minNotional: unitsText(at.minNotional) };
};

/** A strategy spends what it was allotted and what it earned; buying back a short is always allowed, and where it may borrow `leverage` says how much. */
export const allocation: Rule = (context) => {
  const { draft, portfolio, limits } = context;
  if (limits.maxLeverage !== undefined || draft.side === 'SELL') return undefined;
  if (portfolio.position(draft.strategy, draft.symbol).base < 0n) return undefined;
  const free = portfolio.freeQuote(draft.strategy, draft.symbol);
  const value = addedBy(context);
  return value <= free ? undefined : { value: unitsText(value), free: unitsText(free) };
};

/** On spot a strategy sells what it holds, less what its other orders already sell. */
export const holdings: Rule = ({ draft, portfolio, at, isReserved }) => {
  if (draft.side === 'BUY' || draft.account === 'margin') return undefined;
  let free = portfolio.position(draft.strategy, draft.symbol).base;
  for (const order of portfolio.ordersOf(draft.strategy, draft.symbol)) {
    if (order.intent.side === 'SELL') free = minus(free, baseUnits(minus(order.intent.expectedLots, order.filled), at));
  }
  const needed = isReserved === true ? noLots : draft.expectedLots;
  return needed <= lotsIn(free, at)
    ? undefined
    : { selling: unitsText(baseUnits(draft.expectedLots, at)), free: unitsText(free) };
};

/** Refuses what is above a fraction of the equity; what only reduces is never refused. */
function aboveShare(context: Valued, share: Rate | undefined, amount: (context: Valued) => Units, name: string) {
  if (share === undefined || context.isReducing) return undefined;
  const equity = context.portfolio.totalEquity();
  const allowed = part(max(equity, noUnits), share, 'down');
  const value = amount(context);
  return value <= allowed
    ? undefined
    : { value: unitsText(value), allowed: unitsText(allowed), equity: unitsText(equity), [name]: rateText(share) };
}

/** Max order value: a fraction of the equity, beside the absolute one. */
export const orderShare: Rule = (context) =>
  aboveShare(context, context.limits.maxOrderShare, ({ value }) => value, 'maxOrderShare');

/** Capital threshold of a symbol: position, open orders and those of unknown outcome. */
export const positionShare: Rule = (context) =>
  aboveShare(context, context.limits.maxPositionShare, exposureOf, 'maxPositionShare');

/** Capital threshold of the account: the same over all symbols. */
export const accountShare: Rule = (context) =>
  aboveShare(context, context.limits.maxAccountShare, accountExposure, 'maxAccountShare');

/** What would be at stake over all symbols: of each the greater of its sides, with this order on its own. */
function accountExposure(context: Valued): Units {
  const { portfolio, draft } = context;
  let sum = noUnits;
  for (const symbol of new Set(portfolio.subAccounts().map(({ symbol: one }) => one))) {
    const price = portfolio.markTicks(symbol);
    if (symbol === draft.symbol) sum = plus(sum, max(exposureOf(context), noUnits));
    else if (price !== undefined)
      sum = plus(
        sum,
        max(noUnits, max(portfolio.exposure(symbol, 'BUY', price), portfolio.exposure(symbol, 'SELL', price))),
      );
  }
  return sum;
}

/** Margin: what a strategy holds or is short of in all its markets, by a multiple of its own equity, at the last price. */
export const leverage: Rule = (context) => {
  const { draft, portfolio, limits } = context;
  if (limits.maxLeverage === undefined || context.isReducing) return undefined;
  const equity = portfolio.equity(draft.strategy, draft.symbol);
  const allowed = part(max(equity, noUnits), limits.maxLeverage, 'down');
  const others = exposureBeside(portfolio, draft.strategy, draft.symbol);
  const exposure = plus(ownExposure(context), others);
  return exposure <= allowed
    ? undefined
    : {
        exposure: unitsText(exposure),
        allowed: unitsText(allowed),
        equity: unitsText(equity),
        maxLeverage: rateText(limits.maxLeverage),
      };
};

/** Deployment limit: the largest order of one strategy. */
export const strategyOrderValue: Rule = (context) => {
  const allowed = context.limits.strategies?.get(context.draft.strategy)?.maxOrderValue;
  if (allowed === undefined || context.value <= allowed || context.isReducing) return undefined;
  return { value: unitsText(context.value), allowed: unitsText(allowed) };
};

/** Deployment limit: the largest position of one strategy. */
export const strategyPosition: Rule = (context) => {
  const allowed = context.limits.strategies?.get(context.draft.strategy)?.maxPosition;
  if (allowed === undefined || context.isReducing) return undefined;
  const exposure = ownExposure(context);
  return exposure <= allowed ? undefined : { exposure: unitsText(exposure), allowed: unitsText(allowed) };
};

/** What the other positions of a strategy are worth once their open orders of a side have filled: long for BUY, short for SELL. */
const others = ({ portfolio, draft, limits }: Valued): readonly (readonly [long: Units, short: Units])[] => {
  const { strategy, symbol: own } = draft;
  if (limits.strategies?.get(strategy) === undefined) return [];
  return portfolio.subAccounts().flatMap(({ strategy: owner, symbol }) => {
    const price = portfolio.markTicks(symbol);
    if (owner !== strategy || symbol === own || price === undefined) return [];
    const towards = (side: 'BUY' | 'SELL'): Units => exposureTowards(portfolio, strategy, symbol, side, price);
    return [[towards('BUY'), towards('SELL')]];
  });
};

/** Deployment limit: all positions of one strategy, long and short added up. */
export const strategyGross: Rule = (context) => {
  const allowed = context.limits.strategies?.get(context.draft.strategy)?.maxGross;
  if (allowed === undefined || context.isReducing) return undefined;
  let gross = ownExposure(context);
  for (const [long, short] of others(context)) gross = plus(gross, max(long, short));
  return gross <= allowed ? undefined : { gross: unitsText(gross), allowed: unitsText(allowed) };
};

/** Deployment limit: the positions of one strategy, long less short, in the direction of the order. Orders the other way may never fill. */
export const strategyNet: Rule = (context) => {
  const allowed = context.limits.strategies?.get(context.draft.strategy)?.maxNet;
  if (allowed === undefined || context.isReducing) return undefined;
  let net = ownExposure(context);
  for (const [long, short] of others(context)) net = plus(net, context.draft.side === 'BUY' ? long : short);
  return net <= allowed ? undefined : { net: unitsText(net), allowed: unitsText(allowed) };
};

/** Deployment limit: a version of the code that is not released may use only a part of the allocation. */
export const newVersion: Rule = (context) => {
  const { newVersion: version, limits } = context;
  if (version === undefined || limits.newVersionShare === undefined || context.isReducing) return undefined;
  const allowed = part(version.allocation, limits.newVersionShare, 'down');
  const exposure = ownExposure(context);
  return exposure <= allowed
    ? undefined
    : {
        exposure: unitsText(exposure),
        allowed: unitsText(allowed),
        strategy: context.draft.strategy,
        code: version.code.slice(0, 12),
        newVersionShare: rateText(limits.newVersionShare),
      };
};
