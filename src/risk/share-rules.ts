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
import { addedBy, exposureOf, type Rule, reduces, type Valued } from './context.ts';

/** Refuses what is above a fraction of the equity; what only reduces is never refused. */
function aboveShare(scene: Valued, share: Rate | undefined, amount: (scene: Valued) => Units, name: string) {
  if (share === undefined || reduces(scene)) return undefined;
  const equity = scene.portfolio.totalEquity();
  const most = part(greatest(equity, noUnits), share, 'down');
  const value = amount(scene);
  return value <= most
    ? undefined
    : { value: unitsText(value), most: unitsText(most), equity: unitsText(equity), [name]: rateText(share) };
}

/** Max order value: a fraction of the equity, beside the absolute one. */
export const orderShare: Rule = (scene) =>
  aboveShare(scene, scene.limits.maxOrderShare, ({ value }) => value, 'maxOrderShare');

/** Capital threshold of a symbol: position, open orders and those of unknown outcome. */
export const positionShare: Rule = (scene) =>
  aboveShare(scene, scene.limits.maxPositionShare, exposureOf, 'maxPositionShare');

/** Capital threshold of the account: the same over all symbols. */
export const accountShare: Rule = (scene) =>
  aboveShare(scene, scene.limits.maxAccountShare, accountExposure, 'maxAccountShare');

/** What would be at stake over all symbols: of each the greater of its sides, with this order on its own. */
function accountExposure(scene: Valued): Units {
  const { portfolio, draft } = scene;
  let sum = noUnits;
  for (const symbol of new Set(portfolio.places().map((place) => place.symbol))) {
    const price = portfolio.markTicks(symbol);
    if (symbol === draft.symbol) sum = plus(sum, greatest(exposureOf(scene), noUnits));
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
function ownExposure(scene: Valued): Units {
  const { draft, portfolio, last, at } = scene;
  const price = draft.price ?? last;
  const { base } = portfolio.position(draft.strategy, draft.symbol);
  const held = worth(draft.side === 'BUY' ? base : negate(base), price, at);
  return plus(plus(held, portfolio.openValueOf(draft.strategy, draft.symbol, draft.side, price)), addedBy(scene));
}

/** Margin: what a strategy holds or is short of, by a multiple of its own equity, at the last price. */
export const leverage: Rule = (scene) => {
  const { draft, portfolio, limits } = scene;
  if (limits.maxLeverage === undefined || reduces(scene)) return undefined;
  const equity = portfolio.equity(draft.strategy, draft.symbol);
  const most = part(greatest(equity, noUnits), limits.maxLeverage, 'down');
  const exposure = ownExposure(scene);
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
export const strategyOrderValue: Rule = (scene) => {
  const most = scene.limits.strategies?.get(scene.draft.strategy)?.maxOrderValue;
  if (most === undefined || scene.value <= most || reduces(scene)) return undefined;
  return { value: unitsText(scene.value), most: unitsText(most) };
};

/** Deployment limit: the largest position of one strategy. */
export const strategyPosition: Rule = (scene) => {
  const most = scene.limits.strategies?.get(scene.draft.strategy)?.maxPosition;
  if (most === undefined || reduces(scene)) return undefined;
  const exposure = ownExposure(scene);
  return exposure <= most ? undefined : { exposure: unitsText(exposure), most: unitsText(most) };
};

/** Deployment limit: a version of the code that nobody has released holds a part of the allocation only. */
export const newVersion: Rule = (scene) => {
  const { newVersion: version, limits } = scene;
  if (version === undefined || limits.newVersionShare === undefined || reduces(scene)) return undefined;
  const most = part(version.allocation, limits.newVersionShare, 'down');
  const exposure = ownExposure(scene);
  return exposure <= most
    ? undefined
    : {
        exposure: unitsText(exposure),
        most: unitsText(most),
        strategy: scene.draft.strategy,
        code: version.code.slice(0, 12),
        newVersionShare: rateText(limits.newVersionShare),
      };
};
