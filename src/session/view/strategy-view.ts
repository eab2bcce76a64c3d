/** A strategy's position and its protection, for the dashboard; also of a strategy that is no longer configured. */

import type { StrategyView } from '../../dashboard/view.ts';
import { priceText, unitsNumber, unitsText, worth } from '../../domain/money.ts';
import { openProfit } from '../../domain/position.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { UnprotectedTime } from '../../portfolio/unprotected.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { isDust } from '../../trading/format.ts';

export interface Place {
  readonly strategy: string;
  readonly symbol: string;
}

interface Shown {
  readonly id: string;
  readonly symbol: string;
  /** Of one that is configured. */
  readonly use?: string;
  readonly interval?: string;
}

/** Where strategies that are not configured any more left something. */
export const formerPositions = (
  portfolio: Portfolio,
  hosted: readonly { readonly id: string; readonly symbol: string }[],
): readonly Place[] =>
  portfolio
    .places()
    .filter(
      ({ strategy, symbol }) =>
        !hosted.some((one) => one.id === strategy && one.symbol === symbol) &&
        (portfolio.holding(strategy, symbol).quantity !== 0 || portfolio.ordersOf(strategy, symbol).length > 0),
    );

/** The same, to be shown: dust is nothing that anybody could do something about. */
export const formerIn = (
  portfolio: Portfolio,
  hosted: readonly { readonly id: string; readonly symbol: string }[],
): readonly Shown[] =>
  formerPositions(portfolio, hosted)
    .filter(
      ({ strategy, symbol }) =>
        portfolio.ordersOf(strategy, symbol).length > 0 ||
        !isDust(portfolio.position(strategy, symbol), portfolio.instrument(symbol)),
    )
    .map(({ strategy, symbol }) => ({ id: strategy, symbol }));

/** `unprotected`: times without its protection. `thrown`: the error that stopped the strategy. */
export function strategyView(
  { portfolio, protection, planner, risk }: Assembled,
  unprotected: UnprotectedTime,
  { id, symbol, use, interval }: Shown,
  thrown?: string,
): StrategyView {
  const at = portfolio.instrument(symbol);
  const position = portfolio.position(id, symbol);
  const { base, cost } = position;
  const mark = portfolio.markTicks(symbol);
  // A strategy that quotes says its orders itself: no stop acts for it (`exitOf`).
  const quotes = planner.standing(id, symbol)?.signal.kind === 'quotes';
  const stop = quotes ? undefined : protection.stops(symbol).find(({ strategy }) => strategy === id);
  const profit = [...portfolio.ordersOf(id, symbol)].find((order) => order.intent.purpose === 'takeProfit');
  const error = thrown ?? risk.switch.inForce.find(({ strategy }) => strategy === id)?.reason;
  const dust = isDust(position, at);
  const held = base !== 0n && !dust;
  return {
    id,
    use: use ?? '',
    symbol,
    interval: interval ?? '',
    status: use === undefined ? 'former' : error === undefined ? 'running' : 'stopped',
    error,
    position: {
      quantity: unitsText(base),
      isDust: dust,
      entryPrice: held ? (unitsNumber(cost) / unitsNumber(base)).toFixed(at.pricePrecision + 1) : undefined,
      value: mark === undefined ? '0' : unitsText(worth(base, mark, at)),
      openProfit: mark === undefined || !held ? '0' : unitsText(openProfit(position, mark, at)),
    },
    equity: unitsText(portfolio.equity(id, symbol)),
    stop: stop === undefined || !held ? undefined : priceText(stop.price, at),
    takeProfit: profit?.intent.price === undefined ? undefined : priceText(profit.intent.price, at),
    unprotectedMs: unprotected.longestMs,
    isUnprotected: unprotected.since !== undefined,
  };
}
