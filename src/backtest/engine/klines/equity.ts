/** The equity as lines over the prices: how far each price may go before a limit on the equity has to look. */
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { Kill } from '../../../risk/kill.ts';
import type { Risk } from '../../../risk/risk.ts';
import { markCloses, type SeriesState, wake } from './series-state.ts';

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

  /** True when the limits must check a kline's close: a day began, the equity changed, or it left its band. */
  needsLook({ cursor, fixed, held, floor, ceiling }: SeriesState): boolean {
    if (this.stale || cursor.seenAt >= this.dayEndsAt) return true;
    if (held === 0) return false;
    const value = fixed + held * cursor.close;
    return value <= floor || value > ceiling;
  }

  /** Checks the exact equity, at the last price of every series, and shares what is left to the limits among the series. */
  look(states: readonly SeriesState[]): Kill | undefined {
    markCloses(states, this.#portfolio);
    const kill = this.#risk.watchLoss();
    this.dayEndsAt = this.#risk.dayStart.day + dayMs;
    this.stale = false;
    this.#share(states);
    return kill;
  }

  #share(states: readonly SeriesState[]): void {
    let [equity, count] = [0, 0];
    for (const state of states) {
      state.fixed = 0;
      state.held = 0;
      for (const { estimate } of state.subAccounts) {
        state.fixed += estimate.closed - estimate.cost;
        state.held += estimate.base;
      }
      if (state.held !== 0) count++;
      equity += worthOf(state);
    }
    if (count === 0) return;
    const { above, upTo } = this.#risk.calmEquity;
    const [down, up] = [(equity - above) / count, (upTo - equity) / count];
    for (const state of states) {
      if (state.held === 0) continue;
      const value = worthOf(state);
      const [floor, ceiling] = [value - down, value + up];
      // What was passed over already stays so while the band does not get narrower.
      if (floor > state.floor || ceiling < state.ceiling) wake(state);
      state.floor = floor;
      state.ceiling = ceiling;
    }
  }
}

const worthOf = ({ mark, cursor, fixed, held }: SeriesState): number =>
  held === 0 ? fixed : fixed + held * (mark?.price ?? cursor.close);
