/** What a configuration says of a symbol that no strategy trades would be passed over, and the run be of something else. */
import { type NamePlace, problemsIn } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { didYouMean } from '../../domain/refusal.ts';

const bySymbol = ['data', 'dataIntervals', 'trades', 'depth', 'symbolFees'] as const;

/**
 * Refuses keys that name no symbol of a strategy while one of those has none. Beside those of all that are traded they are a stock, from
 * which `--set strategies.0.symbol` chooses. The klines of a rate are named beside it (`currencies.BTC.data`).
 */
export function refuseOtherSymbols(file: string, config: BacktestConfig, nameOf: NamePlace): void {
  const traded = [...new Set(config.strategies.map(({ symbol }) => symbol))];
  const problems = bySymbol.flatMap((key) => {
    const named = Object.keys(config[key] ?? {});
    const without = traded.filter((symbol) => !named.includes(symbol));
    if (without.length === 0) return [];
    return named
      .filter((symbol) => !traded.includes(symbol))
      .map((symbol) => {
        const meant = didYouMean(symbol, without) || `; ${without.join(' and ')} ${without.length > 1 ? 'are' : 'is'}`;
        return `${nameOf([key, symbol])}: ${symbol} is traded by no strategy${meant}`;
      });
  });
  if (problems.length > 0) throw problemsIn(file, problems);
}
