/**
 * A map by text that mostly holds a few entries, such as the orders that work. A `Map` that empties and fills again builds a
 * new table each time: two of them took an eighth of a backtest with many orders.
 */
const fewest = 8;
const none: readonly never[] = [];

/** Up to eight entries are searched in a row; one that ever held more goes on as a `Map`. Entries keep the order they came in. */
export class SmallMap<V> {
  readonly #keys: string[] = [];
  readonly #values: V[] = [];
  #many: Map<string, V> | undefined;

  get size(): number {
    return this.#many?.size ?? this.#keys.length;
  }

  get(key: string): V | undefined {
    if (this.#many !== undefined) return this.#many.get(key);
    const index = this.#keys.indexOf(key);
    return index < 0 ? undefined : this.#values[index];
  }

  set(key: string, value: V): void {
    if (this.#many === undefined && this.#keys.length >= fewest)
      this.#many = new Map(this.#keys.map((known, index) => [known, this.#values[index] as V]));
    if (this.#many !== undefined) {
      this.#many.set(key, value);
      return;
    }
    const index = this.#keys.indexOf(key);
    if (index >= 0) this.#values[index] = value;
    else {
      this.#keys.push(key);
      this.#values.push(value);
    }
  }

  delete(key: string): void {
    if (this.#many !== undefined) {
      this.#many.delete(key);
      return;
    }
    const index = this.#keys.indexOf(key);
    removeAt(this.#keys, index);
    removeAt(this.#values, index);
  }

  /** The values as they are now: entries may come and go while they are walked through. */
  values(): IterableIterator<V> {
    if (this.size === 0) return none.values();
    return (this.#many === undefined ? [...this.#values] : [...this.#many.values()]).values();
  }
}

/** Takes an element out, in place; nothing for -1. The last one goes without the array of removed ones that `splice` makes. */
export function removeAt<T>(list: T[], index: number): void {
  if (index < 0) return;
  if (index === list.length - 1) list.pop();
  else list.splice(index, 1);
}
