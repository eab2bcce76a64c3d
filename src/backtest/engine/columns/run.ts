/**
 * A backtest as a loop over columns: the same plan, rules, portfolio and fill engine as live, called straight through; what cannot
 * matter is skipped. `stream-run.ts` runs the live graph itself; both give the same rows (test/backtest/reference.test.ts).
 */
import { SimClock } from '../../../clock/sim-clock.ts';
import { rowAt } from '../../../data/klines.ts';
import { intervalMs } from '../../../domain/interval.ts';
import { plus, priceNumber } from '../../../domain/money.ts';
import type { Signal } from '../../../domain/order.ts';
import { isGapped } from '../../../fill/stops.ts';
import type { Planner } from '../../../portfolio/planner.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { ArmedStop, Protection } from '../../../portfolio/protection.ts';
import type { Risk } from '../../../risk/risk.ts';
import { checkedOf } from '../../../strategy/validate.ts';
import { PendingTakeProfits } from '../../../trading/pending-take-profits.ts';
import { killsOf, type RunInput, type RunResult, type RunSeries } from '../../run.ts';
import { type CashFlows, flowsOn } from '../cash-flows.ts';
import { armedStops, trailClose, trailEntry, trailOpen, withSoon, withTargets } from '../entry-kline.ts';
import { stopReason } from '../kline-phases.ts';
import { ColumnDesk } from './desk.ts';
import { ColumnEquity } from './equity.ts';
import { KlineCursor } from './kline-cursor.ts';
import type { StrategyCursor, Told } from './strategy-cursor.ts';
import { seatsOn } from './strategy-cursors.ts';
import { markCloses, markLast, nextClose, opening, type Walk, walkOf } from './walk.ts';

export class ColumnRun {
  readonly #input: RunInput;
  readonly #clock: SimClock;
  readonly #desk: ColumnDesk;
  readonly #portfolio: Portfolio;
  readonly #protection: Protection;
  readonly #planner: Planner;
  readonly #risk: Risk;
  readonly #flows: CashFlows;
  readonly walks: readonly Walk[];
  readonly #seats = new Map<string, StrategyCursor>();
  readonly #equity: ColumnEquity;
  readonly #targets: PendingTakeProfits;
  /** The longest interval of all series. */
  readonly #longestMs: number;

  /** `told`: what its only strategy said already. */
  constructor(input: RunInput, told?: Told) {
    this.#input = input;
    this.#clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
    this.#desk = new ColumnDesk(input, this.#clock, (strategy) => this.#stir(strategy));
    const { portfolio, protection, planner, risk, venue, log } = this.#desk;
    this.#portfolio = portfolio;
    this.#protection = protection;
    this.#planner = planner;
    this.#risk = risk;
    this.#targets = new PendingTakeProfits(this.#desk);
    this.#flows = flowsOn(input, { portfolio, risk }, venue, (entry) => log.entries.push(entry));
    this.walks = input.series.map((series) => this.#walk(series, told));
    this.#longestMs = Math.max(...input.series.map(({ interval }) => intervalMs(interval, 0)));
    this.#equity = new ColumnEquity(this.#portfolio, this.#risk, this.#longestMs);
  }

  #walk(series: RunSeries, told: Told | undefined): Walk {
    const cursor = new KlineCursor(series);
    const seats = seatsOn(this.#input.hosted, series, cursor, this.#portfolio, told);
    for (const strategyCursor of seats) this.#seats.set(strategyCursor.hosted.id, strategyCursor);
    return walkOf(series, this.#desk.venue.market(series.symbol), cursor, seats);
  }

  /** Goes on for so many klines, or moments at which some close. */
  advance(klines: number): 'more' | 'through' {
    const [only] = this.walks;
    if (this.walks.length === 1 && only !== undefined)
      this.#walkAlone(only, Math.min(only.series.end, only.row + klines));
    else
      for (
        let left = klines, at = nextClose(this.walks);
        left-- > 0 && at < Number.POSITIVE_INFINITY;
        at = nextClose(this.walks)
      )
        this.#stepAll(at);
    return this.walks.some(({ row, series }) => row < series.end) ? 'more' : 'through';
  }

  /** What the klines that are done came to; `endedAt` where it was told to end before its time. */
  result(endedAt?: number): RunResult {
    for (const { series, row } of this.walks) markLast({ ...series, end: row }, this.#portfolio);
    return {
      ...this.#desk.log.results(this.#portfolio, this.#input, endedAt),
      ...killsOf(this.#risk),
      finalEquity: plus(this.#portfolio.totalEquity(), this.#flows.idle),
      ...(this.#flows.done.length > 0 && { cashFlows: this.#flows.done }),
      ...(endedAt !== undefined && { endedAt }),
      ...this.#desk.band.sums(),
      ambiguousKlines: this.walks.reduce((sum, { market }) => sum + market.ambiguousKlines, 0),
      journal: () => this.#desk.log.journal(this.#portfolio, this.#clock.now()),
    };
  }

  /** The only series: nothing else moves, so rows at which nothing can happen are passed over. */
  #walkAlone(walk: Walk, end: number): void {
    const { series, seats } = walk;
    const { openTime } = series.columns;
    const strategyCursor = seats.length === 1 && seats[0]?.isOwn === true ? seats[0] : undefined;
    let [dayEnds, lastOpenOfDay, flowAt] = [0, Number.NaN, Number.NaN];
    while (walk.row < end) {
      this.#step(walk);
      if (strategyCursor === undefined || !strategyCursor.quiet || walk.active || this.#equity.stale) continue;
      if (lastOpenOfDay !== this.#equity.lastOpenOfDay || flowAt !== this.#flows.nextAt) {
        lastOpenOfDay = this.#equity.lastOpenOfDay;
        flowAt = this.#flows.nextAt;
        dayEnds = Math.min(rowAt(openTime, lastOpenOfDay), rowAt(openTime, flowAt - this.#longestMs));
      }
      const until = Math.min(dayEnds, end);
      if (walk.row >= until) continue;
      walk.row = strategyCursor.skip(walk.row, until, {
        fixed: walk.fixed,
        held: walk.held,
        least: this.#risk.safeEquity,
      });
    }
  }

  /** A kline opens that need not be the next to close. */
  #openNow(walk: Walk, closesAt: number): void {
    walk.opened = walk.row;
    const { cursor, series } = walk;
    const { openTime, open } = series.columns;
    // Others close before it does, and limits on the equity must not go by a close that its open has overtaken.
    if (walk.closesAt > closesAt) {
      this.#portfolio.mark(series.symbol, open[walk.row] as number, openTime[walk.row] as number);
      if (walk.held !== 0) this.#equity.stale = true;
    }
    if (!walk.active) return;
    const closed = cursor.row;
    cursor.row = walk.row;
    this.#openPhase(walk);
    cursor.row = closed;
  }

  /** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
  #stepAll(at: number): void {
    for (const walk of opening(this.walks, at)) this.#openNow(walk, at);
    const closing = this.walks.filter(({ closesAt }) => closesAt === at);
    for (const walk of closing) walk.cursor.row = walk.row++;
    for (const walk of closing) if (walk.active) this.#restPhases(walk);
    if (this.#flows.nextAt <= at) this.#moveMoney(at);
    let mayLose = false;
    for (const walk of closing) if (this.#equity.mayLoseTooMuch(walk)) mayLose = true;
    if (mayLose) this.#watchLoss(at);
    for (const walk of closing) this.#leaveOverdue(walk);
    for (const walk of closing) this.#decide(walk);
    for (const walk of closing) this.#decidedPhase(walk);
  }

  #step(walk: Walk): void {
    walk.cursor.row = walk.row++;
    if (walk.active) {
      this.#openPhase(walk);
      this.#restPhases(walk);
    }
    if (this.#flows.nextAt <= walk.cursor.seenAt) this.#moveMoney(walk.cursor.seenAt);
    if (this.#equity.mayLoseTooMuch(walk)) this.#watchLoss(walk.cursor.seenAt);
    this.#leaveOverdue(walk);
    this.#decide(walk);
    this.#decidedPhase(walk);
  }

  /** Money is paid in or out: what a strategy may use is another amount. */
  #moveMoney(at: number): void {
    this.#clock.skipTo(at);
    if (!this.#flows.carryOut(at)) return;
    for (const strategy of this.#seats.keys()) this.#stir(strategy);
  }

  #decide(walk: Walk): void {
    const { row } = walk.cursor;
    let isBusy = false;
    for (const strategyCursor of walk.seats) {
      if (strategyCursor.isOwn) isBusy = this.#ask(walk, strategyCursor, isBusy);
      else while (strategyCursor.advance(row)) isBusy = this.#ask(walk, strategyCursor, isBusy);
    }
    if (walk.active)
      for (const strategyCursor of walk.seats) if (!strategyCursor.isOwn) this.#placeLate(walk, strategyCursor);
    // Not before: a cancel is known to have come about only when all have been carried out.
    if (this.#desk.obeyKills()) walk.active = !walk.market.idle || this.#protection.guards(walk.series.symbol);
  }

  /**
   * After a gap several larger klines are known at one moment. As live, a symbol's lane that is free takes the first step of the first
   * wish, and one that is busy with another's none: what comes after it is planned by the last wish. True when the lane is busy.
   */
  #ask(walk: Walk, strategyCursor: StrategyCursor, isBusy: boolean): boolean {
    const heard = this.#heed(walk, strategyCursor);
    const signal = isBusy ? (this.#heedRest(walk, strategyCursor) ?? heard) : heard;
    if (signal === undefined) return isBusy;
    const began = this.#desk.carryOut(signal, () => this.#heedRest(walk, strategyCursor));
    strategyCursor.quiet = this.#planner.rests(signal.strategy, signal.symbol);
    walk.active = !walk.market.idle || this.#protection.guards(signal.symbol);
    return isBusy || began;
  }

  /** What it wishes from now on; undefined where that rests already, or is not heard. */
  #heed({ series, cursor }: Walk, strategyCursor: StrategyCursor): Signal | undefined {
    const wish = strategyCursor.wish();
    if (wish === undefined) return undefined;
    const at = cursor.seenAt;
    this.#clock.skipTo(at);
    markCloses(this.walks, this.#portfolio);
    const want = checkedOf(wish, strategyCursor.hosted, cursor.openTime);
    strategyCursor.lastWant = want;
    strategyCursor.quiet = false;
    const signal: Signal = { strategy: strategyCursor.hosted.id, symbol: series.symbol, at, want };
    if (!this.#desk.hears(signal)) return undefined;
    this.#planner.note(signal);
    return signal;
  }

  /** The last wish of the larger klines that are left. */
  #heedRest(walk: Walk, strategyCursor: StrategyCursor): Signal | undefined {
    let last: Signal | undefined;
    while (strategyCursor.advance(walk.cursor.row)) last = this.#heed(walk, strategyCursor) ?? last;
    return last;
  }

  #openPhase(walk: Walk): void {
    const { market, cursor, series } = walk;
    this.#clock.skipTo(cursor.openTime);
    if (!market.idle) market.open(cursor);
    if (this.#input.rules.targetsFrom === 'entry') this.#placeTargets(series.symbol, cursor.openTime, cursor.open);
    this.#desk.obeyKills();
    this.#hitStops(walk, 'passed');
    trailOpen(series.symbol, cursor, this.#desk);
  }

  /** Rules that fill at the close decided on: what was ordered arrives, and so do the targets of what that entered. */
  #decidedPhase(walk: Walk): void {
    const { market, cursor, series } = walk;
    if (this.#input.rules.marketAt === 'open' || market.idle) return;
    this.#clock.skipTo(cursor.seenAt);
    market.decided(cursor);
    this.#placeTargets(series.symbol, cursor.seenAt, cursor.close);
    market.decided(cursor);
    this.#desk.obeyKills();
    walk.active = !market.idle || this.#protection.guards(series.symbol);
  }

  #placeTargets(symbol: string, at: number, price: number): void {
    for (const signal of withTargets(symbol, at, this.#desk)) {
      this.#portfolio.mark(symbol, price, at);
      this.#desk.carryOut(signal);
    }
  }

  /** The take-profit of what was entered between two klines of a strategy. */
  #placeLate({ cursor }: Walk, { hosted }: StrategyCursor): void {
    this.#clock.skipTo(cursor.seenAt);
    markCloses(this.walks, this.#portfolio);
    const signal = this.#targets.due(hosted, cursor.seenAt);
    if (signal !== undefined) this.#desk.carryOut(signal);
  }

  #restPhases(walk: Walk): void {
    const { market, cursor, series } = walk;
    this.#clock.skipTo(cursor.seenAt - 1);
    this.#hitStops(walk, 'inside');
    if (!market.idle) {
      market.rest(cursor);
      trailEntry(series.symbol, cursor, this.#desk);
      this.#desk.obeyKills();
      this.#hitStops(walk, 'any');
    }
    market.close();
    trailClose(series.symbol, cursor, this.#desk);
    walk.active = !market.idle || this.#protection.guards(series.symbol);
  }

  /** Stops that the open has passed are hit at the open, the others inside the kline. */
  #hitStops({ market, cursor, series: { symbol } }: Walk, which: 'passed' | 'inside' | 'any'): void {
    const armed = armedStops(symbol, cursor.openTime, this.#input.rules, this.#desk);
    if (armed.length === 0) return;
    const at = this.#portfolio.instrument(symbol);
    const isMeant = (stop: ArmedStop): boolean =>
      which === 'any' || isGapped(cursor, stop, at) === (which === 'passed');
    const stops = armed.filter(isMeant).map((stop) => withSoon(stop, cursor.openTime, this.#input.rules, this.#desk));
    for (const hit of market.triggers(cursor, stops)) {
      const signal = this.#planner.standing(hit.strategy, symbol);
      if (signal?.want.kind !== 'target') continue;
      const price = priceNumber(hit.price, at);
      this.#portfolio.mark(symbol, price, this.#clock.now());
      this.#protection.leave(hit.strategy, symbol, signal.want.goal, stopReason(price));
      this.#desk.carryOut(signal);
      this.#desk.obeyKills();
    }
  }

  /** Positions that were held for as long as they may be. */
  #leaveOverdue(walk: Walk): void {
    const { market, cursor, series } = walk;
    if (!walk.active) return;
    for (const { strategy, symbol, why } of this.#protection.overdue(series.symbol, cursor.seenAt)) {
      const signal = this.#planner.standing(strategy, symbol);
      if (signal?.want.kind !== 'target') continue;
      this.#clock.skipTo(cursor.seenAt);
      this.#portfolio.mark(symbol, cursor.close, cursor.seenAt);
      this.#protection.leave(strategy, symbol, signal.want.goal, why);
      this.#desk.carryOut(signal);
      walk.active = !market.idle || this.#protection.guards(symbol);
    }
  }

  /** Something happened to a strategy's orders: its wish has to be planned anew. */
  #stir(strategy: string): void {
    this.#equity.stale = true;
    const strategyCursor = this.#seats.get(strategy);
    if (strategyCursor !== undefined) strategyCursor.quiet = false;
  }

  /** `at` is the moment, UTC ms. */
  #watchLoss(at: number): void {
    this.#clock.skipTo(at);
    const kill = this.#equity.watchLoss(this.walks);
    if (kill === undefined) return;
    this.#desk.kill(kill);
    this.#desk.obeyKills();
    // Another limit may have been passed, too: one is told of at a time.
    this.#equity.stale = true;
  }
}
