/** Asks for an address while all is well, as healthchecks.io wants it: when nobody asks any more, that service says so. */
import { get } from './request.ts';

/** The trading thread says that all is well so often, real ms. */
export const wellEveryMs = 5_000;
/** What it said holds for so long, real ms: with a thread that stands still, the pings end. */
const holdsMs = 3 * wellEveryMs;

export interface PingParts {
  readonly url: string;
  readonly everyMs: number;
  /** ms that never step back: a thread that stands still must not seem well because the clock did. */
  readonly now: () => number;
  /** Said once when pings begin to fail, and once when they work again. */
  readonly notice: (level: 'info' | 'warn', text: string) => void;
}

export class Ping {
  readonly #parts: PingParts;
  #wellAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking = false;
  #isFailing = false;

  constructor(parts: PingParts) {
    this.#parts = parts;
  }

  /** All is well now. */
  well(): void {
    this.#wellAt = this.#parts.now();
  }

  /** Asks if it is due. Resolves when it was answered or failed; it throws nothing. */
  async send(): Promise<void> {
    const { url, everyMs, now, notice } = this.#parts;
    if (this.#asking || now() - this.#wellAt > holdsMs || now() - this.#askedAt < everyMs) return;
    this.#asking = true;
    this.#askedAt = now();
    const failure = await get(url);
    this.#asking = false;
    if ((failure !== undefined) === this.#isFailing) return;
    this.#isFailing = failure !== undefined;
    if (failure === undefined) notice('info', 'the ping works again');
    else notice('warn', `the ping fails: ${failure}. Whoever waits for it will report silence`);
  }
}
