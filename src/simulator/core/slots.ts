/** Small numbers that stand for things whose parts are in arrays of numbers. */

/** In place of a slot: nothing. It is what new arrays are full of. */
export const none = 0;

/** Slots from 1 on. The one that was freed last is taken first, so that arrays are no longer than the most that was ever there. */
export class Slots {
  readonly #free: number[] = [];
  #made = 0;

  take(): number {
    return this.#free.pop() ?? ++this.#made;
  }

  free(slot: number): void {
    this.#free.push(slot);
  }
}

/** The array while it has the index, else one of twice the length that begins like it. */
export function reaching<T extends Float64Array | Int32Array>(index: number, array: T): T;
export function reaching(index: number, array: Float64Array | Int32Array): Float64Array | Int32Array {
  if (index < array.length) return array;
  const length = 2 * Math.max(index, array.length);
  const longer = array instanceof Float64Array ? new Float64Array(length) : new Int32Array(length);
  longer.set(array);
  return longer;
}
