/** A strategy's position and its protection, for the dashboard; also of a strategy that is no longer configured. */

import type { MarketOfStrategy, StrategyView } from '../../dashboard/view.ts';
import { priceText, unitsNumber, unitsText, worth } from '../../domain/money.ts';
import { openProfit } from '../../domain/position.ts';
import type { PositionKey } from '../../portfolio/by-position.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { Kill } from '../../risk/kill.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { isDust } from '../../trading/format.ts';
import type { TradedSymbol } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { UnprotectedTime } from '../../trading/unprotected.ts';

interface Shown {
  readonly id: string;
  readonly symbol: string;
  /** Of one that is configured. */
  readonly use?: string;
  readonly interval?: string;
  /** Of one that has several. */
  readonly markets?: readonly MarketOfStrategy[];
}

/**
 * What is shown of the strategies that are configured: of one with several markets, those where it holds something or has orders, or else its
 * first.
 */
export const shownOf = (portfolio: Portfolio, hosted: readonly NamedHosted[]): readonly Shown[] =>
  hosted.flatMap((one): readonly Shown[] => {
    const { id, use, markets } = one;
    if (markets === undefined) return [one];
    const traded = markets.filter(({ use: how }) => how === 'traded');
    const busy = traded.filter(
      ({ symbol }) => !portfolio.isFlat(id, symbol) || portfolio.ordersOf(id, symbol).length > 0,
    );
    const bound = markets.map(({ role, symbol, interval, use: how }) => ({ role, symbol, interval, use: how }));
    return (busy.length === 0 ? traded.slice(0, 1) : busy).map(({ symbol, interval }) => ({
      ...{ id, use, symbol, interval },
      markets: bound,
    }));
  });

/** Where strategies that are not configured any more left something. */
export const formerPositions = (portfolio: Portfolio, traded: readonly TradedSymbol[]): readonly PositionKey[] =>
  portfolio
    .subAccounts()
    .filter(
      ({ strategy, symbol }) =>
        !traded.some((one) => one.id === strategy && one.symbol === symbol) &&
        (portfolio.holding(strategy, symbol).quantity !== 0 || portfolio.ordersOf(strategy, symbol).length > 0),
    );

/** The same, to be shown: dust is nothing that anybody could do something about. */
export const formerIn = (portfolio: Portfolio, traded: readonly TradedSymbol[]): readonly Shown[] =>
  formerPositions(portfolio, traded)
    .filter(
      ({ strategy, symbol }) =>
        portfolio.ordersOf(strategy, symbol).length > 0 ||
        !isDust(portfolio.position(strategy, symbol), portfolio.instrument(symbol)),
    )
    .map(({ strategy, symbol }) => ({ id: strategy, symbol }));

const statusOf = (kill: Kill | undefined, thrown: string | undefined): StrategyView['status'] =>
  thrown !== undefined ? 'stopped' : kill === undefined ? 'running' : kill.kind === 'kill' ? 'killed' : 'paused';

/** `unprotected`: times without its protection. `thrown`: the error that stopped the strategy. */
export function strategyView(
  { portfolio, protection, planner, risk }: Assembled,
  unprotected: UnprotectedTime,
  { id, symbol, use, interval, markets }: Shown,
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
  const kill = risk.switch.of(id);
  const dust = isDust(position, at);
  const held = base !== 0n && !dust;
  return {
    id,
    use: use ?? '',
    symbol,
    interval: interval ?? '',
    ...(markets !== undefined && { markets }),
    status: use === undefined ? 'former' : statusOf(kill, thrown),
    error: thrown ?? kill?.reason,
    kill: kill === undefined ? undefined : { ...kill, strategy: kill.strategy ?? null },
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

/** The positions that a stop of the daemon leaves open: their stops are held here, not at the exchange. Undefined where there is none. */
export function leftOpenText(
  strategies: readonly Pick<StrategyView, 'id' | 'symbol' | 'position' | 'stop'>[],
): string | undefined {
  const open = strategies.filter(({ position: { quantity, isDust } }) => quantity !== '0' && !isDust);
  const list = open.map(
    ({ id, symbol, position, stop }) =>
      `${id} ${position.quantity} ${symbol} (${stop === undefined ? 'no stop' : `stop at ${stop}`})`,
  );
  return open.length === 0
    ? undefined
    : `Positions stay open, and nothing watches their stops until the next start: ${list.join(', ')}.`;
}
