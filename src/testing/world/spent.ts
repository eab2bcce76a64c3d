/** What every process of the machine knows of spent weight and of bans: kept outside the process, as the file of a daemon is. */
import { type Bans, later, noBans } from '../../budget/bans.ts';
import type { Shared, Spent, Tally } from '../../budget/shared.ts';
import type { Life, Time } from './life.ts';

/** How long spent weight is remembered, ms: longer than the longest window. */
const keptMs = 120_000;

export class MachineLimits {
  readonly #time: Time;
  #rows: (Spent & { readonly at: number; readonly life: number })[] = [];
  /** Rows that were dropped from the beginning. */
  #dropped = 0;
  bans: Bans = noBans;

  constructor(time: Time) {
    this.#time = time;
  }

  /** What is older than any window tells nobody anything. */
  #forget(): void {
    const old = this.#time.now() - keptMs;
    if ((this.#rows[0]?.at ?? old) >= old) return;
    const kept = this.#rows.filter(({ at }) => at >= old);
    this.#dropped += this.#rows.length - kept.length;
    this.#rows = kept;
  }

  /** What one process sees of it. */
  port(life: Life): Shared {
    let seen = 0;
    const known = (): Bans => this.bans;
    const look = (): Pick<Tally, 'news' | 'bans'> => {
      this.#forget();
      const news = this.#rows
        .slice(Math.max(0, seen - this.#dropped))
        .filter((row) => row.life !== life.number)
        .map(({ user, weight, endpoint, at }) => ({ user, weight, endpoint, agoMs: this.#time.now() - at }));
      seen = this.#rows.length + this.#dropped;
      return { news, bans: this.bans };
    };
    return {
      alone: (work) =>
        work({
          ...look(),
          spend: (spent) => {
            if (life.alive) this.#rows.push({ ...spent, at: this.#time.now(), life: life.number });
          },
        }),
      look,
      get bans() {
        return known();
      },
      forbid: (bans) => {
        if (life.alive) this.bans = later(this.bans, bans);
      },
      close: () => {},
    };
  }
}
