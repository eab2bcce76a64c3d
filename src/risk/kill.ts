/** Kills in force: creation of orders is stopped, for all or for one strategy, until somebody lifts it. */
import type { Intent, Purpose } from '../domain/order.ts';

export interface Kill {
  /** UTC ms. */
  readonly at: number;
  /** undefined: for all. */
  readonly strategy: string | undefined;
  /** Who: `dailyLoss`, `command`, `dashboard`. */
  readonly by: string;
  readonly reason: string;
}

/** The daily loss limit is there to limit losses: it alone lets protective exits through. */
export const letsThrough = (kill: Kill, purpose: Purpose): boolean => kill.by === 'dailyLoss' && purpose === 'stop';

export class KillSwitch {
  #kills: readonly Kill[];

  constructor(kills: readonly Kill[] = []) {
    this.#kills = kills;
  }

  get inForce(): readonly Kill[] {
    return this.#kills;
  }

  /** The kill that stops a strategy, one by a person before one by a limit: it stops more. */
  of(strategy: string): Kill | undefined {
    if (this.#kills.length === 0) return undefined;
    const standing = this.#kills.filter((kill) => kill.strategy === undefined || kill.strategy === strategy);
    return standing.find((kill) => kill.by !== 'dailyLoss') ?? standing[0];
  }

  /** The kill that forbids an order, one that is about to be created or one that rests; undefined when none does. */
  against({ strategy, purpose }: Pick<Intent, 'strategy' | 'purpose'>): Kill | undefined {
    const kill = this.of(strategy);
    return kill === undefined || letsThrough(kill, purpose) ? undefined : kill;
  }

  kill(kill: Kill): void {
    this.#kills = [...this.#kills, kill];
  }

  /** Lifts the kills of a strategy, or every one. */
  resume(strategy: string | undefined): void {
    this.#kills = strategy === undefined ? [] : this.#kills.filter((kill) => kill.strategy !== strategy);
  }
}
