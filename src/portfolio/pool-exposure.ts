/** What a strategy has at stake in its markets together: what its leverage is counted by, and whether it can pay for another order. */
import { max, negate, notional, noUnits, part, plus, type Rate, ticksOf, type Units, worth } from '../domain/money.ts';
import type { OrderDraft } from './plan.ts';
import type { Portfolio } from './portfolio.ts';

/**
 * What a strategy's other markets have at stake, in quote, at the last prices: of each the greater of its sides, with the open orders of
 * that side.
 */
export function exposureBeside(portfolio: Portfolio, strategy: string, symbol: string): Units {
  let sum = noUnits;
  for (const { instrument: at } of portfolio.subAccount(strategy, symbol).pool.subAccounts)
    if (at.symbol !== symbol) sum = plus(sum, exposureIn(portfolio, strategy, at.symbol));
  return sum;
}

function exposureIn(portfolio: Portfolio, strategy: string, symbol: string): Units {
  const price = portfolio.markTicks(symbol);
  if (price === undefined) return noUnits;
  const held = worth(portfolio.position(strategy, symbol).base, price, portfolio.instrument(symbol));
  const long = plus(held, portfolio.openValueOf(strategy, symbol, 'BUY', price));
  const short = plus(negate(held), portfolio.openValueOf(strategy, symbol, 'SELL', price));
  return max(noUnits, max(long, short));
}

/** Whether an entry is within what its strategy has free now or, where it may borrow, within its leverage. */
export function canPay(portfolio: Portfolio, draft: OrderDraft, maxLeverage: Rate | undefined): boolean {
  const { strategy, symbol, volume, price } = draft;
  const at = portfolio.instrument(symbol);
  const last = price ?? ticksOf(portfolio.lastMark(symbol)?.price ?? 0, at, 'up');
  const value = 'amount' in volume ? volume.amount : notional(last, volume.lots, at);
  if (maxLeverage === undefined) return value <= portfolio.freeQuote(strategy, symbol);
  const others = plus(exposureIn(portfolio, strategy, symbol), exposureBeside(portfolio, strategy, symbol));
  return plus(value, others) <= part(max(portfolio.equity(strategy, symbol), noUnits), maxLeverage, 'down');
}
