/** What every process of the machine knows of spent weight and of bans: kept outside the process, as the file of a daemon is. */
import { type Bans, type ClockReading, later, noBans, reread } from '../../src/budget/bans.ts';
import type { Shared, Spent, Tally } from '../../src/budget/shared.ts';
import type { Life, Time } from './life.ts';

/** How long spent weight is remembered, ms: longer than the longest window. */
const keptMs = 120_000;

/** What the exchange allows within a minute; `tight`: so little that it binds. */
export const limitsOf = (
  tight: boolean,
): { readonly ipWeightPerMinute: number; readonly uidWeightPerMinute: number } =>
  tight
    ? { ipWeightPerMinute: 600, uidWeightPerMinute: 3_000 }
    : { ipWeightPerMinute: 12_000, uidWeightPerMinute: 60_000 };

export class MachineLimits {
  readonly #time: Time;
  #rows: (Spent & { readonly at: number; readonly life: number })[] = [];
  /** Rows that were dropped from the beginning. */
  #dropped = 0;
  #bans: Bans = noBans;
  /** When they were written down, by the clock of the process that did. */
  #written: ClockReading = { utc: 0, steady: 0 };

  readonly #byTheWall: boolean;

  /** `byTheWall`: a mutant, which takes times as they were written down. */
  constructor(time: Time, byTheWall: boolean) {
    this.#time = time;
    this.#byTheWall = byTheWall;
  }

  /** Until when nothing may be sent, by the world's time. */
  get stoppedUntil(): number {
    const { stopUntil, banUntil } = this.#bansAt(this.#time.now());
    return Math.max(stopUntil, banUntil);
  }

  #bansAt(utc: number): Bans {
    if (this.#byTheWall) return this.#bans;
    return reread(this.#bans, this.#written, { utc, steady: this.#time.now() });
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
    const known = (): Bans => this.#bansAt(life.clock.now());
    const read = (): Pick<Tally, 'news' | 'bans'> => {
      this.#forget();
      const news = this.#rows
        .slice(Math.max(0, seen - this.#dropped))
        .filter((row) => row.life !== life.number)
        .map(({ user, weight, endpoint, at }) => ({ user, weight, endpoint, agoMs: this.#time.now() - at }));
      seen = this.#rows.length + this.#dropped;
      return { news, bans: known() };
    };
    return {
      alone: (work) =>
        work({
          ...read(),
          spend: (spent) => {
            if (life.alive) this.#rows.push({ ...spent, at: this.#time.now(), life: life.number });
          },
        }),
      read,
      isNews: () => this.#rows.slice(Math.max(0, seen - this.#dropped)).some((row) => row.life !== life.number),
      get bans() {
        return known();
      },
      forbid: (bans) => {
        if (!life.alive) return;
        this.#bans = later(known(), bans);
        this.#written = { utc: life.clock.now(), steady: this.#time.now() };
      },
      close: () => {},
    };
  }
}
