/** Whether the account has the money that was allotted: limits in per cent are measured against it. */

import type { Instrument } from '../../domain/instrument.ts';
import { noUnits, plus, type Units, unitsNumber, unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Notice } from '../../journal/entries.ts';
import type { PositionKey } from '../../portfolio/by-position.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { TradedSymbol } from '../../trading/lanes.ts';
import type { Balance } from '../../venue/venue.ts';

/** What rounding and fees taken in the bought asset may explain. */
const tolerance = 1.001;

const isMore = (counted: number, there: Units): boolean => counted > unitsNumber(there) * tolerance;

/** Whether strategies that hold nothing may not begin: they count on more than there is. */
export const isTooLittle = (allotted: Units, there: Units): boolean => isMore(unitsNumber(allotted), there);

export interface FundsCheck {
  /** Each strategy with each symbol that it trades. */
  readonly traded: readonly TradedSymbol[];
  readonly portfolio: Pick<Portfolio, 'closedEquity' | 'instrument' | 'orders'> & {
    subAccounts(): readonly PositionKey[];
    holding(strategy: string, symbol: string): { readonly quantity: number; readonly entryPrice: number };
  };
  readonly balances: readonly Balance[];
  /** The journal is a backup: trades since then are read after this check, and there may be positions. */
  readonly isRestored: boolean;
  readonly notice: (notice: Notice) => void;
}

/**
 * Compares the cash that strategies count on, by quote asset, with the account's. With nothing at stake a daemon that counts on
 * more is refused (exit 2). One with positions or orders must manage them, and only warns.
 */
export function refuseMissingFunds({ traded, portfolio, balances, isRestored, notice }: FundsCheck): void {
  const cash = new Map<Instrument['quote'], number>();
  // Of strategies that are not configured any more, too: their money is in it, and their stops are to be watched.
  const hasPosition = portfolio
    .subAccounts()
    .some(({ strategy, symbol }) => portfolio.holding(strategy, symbol).quantity !== 0);
  for (const { id, symbol } of traded) {
    const { quantity, entryPrice } = portfolio.holding(id, symbol);
    const { quote } = portfolio.instrument(symbol);
    const cost = quantity === 0 ? 0 : quantity * entryPrice;
    cash.set(quote, (cash.get(quote) ?? 0) + portfolio.closedEquity(id, symbol) - cost);
  }
  for (const [quote, counted] of cash) {
    const balance = balances.find(({ asset }) => asset === quote);
    const there = balance === undefined ? noUnits : plus(balance.free, balance.locked);
    if (!isMore(counted, there)) continue;
    const text = `the strategies need ${counted.toFixed(2)} ${quote}, the account has ${unitsText(there)}: limits in per cent, such as the daily loss, would be measured against missing money. Lower \`allocation\``;
    const mayHold = isRestored || hasPosition || portfolio.orders().next().done !== true;
    if (!mayHold) throw new Refusal(text);
    notice({ level: 'warn', text });
  }
}
