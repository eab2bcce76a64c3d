/** A strategy at a symbol, and the value kept for it. */
export interface PositionEntry<T> {
  readonly strategy: string;
  readonly symbol: string;
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
  }

  delete(strategy: string, symbol: string): void {
    this.#last = undefined;
    const strategies = this.#symbols.get(symbol);
    if (strategies?.delete(strategy) === true) this.#lists.set(symbol, [...strategies.values()]);
  }

  /** Those on a symbol; another list once one comes or goes. */
  on(symbol: string): readonly PositionEntry<T>[] {
    return this.#lists.get(symbol) ?? none;
  }

  *entries(): Generator<PositionEntry<T>> {
    for (const entries of this.#lists.values()) yield* entries;
  }
}

const none: readonly never[] = [];
