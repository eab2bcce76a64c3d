/** From the weights that `choose` returns to signals: which markets are left, and which are held as what amount. */
import type { Interval } from '../../domain/interval.ts';
import { type Size, sizeValue, type Target } from '../../domain/order.ts';
import { sameOptions } from '../../domain/target-options.ts';
import type { Weights } from '../contract.ts';
import { SignalError } from '../fault.ts';
import { flat, hold } from '../signals.ts';
import type { MarketNow } from './market-now.ts';
import { checkedLeg, MarketSignals } from './market-signals.ts';
import { eachWeight } from './weights.ts';

/** A market of the list. */
interface ListedMarket {
  readonly symbol: string;
  readonly interval: Interval;
}

type Exits = NonNullable<Weights['exits']>;
const noExits: Exits = {};

export class WeightLegs {
  readonly #markets: readonly ListedMarket[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** By the index of the market. */
  readonly #weights: Float64Array;
  readonly #said: MarketSignals;
  /** The last target of each market that keeps what it has: most moments repeat it, and `hold` remembers one alone. */
  readonly #kept: Target[] = [];
  readonly #now: readonly MarketNow[];

  /** `now` lists the markets in their order. */
  constructor(markets: readonly ListedMarket[], now: readonly MarketNow[]) {
    this.#now = now;
    this.#markets = markets;
    this.#indexes = new Map(markets.map(({ symbol }, index) => [symbol, index]));
    this.#weights = new Float64Array(markets.length);
    this.#said = new MarketSignals(markets.length);
  }

  /**
   * The signals of weights: a position that has its weight already, but for less than the threshold, is held as it is. `given` are the indexes of the markets
   * that `choose` was given. The next call writes over what this one returns. Throws a `SignalError` for weights that cannot be held.
   */
  of(chosen: Weights, given: Int32Array, equity: number): MarketSignals {
    this.#weights.fill(0);
    eachWeight(chosen, this.#take);
    const { reason, threshold, exits = noExits } = chosen;
    const said = this.#said.begin();
    const left = flat(reason);
    for (const index of given) {
      const weight = this.#weights[index] as number;
      if (weight === 0) {
        said.set(index, left);
        continue;
      }
      const market = this.#now[index] as MarketNow;
      // A weight is the amount that it is now: the same weight is another quantity at the next rebalancing.
      if (isOff(weight, market, equity, threshold))
        said.set(index, this.#hold(index, { amount: weight * equity }, reason, exits));
      // Saying nothing would repeat the last signal, which may be to leave what could not be sold.
      else said.set(index, this.#keep(index, market.holding.quantity, reason, exits));
    }
    return said;
  }

  #hold(index: number, size: Size, reason: string, exits: Exits): Target {
    const { symbol, interval } = this.#markets[index] as ListedMarket;
    const own = exits[symbol];
    return own === undefined ? hold(size, reason) : (checkedLeg(symbol, hold(size, reason, own), interval) as Target);
  }

  #keep(index: number, quantity: number, reason: string, exits: Exits): Target {
    const last = this.#kept[index];
    const own = exits[this.#markets[index]?.symbol ?? ''] ?? {};
    if (last?.reason === reason && sizeValue(last.size) === quantity && sameOptions(last, own)) return last;
    const target = this.#hold(index, { quantity }, reason, exits);
    this.#kept[index] = target;
    return target;
  }

  /** A weight of a market without a kline now counts in the sum, and its position stays as it is. */
  readonly #take = (symbol: string, weight: number): void => {
    const index = this.#indexes.get(symbol);
    if (index === undefined)
      throw new SignalError(
        `a weight for ${symbol}, which is not in the list of the strategy: ${this.#markets.map((one) => one.symbol).join(', ')}`,
      );
    this.#weights[index] = weight;
  };
}

/** Whether what is held of a market differs from its weight by the threshold. */
function isOff(weight: number, market: MarketNow, equity: number, threshold: number): boolean {
  const { quantity } = market.holding;
  if (quantity === 0) return true;
  const close = market.close ?? market.kline?.close ?? Number.NaN;
  return Math.abs(weight - (quantity * close) / equity) >= threshold;
}
