/** From the weights that `choose` returns to signals: which markets are left, and which are held as what amount. */
import { sizeValue, type Target } from '../../domain/order.ts';
import type { Weights } from '../contract.ts';
import { SignalError } from '../fault.ts';
import { flat, hold } from '../signals.ts';
import type { MarketNow } from './market-now.ts';
import { MarketSignals } from './market-signals.ts';
import { eachWeight } from './weights.ts';

export class WeightLegs {
  readonly #symbols: readonly string[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** By the index of the market. */
  readonly #weights: Float64Array;
  readonly #said: MarketSignals;
  /** The last target of each market that keeps what it has: most moments repeat it, and `hold` remembers one alone. */
  readonly #kept: Target[] = [];
  readonly #now: readonly MarketNow[];

  /** `now` lists the markets in their order. */
  constructor(symbols: readonly string[], now: readonly MarketNow[]) {
    this.#now = now;
    this.#symbols = symbols;
    this.#indexes = new Map(symbols.map((symbol, index) => [symbol, index]));
    this.#weights = new Float64Array(symbols.length);
    this.#said = new MarketSignals(symbols.length);
  }

  /**
   * The signals of weights: a position that has its weight already, but for less than the threshold, is held as it is. `given` are the indexes of the markets
   * that `choose` was given. The next call writes over what this one returns. Throws a `SignalError` for weights that cannot be held.
   */
  of(chosen: Weights, given: Int32Array, equity: number): MarketSignals {
    this.#weights.fill(0);
    eachWeight(chosen, this.#take);
    const { reason, threshold } = chosen;
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
      if (isOff(weight, market, equity, threshold)) said.set(index, hold({ amount: weight * equity }, reason));
      // Saying nothing would repeat the last signal, which may be to leave what could not be sold.
      else said.set(index, this.#keep(index, market.holding.quantity, reason));
    }
    return said;
  }

  #keep(index: number, quantity: number, reason: string): Target {
    const last = this.#kept[index];
    if (last?.reason === reason && sizeValue(last.size) === quantity) return last;
    const target = hold({ quantity }, reason);
    this.#kept[index] = target;
    return target;
  }

  /** A weight of a market without a kline now counts in the sum, and its position stays as it is. */
  readonly #take = (symbol: string, weight: number): void => {
    const index = this.#indexes.get(symbol);
    if (index === undefined)
      throw new SignalError(
        `a weight for ${symbol}, which is not in the list of the strategy: ${this.#symbols.join(', ')}`,
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
