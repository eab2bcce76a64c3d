/** Kills in force: creation of orders is stopped, for all or for one strategy, until somebody lifts it. */
import type { Intent, Purpose } from '../domain/order.ts';

export interface Kill {
  /** UTC ms. */
  readonly at: number;
  /** undefined: for all. */
  readonly strategy: string | undefined;
  /** Who: `operator`, `file`, `signal`, or one of `killingLimits`. */
  readonly by: string;
  readonly reason: string;
}

/** Limits that kill, all or one strategy: they are there to limit losses, so they alone let protective exits through. */
export const killingLimits = {
  dailyLoss: 'the loss since midnight UTC exceeded its limit',
  drawdown: 'the drawdown of equity exceeded its limit',
  entries: 'a strategy entered too many positions in ten minutes',
  losses: 'a strategy had too many losing round trips in a row',
  denials: 'a strategy had too many denials in ten minutes',
  thinking: 'a strategy blocked the program for too long',
} as const;
export type KillingLimit = keyof typeof killingLimits;

const isByLimit = ({ by }: Pick<Kill, 'by'>): boolean => Object.hasOwn(killingLimits, by);

/** A protective exit goes on under a kill by a limit; under one by a person nothing does (docs/decisions/0002). */
export const letsThrough = (kill: Kill, purpose: Purpose): boolean => purpose === 'stop' && isByLimit(kill);

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
    return standing.find((kill) => !isByLimit(kill)) ?? standing[0];
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
