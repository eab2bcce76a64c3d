/** The equity as a line over the price of a symbol, while nobody but the limits on losses has anything to do at each price. */
import type { SimClock } from '../../../clock/sim-clock.ts';
import type { LiveHolding } from '../../../portfolio/holding.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import { tradedSymbols } from '../../../trading/lanes.ts';
import type { RunInput } from '../../run.ts';
import type { TapeLane } from './klines.ts';
import type { PriceLine } from './skip-trades.ts';
import { dayMs } from './times.ts';

export class PriceLines {
  readonly #assembled: Pick<Assembled, 'portfolio' | 'protection' | 'risk'>;
  readonly #clock: SimClock;
  readonly #isMoveLimited: boolean;
  /** The positions on each symbol, and those whose prices are passed over together. */
  readonly #holdings: ReadonlyMap<string, readonly LiveHolding[]>;
  readonly #passed: readonly string[];

  constructor({ hosted, limits, tapes = new Map() }: RunInput, clock: SimClock, assembled: Assembled) {
    const { portfolio } = assembled;
    this.#assembled = assembled;
    this.#clock = clock;
    this.#isMoveLimited = limits.maxMove !== undefined;
    const bySymbol = Map.groupBy(tradedSymbols(hosted), ({ symbol }) => symbol);
    this.#holdings = new Map(
      [...bySymbol].map(([symbol, traded]) => [symbol, traded.map(({ id }) => portfolio.holding(id, symbol))]),
    );
    this.#passed = [...tapes.keys()];
  }

  /** undefined while somebody has something to do at each price. */
  of({ symbol, trades }: Pick<TapeLane, 'symbol' | 'trades'>): PriceLine | undefined {
    const { portfolio, protection, risk } = this.#assembled;
    const mark = portfolio.lastMark(symbol);
    if (mark === undefined || trades.isObserved || protection.guards(symbol) || this.#isMoveLimited) return undefined;
    const held = this.#held(symbol);
    const { above, upTo } = risk.calmEquity;
    const equity = portfolio.equityEstimate();
    // Several prices are passed over at once: together they must not take more than there is.
    const moving = this.#passed.filter((one) => this.#held(one) !== 0).length;
    const lowest = moving < 2 ? above : equity - (equity - above) / moving;
    return {
      fixed: equity - held * mark.price,
      held,
      least: upTo === Number.POSITIVE_INFINITY ? lowest : Number.POSITIVE_INFINITY,
      dayEnds: (Math.floor(this.#clock.now() / dayMs) + 1) * dayMs,
    };
  }

  #held(symbol: string): number {
    let held = 0;
    for (const one of this.#holdings.get(symbol) ?? []) held += one.quantity;
    return held;
  }
}
