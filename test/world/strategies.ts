/** Who trades in a simulated world, and on what. */
import { units } from '../../src/domain/money.ts';
import { btc, eth } from '../kit/builders.ts';

export const strategyIds = ['steps', 'quotes', 'flips', 'pair', 'rotation'] as const;
export type StrategyId = (typeof strategyIds)[number];

/** Those that decide on both symbols at once, in the seeds of the class `legs`. */
export const severalMarkets = ['pair', 'rotation'] as const satisfies readonly StrategyId[];
const oneMarket = strategyIds.filter((id) => !severalMarkets.some((one) => one === id));

/** The strategies of a seed. */
export const strategiesIn = (classes: readonly string[]): readonly StrategyId[] =>
  classes.includes('legs') ? strategyIds : oneMarket;

/** The most that a target of each strategy signals to hold; the maker signals orders, not a position. */
export const maxTarget: Readonly<Partial<Record<StrategyId, number>>> = {
  steps: 3,
  flips: 2,
  pair: 1.2,
  rotation: 1.7,
};

export const symbolsOf: Readonly<Record<StrategyId, readonly string[]>> = {
  steps: [btc.symbol],
  quotes: [eth.symbol],
  flips: [btc.symbol, eth.symbol],
  pair: [btc.symbol, eth.symbol],
  rotation: [btc.symbol, eth.symbol],
};

const ample = units('5000');
/** What each may use on its first symbol, in quote: a rotation buys with what it has sold. */
export const moneyOf: Readonly<Record<StrategyId, typeof ample>> = {
  steps: ample,
  quotes: ample,
  flips: ample,
  pair: units('210'),
  rotation: units('200'),
};

/** How long a leg of the pair may be open alone, ms. */
export const aloneMs = 4_000;
