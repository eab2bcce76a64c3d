/** Who trades in a simulated world, and on what. */
import { btc, eth } from '../kit/builders.ts';

export const strategyIds = ['steps', 'quotes', 'flips'] as const;
export type StrategyId = (typeof strategyIds)[number];

/** The most that a target of each strategy signals to hold; the maker signals orders, not a position. */
export const mostWished: Readonly<Partial<Record<StrategyId, number>>> = { steps: 3, flips: 2 };

export const symbolsOf: Readonly<Record<StrategyId, readonly string[]>> = {
  steps: [btc.symbol],
  quotes: [eth.symbol],
  flips: [btc.symbol, eth.symbol],
};
