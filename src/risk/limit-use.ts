/** How much of each limit is used at the moment, by the numbers that the rules compare (`exposure-rules.ts`, `killing-limits.ts`). */

import type { LimitUse } from '../domain/limit-use.ts';
import {
  absolute,
  max,
  minus,
  noUnits,
  part,
  plus,
  rateText,
  type Units,
  unitsNumber,
  unitsText,
  worth,
} from '../domain/money.ts';
import { exposureIn } from '../portfolio/pool-exposure.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { StrategyLimits } from './context.ts';
import type { Risk } from './risk.ts';

type Of = Pick<LimitUse, 'strategy' | 'symbol'>;

const amount = (name: string, used: Units, allowed: Units, of: Of = {}): LimitUse => ({
  ...{ name, unit: 'amount', ...of, used: unitsText(max(used, noUnits)), allowed: unitsText(allowed) },
  share: allowed <= 0n ? 0 : Math.max(0, unitsNumber(used) / unitsNumber(allowed)),
});

const count = (name: string, used: number, allowed: number, of: Of = {}): LimitUse => ({
  ...{ name, unit: 'count', ...of, used: String(used), allowed: String(allowed) },
  share: allowed === 0 ? 0 : used / allowed,
});

const each = (name: string, allowed: string): LimitUse => ({ name, unit: 'each', used: undefined, allowed, share: 0 });

/** What would be at stake in a symbol once the open orders of one side have filled: the greater of both sides. */
function exposure(portfolio: Portfolio, symbol: string): Units {
  const price = portfolio.markTicks(symbol);
  if (price === undefined) return noUnits;
  const sides = (['BUY', 'SELL'] as const).map((side) => portfolio.exposure(symbol, side, price));
  return sides.reduce(max, noUnits);
}

/** Losses, of the day and from the highest equity. */
function losses(risk: Risk, portfolio: Portfolio): LimitUse[] {
  const { equity } = risk.dayStart;
  const lost = minus(equity, portfolio.totalEquity());
  const fall = risk.drawdown;
  return [
    amount('maxDailyLoss', lost, part(max(equity, noUnits), risk.limits.maxDailyLoss, 'down')),
    ...(fall === undefined ? [] : [amount('maxDrawdown', fall.fall, fall.allowed)]),
  ];
}

function ofSymbols({ limits }: Risk, portfolio: Portfolio, symbols: readonly string[]): LimitUse[] {
  const equity = max(portfolio.totalEquity(), noUnits);
  const { maxPositionShare, maxAccountShare, maxOpenOrders } = limits;
  const exposures = symbols.map((symbol) => [symbol, exposure(portfolio, symbol)] as const);
  const orders = [...portfolio.orders()];
  return [
    ...(maxAccountShare === undefined
      ? []
      : [
          amount(
            'maxAccountShare',
            exposures.reduce((sum, [, one]) => plus(sum, one), noUnits),
            part(equity, maxAccountShare, 'down'),
          ),
        ]),
    ...exposures.flatMap(([symbol, used]) => [
      amount('maxPosition', used, limits.maxPosition, { symbol }),
      ...(maxPositionShare === undefined
        ? []
        : [amount('maxPositionShare', used, part(equity, maxPositionShare, 'down'), { symbol })]),
      ...(maxOpenOrders === undefined
        ? []
        : [
            count('maxOpenOrders', orders.filter(({ intent }) => intent.symbol === symbol).length, maxOpenOrders, {
              symbol,
            }),
          ]),
    ]),
  ];
}

function ofStrategy(risk: Risk, portfolio: Portfolio, strategy: string): LimitUse[] {
  const { limits } = risk;
  const own: StrategyLimits = limits.strategies?.get(strategy) ?? {};
  const symbols = portfolio.subAccounts().flatMap((one) => (one.strategy === strategy ? [one.symbol] : []));
  const exposures = symbols.map((symbol) => [symbol, exposureIn(portfolio, strategy, symbol)] as const);
  const signed = symbols.map((symbol) => {
    const price = portfolio.markTicks(symbol);
    const { base } = portfolio.position(strategy, symbol);
    return price === undefined ? noUnits : worth(base, price, portfolio.instrument(symbol));
  });
  const counts = risk.countsOf(strategy);
  const open = [...portfolio.orders()].filter(({ intent }) => intent.strategy === strategy).length;
  const { maxPosition, maxGross, maxNet, maxOpenOrders } = own;
  const of = { strategy };
  const sum = (all: readonly Units[]): Units => all.reduce(plus, noUnits);
  return [
    ...(maxPosition === undefined
      ? []
      : exposures.map(([symbol, used]) => amount('maxPosition', used, maxPosition, { strategy, symbol }))),
    ...(maxGross === undefined ? [] : [amount('maxGross', sum(exposures.map(([, used]) => used)), maxGross, of)]),
    ...(maxNet === undefined ? [] : [amount('maxNet', absolute(sum(signed)), maxNet, of)]),
    ...(maxOpenOrders === undefined ? [] : [count('maxOpenOrders', open, maxOpenOrders, of)]),
    ...(limits.maxEntries === undefined ? [] : [count('maxEntries', counts.entries, limits.maxEntries, of)]),
    ...(limits.maxConsecutiveLosses === undefined
      ? []
      : [count('maxConsecutiveLosses', counts.losses, limits.maxConsecutiveLosses, of)]),
    ...(limits.maxDenials === undefined ? [] : [count('maxDenials', counts.denials, limits.maxDenials, of)]),
  ];
}

/** Limits that judge one order after another. */
function ofOrders({ limits }: Risk): LimitUse[] {
  const rates = ['maxOrderShare', 'priceCollar', 'maxSlippage', 'maxDepthShare', 'maxMove'] as const;
  return [
    each('maxOrderValue', unitsText(limits.maxOrderValue)),
    ...rates.flatMap((name) => {
      const rate = limits[name];
      return rate === undefined ? [] : [each(name, rateText(rate))];
    }),
    each('maxOrdersPerSecond', String(limits.maxOrdersPerSecond)),
  ];
}

/** Each limit in force, those of all first. `strategies`: those that are configured, with their symbols. */
export function limitUse(
  risk: Risk,
  portfolio: Portfolio,
  traded: readonly { readonly id: string; readonly symbol: string }[],
): readonly LimitUse[] {
  const symbols = [...new Set(traded.map(({ symbol }) => symbol))];
  const strategies = [...new Set(traded.map(({ id }) => id))];
  return [
    ...losses(risk, portfolio),
    ...ofSymbols(risk, portfolio, symbols),
    ...strategies.flatMap((strategy) => ofStrategy(risk, portfolio, strategy)),
    ...ofOrders(risk),
  ];
}
