/** The markets of strategies, and the lane in which the orders of each symbol are sent. */
import type { StrategyConfig } from '../config/schema.ts';
import { mainRole } from '../domain/order.ts';
import type { AloneRule } from '../portfolio/legs-alone.ts';
import { hasRoles } from '../strategy/contract.ts';
import type { Hosted, HostedMarket } from '../strategy/host.ts';
import type { BoundMarket } from '../strategy/markets/several-markets.ts';

/** The markets that strategies trade or read, each symbol and interval of each strategy. */
export const marketsOf = (
  hosted: Pick<Hosted, 'symbol' | 'interval' | 'instrument' | 'markets'>,
): readonly HostedMarket[] =>
  hosted.markets ?? [
    { role: mainRole, symbol: hosted.symbol, interval: hosted.interval, instrument: hosted.instrument, use: 'traded' },
  ];

/** The symbols that are traded among markets. */
export const tradedIn = (markets: readonly BoundMarket[]): readonly string[] =>
  markets.flatMap(({ symbol, use }) => (use === 'traded' ? [symbol] : []));

interface ConfiguredMarkets {
  readonly config: Pick<StrategyConfig, 'symbol' | 'interval'>;
  readonly markets?: readonly BoundMarket[];
}

/** The markets of a strategy as it is configured. */
export const marketsIn = ({ config, markets }: ConfiguredMarkets): readonly BoundMarket[] =>
  markets ?? [{ role: mainRole, symbol: config.symbol, interval: config.interval, use: 'traded' }];

/** The symbols that a strategy trades. */
export const tradedBy = (hosted: Hosted): readonly string[] => tradedIn(marketsOf(hosted));

/** The policies of strategies about legs that are open alone. */
export const aloneRules = (hosted: readonly Hosted[]): readonly AloneRule[] =>
  hosted.flatMap((one) => {
    const policy = hasRoles(one.strategy) ? one.strategy.legsAlone : undefined;
    return policy === undefined ? [] : [{ ...policy, strategy: one.id, symbols: tradedBy(one) }];
  });

/** A symbol that a strategy trades. */
export interface TradedSymbol {
  /** Of the strategy. */
  readonly id: string;
  readonly symbol: string;
}

/** Each strategy with each symbol that it trades. */
export const tradedSymbols = (hosted: readonly Hosted[]): readonly TradedSymbol[] =>
  hosted.flatMap((one) => tradedBy(one).map((symbol) => ({ id: one.id, symbol })));

/** The lane of each symbol, named by one of its symbols: those that one strategy trades together share theirs. */
export function lanesOf(hosted: readonly Hosted[]): (symbol: string) => string {
  const lanes = new Map<string, string>();
  const laneOf = (symbol: string): string => lanes.get(symbol) ?? symbol;
  for (const one of hosted) {
    const joined = new Set(tradedBy(one).map(laneOf));
    if (joined.size < 2) continue;
    const [lane = ''] = joined;
    for (const symbol of [...lanes.keys(), ...tradedBy(one)]) if (joined.has(laneOf(symbol))) lanes.set(symbol, lane);
  }
  return laneOf;
}
