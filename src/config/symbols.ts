/** The symbols that a configuration names. */
import type { StrategyConfig } from './schema.ts';

type Named = Pick<StrategyConfig, 'symbol' | 'symbols' | 'markets'>;

/** The symbols that a strategy is bound to, and where each stands. */
export function symbolsIn({
  symbol,
  symbols,
  markets,
}: Named): readonly (readonly [string, readonly (string | number)[]])[] {
  if (markets !== undefined)
    return Object.entries(markets).map(([role, one]) => [one.symbol, ['markets', role, 'symbol']] as const);
  if (symbols !== undefined) return symbols.map((one, index) => [one, ['symbols', index]] as const);
  return [[symbol, ['symbol']]];
}

/** Each symbol once. */
export const symbolsOf = (strategies: readonly Named[]): readonly string[] => [
  ...new Set(strategies.flatMap((one) => symbolsIn(one).map(([symbol]) => symbol))),
];
