/** What happened in a simulated world, line by line, and one number that is the same only when all of it is. */
import { hashed } from './chance.ts';

/** Lines shown with a failure when the whole trace was not asked for. */
const shownLines = 40;

export class Trace {
  readonly #keepAll: boolean;
  readonly #now: () => number;
  #lines: string[] = [];
  #hash = 0x811c9dc5;
  #other = 0x1b873593;
  count = 0;

  constructor(now: () => number, keepAll: boolean) {
    this.#now = now;
    this.#keepAll = keepAll;
  }

  say(what: string): void {
    const line = `${this.#now()} ${what}`;
    this.#hash = hashed(this.#hash, line);
    this.#other = Math.imul(this.#other ^ this.#hash, 0x85ebca6b) >>> 0;
    this.count++;
    this.#lines.push(line);
    if (!this.#keepAll && this.#lines.length > 4 * shownLines) this.#lines = this.#lines.slice(-shownLines);
  }

  /** 64 bits in hex. */
  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0') + this.#other.toString(16).padStart(8, '0');
  }

  /** Every line, or the last ones. */
  get lines(): readonly string[] {
    return this.#keepAll ? this.#lines : this.#lines.slice(-shownLines);
  }
}
