/** Values kept for each strategy on each symbol. Two levels of maps: a joined key would have to be built for every look. */
export class ByPlace<T> {
  readonly #symbols = new Map<string, Map<string, T>>();

  get(strategy: string, symbol: string): T | undefined {
    return this.#symbols.get(symbol)?.get(strategy);
  }

  set(strategy: string, symbol: string, value: T): void {
    const strategies = this.#symbols.get(symbol);
    if (strategies === undefined) this.#symbols.set(symbol, new Map([[strategy, value]]));
    else strategies.set(strategy, value);
  }

  delete(strategy: string, symbol: string): void {
    this.#symbols.get(symbol)?.delete(strategy);
  }

  /** The strategies on a symbol. */
  on(symbol: string): ReadonlyMap<string, T> {
    return this.#symbols.get(symbol) ?? none;
  }

  *entries(): Generator<{ readonly strategy: string; readonly symbol: string; readonly value: T }> {
    for (const [symbol, strategies] of this.#symbols) {
      for (const [strategy, value] of strategies) yield { strategy, symbol, value };
    }
  }
}

const none: ReadonlyMap<string, never> = new Map<string, never>();
