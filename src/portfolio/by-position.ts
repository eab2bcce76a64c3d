/** A map by strategy and symbol. */

/** A strategy on a symbol. */
export interface PositionKey {
  readonly strategy: string;
  readonly symbol: string;
}

/** The value kept for a strategy on a symbol. */
export interface PositionEntry<T> extends PositionKey {
  value: T;
}

/**
 * Values kept for each strategy on each symbol. Two levels of maps: a joined key would have to be built for every read. The last entry is
 * remembered, because an order reads one position many times.
 */
export class ByPosition<T> {
  readonly #symbols = new Map<string, Map<string, PositionEntry<T>>>();
  /** The same by symbol as lists, which are walked at every kline. */
  readonly #lists = new Map<string, PositionEntry<T>[]>();
  #last: PositionEntry<T> | undefined;
  /** The last symbol whose list was read: a run over klines reads it several times a kline. */
  #lastSymbol: string | undefined;
  #lastList: readonly PositionEntry<T>[] = none;

  get(strategy: string, symbol: string): T | undefined {
    return this.#entry(strategy, symbol)?.value;
  }

  #entry(strategy: string, symbol: string): PositionEntry<T> | undefined {
    const last = this.#last;
    if (last !== undefined && last.strategy === strategy && last.symbol === symbol) return last;
    const found = this.#symbols.get(symbol)?.get(strategy);
    if (found !== undefined) this.#last = found;
    return found;
  }

  set(strategy: string, symbol: string, value: T): void {
    const known = this.#entry(strategy, symbol);
    if (known !== undefined) {
      known.value = value;
      return;
    }
    const entry = { strategy, symbol, value };
    const strategies = this.#symbols.get(symbol) ?? new Map<string, PositionEntry<T>>();
    this.#symbols.set(symbol, strategies.set(strategy, entry));
    this.#lists.set(symbol, [...strategies.values()]);
    this.#last = entry;
    this.#lastSymbol = undefined;
  }

  delete(strategy: string, symbol: string): void {
    this.#last = undefined;
    this.#lastSymbol = undefined;
    const strategies = this.#symbols.get(symbol);
    if (strategies?.delete(strategy) === true) this.#lists.set(symbol, [...strategies.values()]);
  }

  /** Those on a symbol; another list once one comes or goes. */
  on(symbol: string): readonly PositionEntry<T>[] {
    if (symbol === this.#lastSymbol) return this.#lastList;
    this.#lastSymbol = symbol;
    this.#lastList = this.#lists.get(symbol) ?? none;
    return this.#lastList;
  }

  *entries(): Generator<PositionEntry<T>> {
    for (const entries of this.#lists.values()) yield* entries;
  }
}

const none: readonly never[] = [];
