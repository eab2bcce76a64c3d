/** Kills and pauses in force: creation of orders is stopped, for all strategies or for one, until somebody lifts it (docs/decisions/0002). */
import type { Intent, Purpose } from '../domain/order.ts';

export interface Kill {
  /** A pause stops entries alone. */
  readonly kind: 'kill' | 'pause';
  /** Of a kill: it stops exits, too. */
  readonly everything: boolean;
  /** UTC ms. */
  readonly at: number;
  /** undefined: for all. */
  readonly strategy: string | undefined;
  /** Who: `operator`, `dashboard`, `telegram NAME`, `file`, `signal`, or one of `killingLimits`. */
  readonly by: string;
  readonly reason: string;
}

/** Limits that kill, all or one strategy. */
export const killingLimits = {
  dailyLoss: 'the loss since midnight UTC exceeded its limit',
  drawdown: 'the drawdown of equity exceeded its limit',
  entries: 'a strategy entered too many positions in ten minutes',
  losses: 'a strategy had too many losing round trips in a row',
  denials: 'a strategy had too many denials in ten minutes',
  decideTime: 'a strategy blocked the program for too long',
} as const;
export type KillingLimit = keyof typeof killingLimits;

/** What became of strategies. */
export const pastOf = { kill: 'killed', pause: 'paused' } as const;

type Strength = Pick<Kill, 'kind' | 'everything'>;

/** What goes on, by strength. */
const goesOn = {
  pause: ['exit', 'stop', 'takeProfit', 'flatten'],
  kill: ['stop', 'takeProfit', 'flatten'],
  everything: ['flatten'],
} as const satisfies Readonly<Record<string, readonly Purpose[]>>;

const strengthOf = ({ kind, everything }: Strength): keyof typeof goesOn => (everything ? 'everything' : kind);

/** Whether orders of a purpose are created and rest in spite of it. */
export const letsThrough = (kill: Strength, purpose: Purpose): boolean =>
  (goesOn[strengthOf(kill)] as readonly Purpose[]).includes(purpose);

/** The one that stops the most; of equals the first. */
const strongest = (kills: readonly Kill[]): Kill | undefined =>
  kills.toSorted((a, b) => goesOn[strengthOf(a)].length - goesOn[strengthOf(b)].length)[0];

export class KillSwitch {
  #kills: readonly Kill[];

  constructor(kills: readonly Kill[] = []) {
    this.#kills = kills;
  }

  get inForce(): readonly Kill[] {
    return this.#kills;
  }

  /** What stops a strategy: of several, the one that stops the most. */
  of(strategy: string): Kill | undefined {
    if (this.#kills.length === 0) return undefined;
    return strongest(this.#kills.filter((kill) => kill.strategy === undefined || kill.strategy === strategy));
  }

  /** The kills of everything that stop a strategy, in the order in which they came. */
  ofEverything(strategy: string): readonly Kill[] {
    return this.#kills.filter((kill) => kill.everything && (kill.strategy ?? strategy) === strategy);
  }

  /** What stops all strategies. */
  get ofAll(): Kill | undefined {
    return strongest(this.#kills.filter(({ strategy }) => strategy === undefined));
  }

  /** What forbids an order, one that is about to be created or one that rests; undefined when nothing does. */
  against({ strategy, purpose }: Pick<Intent, 'strategy' | 'purpose'>): Kill | undefined {
    const kill = this.of(strategy);
    return kill === undefined || letsThrough(kill, purpose) ? undefined : kill;
  }

  kill(kill: Kill): void {
    this.#kills = [...this.#kills, kill];
  }

  /** Lifts what stops a strategy, or all. Returns that. */
  resume(strategy: string | undefined): readonly Kill[] {
    const [lifted, left] = [[] as Kill[], [] as Kill[]];
    for (const kill of this.#kills) (strategy === undefined || kill.strategy === strategy ? lifted : left).push(kill);
    this.#kills = left;
    return lifted;
  }
}
