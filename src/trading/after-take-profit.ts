/** What follows a take-profit, live and in every backtest. */
import { priceText } from '../domain/money.ts';
import { type Fill, sizeValue } from '../domain/order.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection } from '../portfolio/protection.ts';

/** A position that its take-profit closed stays closed while the strategy goes on wishing the same goal. */
export function leaveAfterProfit(fill: Fill, portfolio: Portfolio, planner: Planner, protection: Protection): void {
  if (fill.purpose !== 'takeProfit') return;
  const signal = planner.standing(fill.strategy, fill.symbol)?.signal;
  // It filled while its cancel was on its way: who has turned round meanwhile has taken nothing of what is wished now.
  if (signal?.kind === 'target' && sizeValue(signal.size) * (fill.side === 'SELL' ? 1 : -1) < 0) return;
  protection.tookProfit(fill.strategy, fill.symbol, fill.quantity);
  const order = portfolio.order(fill.clientOrderId);
  if (order !== undefined && order.filled < order.intent.expectedLots) return;
  if (signal?.kind !== 'target') return;
  protection.leave(
    fill.strategy,
    fill.symbol,
    signal.size,
    `profit was taken at ${priceText(fill.price, portfolio.instrument(fill.symbol))}`,
  );
}
