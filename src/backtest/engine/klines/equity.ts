/** The equity as lines over the prices: how far each price may go before a limit on the equity has to look. */
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { Kill } from '../../../risk/kill.ts';
import type { Risk } from '../../../risk/risk.ts';
import { markCloses, type SeriesWalk, unknown } from './series-walk.ts';

const dayMs = 86_400_000;

export class Equity {
  /** A fill or a payment changed it since the limits looked. */
  stale = true;
  /** When the UTC day ends that the limits looked at last, UTC ms. */
  dayEndsAt = 0;
  readonly #portfolio: Portfolio;
  readonly #risk: Risk;

  constructor(portfolio: Portfolio, risk: Risk) {
    this.#portfolio = portfolio;
    this.#risk = risk;
  }

  /** True when the limits have to look at a kline's close: a day began, the equity changed, or it left the walk's band. */
  needsLook({ cursor, fixed, held, floor, ceiling }: SeriesWalk): boolean {
    if (this.stale || cursor.seenAt >= this.dayEndsAt) return true;
    if (held === 0) return false;
    const value = fixed + held * cursor.close;
    return value <= floor || value > ceiling;
  }

  /** Looks at the exact equity, at the last price of every series, and shares what is left to the limits among the walks. */
  look(walks: readonly SeriesWalk[]): Kill | undefined {
    markCloses(walks, this.#portfolio);
    const kill = this.#risk.watchLoss();
    this.dayEndsAt = this.#risk.dayStart.day + dayMs;
    this.stale = false;
    this.#share(walks);
    return kill;
  }

  #share(walks: readonly SeriesWalk[]): void {
    let [equity, count] = [0, 0];
    for (const walk of walks) {
      walk.fixed = 0;
      walk.held = 0;
      for (const { hosted } of [...walk.strategies, ...walk.several]) {
        const { fixed, held } = this.#portfolio.equityLine(hosted.id, walk.symbol);
        walk.fixed += fixed;
        walk.held += held;
      }
      if (walk.held !== 0) count++;
      equity += worthOf(walk, this.#portfolio);
    }
    if (count === 0) return;
    const { above, upTo } = this.#risk.calmEquity;
    const [down, up] = [(equity - above) / count, (upTo - equity) / count];
    for (const walk of walks) {
      if (walk.held === 0) continue;
      const value = worthOf(walk, this.#portfolio);
      const [floor, ceiling] = [value - down, value + up];
      // What was passed over already stays so while the band does not get narrower.
      if (floor > walk.floor || ceiling < walk.ceiling) walk.quietTo = unknown;
      walk.floor = floor;
      walk.ceiling = ceiling;
    }
  }
}

const worthOf = ({ series, cursor, fixed, held }: SeriesWalk, portfolio: Portfolio): number =>
  held === 0 ? fixed : fixed + held * (portfolio.lastMark(series.symbol)?.price ?? cursor.close);
