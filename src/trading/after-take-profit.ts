/** What follows a take-profit, live and in every backtest. */
import { priceText } from '../domain/money.ts';
import { type Fill, goalSize } from '../domain/order.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection } from '../portfolio/protection.ts';

/** A position that its take-profit closed stays closed while the strategy goes on wishing the same goal. */
export function leaveAfterProfit(fill: Fill, portfolio: Portfolio, planner: Planner, protection: Protection): void {
  if (fill.purpose !== 'takeProfit') return;
  const want = planner.standing(fill.strategy, fill.symbol)?.want;
  // It filled while its cancel was on its way: who has turned round meanwhile has taken nothing of what is wished now.
  if (want?.kind === 'target' && goalSize(want.goal) * (fill.side === 'SELL' ? 1 : -1) < 0) return;
  protection.tookProfit(fill.strategy, fill.symbol, fill.quantity);
  const order = portfolio.order(fill.clientOrderId);
  if (order !== undefined && order.filled < order.intent.expectedLots) return;
  if (want?.kind !== 'target') return;
  protection.leave(
    fill.strategy,
    fill.symbol,
    want.goal,
    `profit was taken at ${priceText(fill.price, portfolio.instrument(fill.symbol))}`,
  );
}
