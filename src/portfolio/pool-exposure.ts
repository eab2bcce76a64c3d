/** What a strategy has at stake in its markets together: what its leverage is counted by, and whether it can pay for another order. */
import type { Side } from '../domain/market.ts';
import {
  max,
  negate,
  notional,
  noUnits,
  part,
  plus,
  type Rate,
  type Ticks,
  ticksOf,
  type Units,
  worth,
} from '../domain/money.ts';
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

/** What a strategy has at stake in one market, at the last price: the greater of its sides, with the open orders of that side. */
export function exposureIn(portfolio: Portfolio, strategy: string, symbol: string): Units {
  const price = portfolio.markTicks(symbol);
  if (price === undefined) return noUnits;
  const towards = (side: Side): Units => exposureTowards(portfolio, strategy, symbol, side, price);
  const [long, short] = [towards('BUY'), towards('SELL')];
  return max(noUnits, max(long, short));
}

/** What a strategy would have at stake at a symbol, in quote, in the direction of a side with its open orders of that. */
export function exposureTowards(
  portfolio: Portfolio,
  strategy: string,
  symbol: string,
  side: Side,
  price: Ticks,
): Units {
  const { base } = portfolio.position(strategy, symbol);
  const held = worth(side === 'BUY' ? base : negate(base), price, portfolio.instrument(symbol));
  return plus(held, portfolio.openValueOf(strategy, symbol, side, price));
}

/** Whether an entry is within what its strategy has free now or, where it may borrow, within its leverage. */
export function canPay(portfolio: Portfolio, draft: OrderDraft, maxLeverage: Rate | undefined): boolean {
  const { strategy, symbol, side, volume, price } = draft;
  const at = portfolio.instrument(symbol);
  const last = price ?? ticksOf(portfolio.lastMark(symbol)?.price ?? 0, at, 'up');
  const value = 'amount' in volume ? volume.amount : notional(last, volume.lots, at);
  if (maxLeverage === undefined) return value <= portfolio.freeQuote(strategy, symbol);
  // An order that reverses a position closes it first, so the closed part adds no exposure.
  const own = exposureTowards(portfolio, strategy, symbol, side, last);
  const exposure = plus(plus(value, own), exposureBeside(portfolio, strategy, symbol));
  return exposure <= part(max(portfolio.equity(strategy, symbol), noUnits), maxLeverage, 'down');
}
