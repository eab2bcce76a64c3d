/** Rules that bound what is at stake: by the equity, by the strategy, and by the version of its code. */
import {
  greatest,
  negate,
  noUnits,
  part,
  plus,
  type Rate,
  rateText,
  type Units,
  unitsText,
  worth,
} from '../domain/money.ts';
import { addedBy, exposureOf, type Rule, type Valued } from './context.ts';

/** Refuses what is above a fraction of the equity; what only reduces is never refused. */
function aboveShare(context: Valued, share: Rate | undefined, amount: (context: Valued) => Units, name: string) {
  if (share === undefined || context.isReducing) return undefined;
  const equity = context.portfolio.totalEquity();
  const most = part(greatest(equity, noUnits), share, 'down');
  const value = amount(context);
  return value <= most
    ? undefined
    : { value: unitsText(value), most: unitsText(most), equity: unitsText(equity), [name]: rateText(share) };
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
  for (const symbol of new Set(portfolio.places().map((place) => place.symbol))) {
    const price = portfolio.markTicks(symbol);
    if (symbol === draft.symbol) sum = plus(sum, greatest(exposureOf(context), noUnits));
    else if (price !== undefined)
      sum = plus(
        sum,
        greatest(
          noUnits,
          greatest(portfolio.exposure(symbol, 'BUY', price), portfolio.exposure(symbol, 'SELL', price)),
        ),
      );
  }
  return sum;
}

/** What the strategy alone would hold, in quote, once this order and its open ones of the same side have filled. */
function ownExposure(context: Valued): Units {
  const { draft, portfolio, last, at } = context;
  const price = draft.price ?? last;
  const { base } = portfolio.position(draft.strategy, draft.symbol);
  const held = worth(draft.side === 'BUY' ? base : negate(base), price, at);
  return plus(plus(held, portfolio.openValueOf(draft.strategy, draft.symbol, draft.side, price)), addedBy(context));
}

/** Margin: what a strategy holds or is short of, by a multiple of its own equity, at the last price. */
export const leverage: Rule = (context) => {
  const { draft, portfolio, limits } = context;
  if (limits.maxLeverage === undefined || context.isReducing) return undefined;
  const equity = portfolio.equity(draft.strategy, draft.symbol);
  const most = part(greatest(equity, noUnits), limits.maxLeverage, 'down');
  const exposure = ownExposure(context);
  return exposure <= most
    ? undefined
    : {
        exposure: unitsText(exposure),
        most: unitsText(most),
        equity: unitsText(equity),
        maxLeverage: rateText(limits.maxLeverage),
      };
};

/** Deployment limit: the largest order of one strategy. */
export const strategyOrderValue: Rule = (context) => {
  const most = context.limits.strategies?.get(context.draft.strategy)?.maxOrderValue;
  if (most === undefined || context.value <= most || context.isReducing) return undefined;
  return { value: unitsText(context.value), most: unitsText(most) };
};

/** Deployment limit: the largest position of one strategy. */
export const strategyPosition: Rule = (context) => {
  const most = context.limits.strategies?.get(context.draft.strategy)?.maxPosition;
  if (most === undefined || context.isReducing) return undefined;
  const exposure = ownExposure(context);
  return exposure <= most ? undefined : { exposure: unitsText(exposure), most: unitsText(most) };
};

/** Deployment limit: a version of the code that nobody has released holds a part of the allocation only. */
export const newVersion: Rule = (context) => {
  const { newVersion: version, limits } = context;
  if (version === undefined || limits.newVersionShare === undefined || context.isReducing) return undefined;
  const most = part(version.allocation, limits.newVersionShare, 'down');
  const exposure = ownExposure(context);
  return exposure <= most
    ? undefined
    : {
        exposure: unitsText(exposure),
        most: unitsText(most),
        strategy: context.draft.strategy,
        code: version.code.slice(0, 12),
        newVersionShare: rateText(limits.newVersionShare),
      };
};
