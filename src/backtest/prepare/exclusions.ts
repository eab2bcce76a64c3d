/** Configurations that cannot run: symbols that no strategy trades, and incomplete margin rules. */

import { type NamePlace, problemsIn } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { symbolsOf } from '../../config/symbols.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { MarginRules } from './run-money.ts';

/** The keys that a margin account is refused without. */
const keys = 'maxLeverage, maintenanceRatio, liquidationFee, interest, interestEveryHours';

/** The rules of a backtest on margin; undefined on spot. Throws a `Refusal` where they are missing, or something excludes margin. */
export function marginRulesOf(
  file: string,
  { account, margin, cashFlows, currencies }: BacktestConfig,
  instruments: Iterable<Pick<Instrument, 'symbol' | 'base' | 'quote'>>,
): MarginRules | undefined {
  const refuse = (what: string): never => {
    throw new Refusal(`${file}: ${what}`);
  };
  if (account === 'spot') {
    if (margin !== undefined) refuse('margin: these rules are for account: margin, but the account is spot');
    return undefined;
  }
  if (margin === undefined)
    return refuse(
      `account: margin cannot be simulated without your rules (margin: ${keys}): the exchange publishes none, and the result would be too good. Configure them, or use account: spot`,
    );
  const { interest, interestEveryHours, ...rest } = margin;
  const rates = new Map(Object.entries(interest));
  for (const { symbol, base, quote } of instruments)
    for (const asset of [base, quote])
      if (!rates.has(asset))
        refuse(
          `margin.interest: the rate of ${asset}, which ${symbol} borrows, is missing: use ${asset}: "0" if it costs nothing`,
        );
  if (cashFlows.length > 0) refuse('cashFlows: a margin account has no deposits or withdrawals: leave them out');
  if (Object.keys(currencies).length > 0) refuse('currencies: a margin account has one currency: leave the others out');
  return { ...rest, interest: rates, interestEveryMs: interestEveryHours * 3_600_000 };
}

const bySymbol = ['data', 'dataIntervals', 'trades', 'depth', 'symbolFees'] as const;

/**
 * Refuses keys that name no symbol of a strategy while one of those has none. Beside those of all that are traded they are a stock, from
 * which `--set strategies.0.symbol` chooses. The klines of a rate are named beside it (`currencies.BTC.data`).
 */
export function refuseOtherSymbols(file: string, config: BacktestConfig, nameOf: NamePlace): void {
  const traded = symbolsOf(config.strategies);
  const problems = bySymbol.flatMap((key) => {
    const named = Object.keys(config[key] ?? {});
    const without = traded.filter((symbol) => !named.includes(symbol));
    if (without.length === 0) return [];
    return named
      .filter((symbol) => !traded.includes(symbol))
      .map((symbol) => {
        const meant = didYouMean(symbol, without) || `; ${without.join(' and ')} ${without.length > 1 ? 'are' : 'is'}`;
        return `${nameOf([key, symbol])}: ${symbol} is not traded by any strategy${meant}`;
      });
  });
  if (problems.length > 0) throw problemsIn(file, problems);
}
