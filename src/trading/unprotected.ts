/**
 * How long positions were without the protection that their strategies set: no price for a stop to act on, an exit that was due and is
 * not at the exchange, or no daemon running. Measured once a second; the longest time of each position is saved.
 */

import { ByPosition } from '../portfolio/by-position.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection } from '../portfolio/protection.ts';

/** ms of the clock. */
export interface UnprotectedTime {
  /** The longest stretch that has ended or still lasts. */
  readonly longestMs: number;
  /** Since when it lasts, UTC ms; undefined while the position is protected or flat. */
  readonly since: number | undefined;
}

interface Measured {
  longestMs: number;
  since: number | undefined;
}

export interface UnprotectedOptions {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  /** The longest stretches of earlier runs as JSON. */
  readonly kept: string | undefined;
  readonly keep: (json: string) => void;
  /** When an earlier run was last alive, UTC ms: its positions were unprotected from then on. */
  readonly aloneSince: number | undefined;
}

type KeptRows = readonly (readonly [strategy: string, symbol: string, longestMs: number])[];

export class Unprotected {
  readonly #options: UnprotectedOptions;
  readonly #measured = new ByPosition<Measured>();

  constructor(options: UnprotectedOptions) {
    this.#options = options;
    for (const [strategy, symbol, longestMs] of JSON.parse(options.kept ?? '[]') as KeptRows)
      this.#measured.set(strategy, symbol, { longestMs, since: undefined });
    const { portfolio, protection, aloneSince } = options;
    for (const { strategy, symbol } of portfolio.subAccounts())
      if (aloneSince !== undefined && protection.isGuarded(strategy, symbol))
        this.#at(strategy, symbol).since = aloneSince;
  }

  of(strategy: string, symbol: string): UnprotectedTime {
    return this.#measured.get(strategy, symbol) ?? { longestMs: 0, since: undefined };
  }

  /** Measures every guarded position; `canExit`: whether its stop could act at this moment. */
  measure(now: number, canExit: (strategy: string, symbol: string) => boolean): void {
    const { portfolio, protection } = this.#options;
    let changed = false;
    for (const { strategy, symbol } of portfolio.subAccounts()) {
      const known = this.#measured.get(strategy, symbol);
      const isGuarded = protection.isGuarded(strategy, symbol);
      if (known === undefined && !isGuarded) continue;
      const measured = known ?? this.#at(strategy, symbol);
      const wasUnprotected = measured.since !== undefined;
      // A strategy that wants to be flat takes the stop away, and the position is still there.
      const isUnsold = wasUnprotected && !portfolio.subAccount(strategy, symbol).isFlat;
      const isUnprotected = (isGuarded || isUnsold) && !(canExit(strategy, symbol) && this.#isLeft(strategy, symbol));
      if (measured.since !== undefined) measured.longestMs = Math.max(measured.longestMs, now - measured.since);
      measured.since = isUnprotected ? (measured.since ?? now) : undefined;
      if (wasUnprotected && !isUnprotected) changed = true;
    }
    if (changed) this.#keep();
  }

  /** True unless an exit is due that is not on its way. */
  #isLeft(strategy: string, symbol: string): boolean {
    const { portfolio, protection } = this.#options;
    return (
      !protection.isExiting(strategy, symbol) ||
      portfolio.ordersOf(strategy, symbol).some(({ intent }) => intent.purpose === 'stop')
    );
  }

  #at(strategy: string, symbol: string): Measured {
    const made: Measured = this.#measured.get(strategy, symbol) ?? { longestMs: 0, since: undefined };
    this.#measured.set(strategy, symbol, made);
    return made;
  }

  #keep(): void {
    const kept: KeptRows = [...this.#measured.entries()].map(({ strategy, symbol, value }) => [
      strategy,
      symbol,
      value.longestMs,
    ]);
    this.#options.keep(JSON.stringify(kept));
  }
}
