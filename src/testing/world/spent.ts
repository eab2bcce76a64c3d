/** What every process of the machine knows of spent weight and of bans: kept outside the process, as the file of a daemon is. */
import { type Bans, later, noBans } from '../../budget/bans.ts';
import type { Shared, Spent, Tally } from '../../budget/shared.ts';
import type { Life, Time } from './life.ts';

export class MachineLimits {
  readonly #time: Time;
  readonly #rows: (Spent & { readonly at: number; readonly life: number })[] = [];
  bans: Bans = noBans;

  constructor(time: Time) {
    this.#time = time;
  }

  /** What one process sees of it. */
  port(life: Life): Shared {
    let seen = 0;
    const known = (): Bans => this.bans;
    const look = (): Pick<Tally, 'news' | 'bans'> => {
      const news = this.#rows
        .slice(seen)
        .filter((row) => row.life !== life.number)
        .map(({ user, weight, endpoint, at }) => ({ user, weight, endpoint, agoMs: this.#time.now() - at }));
      seen = this.#rows.length;
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
