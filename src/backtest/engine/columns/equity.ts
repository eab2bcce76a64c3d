/** The equity of a loop over columns, estimated at every close: the exact one is asked for only where the limit may have been passed. */
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { Kill } from '../../../risk/kill.ts';
import type { Risk } from '../../../risk/risk.ts';
import { markCloses, type Walk } from './walk.ts';

const dayMs = 86_400_000;

export class ColumnEquity {
  /** Something changed since the estimate was taken. */
  stale = true;
  /** A kline that opens at or after this, UTC ms, may close in another UTC day. */
  lastOpenOfDay = 0;
  readonly #portfolio: Portfolio;
  readonly #risk: Risk;
  readonly #longestMs: number;
  /** At the last close. */
  #estimate = 0;

  /** `longestMs` is the longest interval of all series. */
  constructor(portfolio: Portfolio, risk: Risk, longestMs: number) {
    this.#portfolio = portfolio;
    this.#risk = risk;
    this.#longestMs = longestMs;
  }

  /**
   * Moves the estimate by this kline's close. True when the limit has to be asked: a day began, a fill changed what
   * is held, or the estimate is not clearly above it.
   */
  mayLoseTooMuch(walk: Walk): boolean {
    if (this.stale || (walk.series.columns.openTime[walk.cursor.row] as number) >= this.lastOpenOfDay) return true;
    if (walk.held === 0) return false;
    const value = walk.fixed + walk.held * walk.cursor.close;
    this.#estimate += value - walk.value;
    walk.value = value;
    return this.#estimate <= this.#risk.safeEquity;
  }

  /** Looks at the exact equity, at the last price of every series. */
  watchLoss(walks: readonly Walk[]): Kill | undefined {
    markCloses(walks, this.#portfolio);
    const kill = this.#risk.watchLoss();
    this.lastOpenOfDay = this.#risk.dayStart.day + dayMs - this.#longestMs;
    this.stale = false;
    this.#reckon(walks);
    return kill;
  }

  /** Takes the estimate anew; each series keeps its part as a line over its price. */
  #reckon(walks: readonly Walk[]): void {
    this.#estimate = 0;
    for (const walk of walks) {
      walk.fixed = 0;
      walk.held = 0;
      for (const { hosted } of walk.seats) {
        const { quantity, entryPrice } = this.#portfolio.holding(hosted.id, hosted.symbol);
        const cost = quantity === 0 ? 0 : quantity * entryPrice;
        walk.held += quantity;
        walk.fixed += this.#portfolio.closedEquity(hosted.id, hosted.symbol) - cost;
      }
      walk.value = walk.fixed + walk.held * (this.#portfolio.lastMark(walk.series.symbol)?.price ?? walk.cursor.close);
      this.#estimate += walk.value;
    }
  }
}
