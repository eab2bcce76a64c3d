/**
 * The backtest over klines: time goes from close to close over all series of a run, and each kline is filled, shown and decided on as
 * `fill/kline-fills.ts` says. Rows at which nothing can happen are passed over: what a strategy says stays the same, no price reaches an
 * order, a stop or a limit, and no time is due.
 */
import { SimClock } from '../../../clock/sim-clock.ts';
import { rowAt } from '../../../data/klines.ts';
import { intervalMs } from '../../../domain/interval.ts';
import { plus, priceNumber } from '../../../domain/money.ts';
import type { Signal } from '../../../domain/order.ts';
import { isGapped } from '../../../fill/stops.ts';
import type { ArmedStop } from '../../../portfolio/protection.ts';
import { checkedOf } from '../../../strategy/validate.ts';
import { PendingTakeProfits } from '../../../trading/pending-take-profits.ts';
import { killsOf, type RunInput, type RunResult, type RunSeries } from '../../run.ts';
import { type CashFlows, flowsOn } from '../cash-flows.ts';
import { armedStops, trailClose, trailEntry, trailOpen, withSoon, withTargets } from '../entry-kline.ts';
import { stopReason } from '../kline-phases.ts';
import { ColumnDesk } from './desk.ts';
import { Equity } from './equity.ts';
import { KlineCursor } from './kline-cursor.ts';
import { extremes, firstEvent, type Levels } from './levels.ts';
import { closesAt, markCloses, opening, opensAt, type SeriesWalk, unknown, walkOf } from './series-walk.ts';
import type { StrategyCursor, Told } from './strategy-cursor.ts';
import { seatsOn } from './strategy-cursors.ts';

/** Its last row was not passed over, or something happened to it since. */
const isAwake = ({ row, quietTo }: SeriesWalk): boolean => quietTo < row;

export class KlineEngine {
  readonly #input: RunInput;
  readonly #clock: SimClock;
  readonly #desk: ColumnDesk;
  readonly #flows: CashFlows;
  readonly walks: readonly SeriesWalk[];
  readonly #walkOf = new Map<string, SeriesWalk>();
  readonly #equity: Equity;
  readonly #targets: PendingTakeProfits;

  /** `told`: what its only strategy said already. */
  constructor(input: RunInput, told?: Told) {
    this.#input = input;
    this.#clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
    this.#desk = new ColumnDesk(input, this.#clock, (strategy) => this.#changed(strategy));
    const { portfolio, risk, venue, log } = this.#desk;
    this.#targets = new PendingTakeProfits(this.#desk);
    this.#flows = flowsOn(input, { portfolio, risk }, venue, (entry) => log.entries.push(entry));
    this.walks = input.series.map((series) => this.#walk(series, told));
    this.#equity = new Equity(portfolio, risk);
  }

  #walk(series: RunSeries, told: Told | undefined): SeriesWalk {
    const cursor = new KlineCursor(series);
    const strategies = seatsOn(this.#input.hosted, series, cursor, this.#desk.portfolio, told);
    const walk = walkOf(series, this.#desk.venue.market(series.symbol), cursor, strategies);
    for (const { hosted } of strategies) this.#walkOf.set(hosted.id, walk);
    return walk;
  }

  /** Goes on over about so many klines of each series. */
  advance(klines: number): 'more' | 'through' {
    const ends = this.walks
      .filter(({ row, series }) => row < series.end)
      .map((walk) => closesAt(walk, walk.row + klines - 1));
    const horizon = Math.min(...ends);
    for (;;) {
      let next = Number.POSITIVE_INFINITY;
      for (const walk of this.walks) next = Math.min(next, opensAt(walk, this.#quietTo(walk)));
      if (next >= horizon || next === Number.POSITIVE_INFINITY) break;
      let at = Number.POSITIVE_INFINITY;
      for (const walk of this.walks) {
        this.#passOver(walk, next);
        at = Math.min(at, closesAt(walk, walk.row));
      }
      this.#stepAll(at);
    }
    for (const walk of this.walks) this.#passOver(walk, horizon);
    return this.walks.some(({ row, series }) => row < series.end) ? 'more' : 'through';
  }

  /** What the klines that are done came to; `endedAt` where it was told to end before its time. */
  result(endedAt?: number): RunResult {
    const { portfolio, risk, log, band } = this.#desk;
    for (const walk of this.walks)
      if (walk.row > walk.series.first) portfolio.mark(walk.series.symbol, walk.cursor.close, walk.cursor.seenAt);
    return {
      ...log.results(portfolio, this.#input, endedAt),
      ...killsOf(risk),
      finalEquity: plus(portfolio.totalEquity(), this.#flows.idle),
      ...(this.#flows.done.length > 0 && { cashFlows: this.#flows.done }),
      ...(endedAt !== undefined && { endedAt }),
      ...band.sums(),
      ambiguousKlines: this.walks.reduce((sum, { market }) => sum + market.ambiguousKlines, 0),
      journal: () => log.journal(portfolio, this.#clock.now()),
    };
  }

  /** The first row at which something can happen; the row that closes next where it is that one. */
  #quietTo(walk: SeriesWalk): number {
    const { series, strategies, cursor } = walk;
    if (walk.row >= series.end) return series.end;
    if (walk.quietTo !== unknown) return walk.quietTo;
    const levels = this.#equity.stale ? undefined : this.#levels(walk);
    const at = cursor.row;
    const event =
      levels === undefined
        ? undefined
        : firstEvent(series.columns, strategies, levels, { from: walk.row, to: this.#timeOf(walk) });
    cursor.row = at;
    walk.mayFill = event?.isReached ?? true;
    walk.quietTo = event?.row ?? walk.row;
    return walk.quietTo;
  }

  /** The prices at which something happens to a series; undefined where something may happen at any. */
  #levels({ series: { symbol }, market, strategies, fixed, held, floor, ceiling }: SeriesWalk): Levels | undefined {
    const { planner, protection } = this.#desk;
    let [below, above] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const strategy of strategies) {
      const { id } = strategy.hosted;
      const settled = planner.settled(id, symbol);
      if (settled === undefined && planner.standing(id, symbol) !== undefined) strategy.quiet = false;
      if (!strategy.quiet) return undefined;
      if (settled === undefined) continue;
      if (settled.from > 0) below = Math.max(below, settled.from);
      above = Math.min(above, settled.to);
    }
    if (!market.idle) {
      const { reach } = market;
      if (reach === undefined) return undefined;
      below = Math.max(below, reach.below);
      above = Math.min(above, reach.above);
    }
    if (held !== 0) {
      const [atFloor, atCeiling] = [(floor - fixed) / held, (ceiling - fixed) / held];
      below = Math.max(below, Math.min(atFloor, atCeiling));
      above = Math.min(above, Math.max(atFloor, atCeiling));
    }
    if (!protection.guards(symbol)) return { below, above, trails: [] };
    const trails = protection.trails(symbol);
    if (trails === undefined) return undefined;
    const at = this.#desk.portfolio.instrument(symbol);
    for (const { side, price } of protection.stops(symbol)) {
      if (side === 'SELL') below = Math.max(below, priceNumber(price, at));
      else above = Math.min(above, priceNumber(price, at));
    }
    return { below, above, trails };
  }

  /** The first row at which a day may begin, money is paid or a position was held for as long as it may be. */
  #timeOf(walk: SeriesWalk): number {
    const { symbol, interval, columns, end } = walk.series;
    const due = Math.min(this.#equity.dayEndsAt, this.#flows.nextAt, this.#desk.protection.exitDue(symbol));
    if (due !== walk.dueAt) {
      walk.dueAt = due;
      walk.dueRow = Math.min(end, rowAt(columns.openTime, due - intervalMs(interval, 0)));
    }
    return Math.max(walk.row, walk.dueRow);
  }

  /** Goes on over the rows that have closed by UTC ms and at which nothing happens. */
  #passOver(walk: SeriesWalk, at: number): void {
    const { quietTo, series, cursor } = walk;
    const from = walk.row;
    if (from >= quietTo || closesAt(walk, from) > at) return;
    if (closesAt(walk, quietTo - 1) <= at) walk.row = quietTo;
    else while (closesAt(walk, walk.row) <= at) walk.row++;
    cursor.row = walk.row - 1;
    for (const strategy of walk.strategies) strategy.passOver(walk.row);
    this.#trail(series, from, walk.row);
  }

  /** Moves trailing stops over rows that reach none of them. */
  #trail({ symbol, columns }: RunSeries, from: number, to: number): void {
    const { protection } = this.#desk;
    if (!protection.guards(symbol)) return;
    const { top, bottom } = extremes(columns, from, to);
    protection.trail(symbol, top, bottom);
  }

  /** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
  #stepAll(at: number): void {
    for (const walk of opening(this.walks, at)) this.#open(walk, at);
    const closing: SeriesWalk[] = [];
    for (const walk of this.walks) if (closesAt(walk, walk.row) === at) closing.push(walk);
    for (const walk of closing) this.#close(walk, at);
    for (const walk of closing) if (walk.isOpen || (isAwake(walk) && this.#isActive(walk))) this.#restPhases(walk);
    if (this.#flows.nextAt <= at) this.#moveMoney(at);
    let needsLook = this.#equity.stale;
    for (const walk of closing) if (isAwake(walk) && this.#equity.needsLook(walk)) needsLook = true;
    if (needsLook) this.#watchLoss(at);
    // What happened to one may concern another that was to be passed over.
    for (const walk of closing) if (isAwake(walk)) this.#leaveOverdue(walk);
    for (const walk of closing) if (isAwake(walk)) this.#decide(walk);
    for (const walk of closing) if (isAwake(walk)) this.#decidedPhase(walk);
  }

  #close(walk: SeriesWalk, at: number): void {
    if (walk.row < walk.quietTo) {
      this.#passOver(walk, at);
      return;
    }
    walk.quietTo = unknown;
    walk.cursor.row = walk.row++;
  }

  /** Orders work or positions are guarded. */
  #isActive({ market, series }: SeriesWalk): boolean {
    return !market.idle || this.#desk.protection.guards(series.symbol);
  }

  /** A kline opens that need not be the next to close. */
  #open(walk: SeriesWalk, at: number): void {
    walk.opened = walk.row;
    const { cursor, series } = walk;
    const { openTime, open } = series.columns;
    // Others close before it does, and limits on the equity must not go by a close that its open has overtaken.
    const isQuiet = walk.row < walk.quietTo;
    if (closesAt(walk, walk.row) > at) {
      this.#desk.portfolio.mark(series.symbol, open[walk.row] as number, openTime[walk.row] as number);
      if (walk.held !== 0 && !isQuiet) this.#equity.stale = true;
    }
    if (isQuiet || !walk.mayFill || !this.#isActive(walk)) return;
    const closed = cursor.row;
    cursor.row = walk.row;
    this.#openPhase(walk);
    cursor.row = closed;
  }

  /** Money is paid in or out: what a strategy may use is another amount. */
  #moveMoney(at: number): void {
    this.#clock.skipTo(at);
    if (!this.#flows.carryOut(at)) return;
    for (const strategy of this.#walkOf.keys()) this.#changed(strategy);
  }

  #decide(walk: SeriesWalk): void {
    const { row } = walk.cursor;
    let isBusy = false;
    for (const strategy of walk.strategies) {
      if (strategy.isOwn) isBusy = this.#ask(walk, strategy, isBusy);
      else while (strategy.advance(row)) isBusy = this.#ask(walk, strategy, isBusy);
    }
    if (this.#isActive(walk))
      for (const strategy of walk.strategies) if (!strategy.isOwn) this.#placeLate(walk, strategy);
    // Not before: a cancel is known to have come about only when all have been carried out.
    this.#desk.obeyKills();
  }

  /**
   * After a gap several larger klines are known at one moment. As live, a symbol's lane that is free takes the first step of the first
   * signal, and one that is busy with another's none: what comes after it is planned by the last signal. True when the lane is busy.
   */
  #ask(walk: SeriesWalk, strategy: StrategyCursor, isBusy: boolean): boolean {
    const heard = this.#signal(walk, strategy);
    const signal = isBusy ? (this.#lastSignal(walk, strategy) ?? heard) : heard;
    if (signal === undefined) return isBusy;
    const began = this.#desk.carryOut(signal, () => this.#lastSignal(walk, strategy));
    strategy.quiet = this.#desk.planner.settled(signal.strategy, signal.symbol) !== undefined;
    return isBusy || began;
  }

  /** What it wants from now on; undefined where that is settled already, or is refused as too frequent. */
  #signal({ series, cursor }: SeriesWalk, strategy: StrategyCursor): Signal | undefined {
    const wish = strategy.wish();
    if (wish === undefined) return undefined;
    const at = cursor.seenAt;
    this.#clock.skipTo(at);
    markCloses(this.walks, this.#desk.portfolio);
    const want = checkedOf(wish, strategy.hosted, cursor.openTime);
    strategy.lastWant = want;
    strategy.quiet = false;
    const signal: Signal = { strategy: strategy.hosted.id, symbol: series.symbol, at, want };
    if (!this.#desk.hears(signal)) return undefined;
    this.#desk.planner.note(signal);
    return signal;
  }

  /** The last signal of the larger klines that are left. */
  #lastSignal(walk: SeriesWalk, strategy: StrategyCursor): Signal | undefined {
    let last: Signal | undefined;
    while (strategy.advance(walk.cursor.row)) last = this.#signal(walk, strategy) ?? last;
    return last;
  }

  #openPhase(walk: SeriesWalk): void {
    const { market, cursor, series } = walk;
    walk.isOpen = true;
    this.#clock.skipTo(cursor.openTime);
    if (!market.idle) market.open(cursor);
    if (this.#input.rules.targetsFrom === 'entry') this.#placeTargets(series.symbol, cursor.openTime, cursor.open);
    this.#desk.obeyKills();
    this.#hitStops(walk, 'passed');
    trailOpen(series.symbol, cursor, this.#desk);
  }

  /** Rules that fill at the close decided on: what was ordered arrives, and so do the targets of what that entered. */
  #decidedPhase({ market, cursor, series }: SeriesWalk): void {
    if (this.#input.rules.marketAt === 'open' || market.idle) return;
    this.#clock.skipTo(cursor.seenAt);
    market.decided(cursor);
    this.#placeTargets(series.symbol, cursor.seenAt, cursor.close);
    market.decided(cursor);
    this.#desk.obeyKills();
  }

  #placeTargets(symbol: string, at: number, price: number): void {
    for (const signal of withTargets(symbol, at, this.#desk)) {
      this.#desk.portfolio.mark(symbol, price, at);
      this.#desk.carryOut(signal);
    }
  }

  /** The take-profit of what was entered between two klines of a strategy. */
  #placeLate({ cursor }: SeriesWalk, { hosted }: StrategyCursor): void {
    this.#clock.skipTo(cursor.seenAt);
    markCloses(this.walks, this.#desk.portfolio);
    const signal = this.#targets.due(hosted, cursor.seenAt);
    if (signal !== undefined) this.#desk.carryOut(signal);
  }

  #restPhases(walk: SeriesWalk): void {
    const { market, cursor, series } = walk;
    if (!walk.mayFill) {
      this.#trail(series, cursor.row, cursor.row + 1);
      return;
    }
    this.#clock.skipTo(cursor.seenAt - 1);
    this.#hitStops(walk, 'inside');
    if (!market.idle) {
      market.rest(cursor);
      trailEntry(series.symbol, cursor, this.#desk);
      this.#desk.obeyKills();
      this.#hitStops(walk, 'any');
    }
    market.close();
    walk.isOpen = false;
    trailClose(series.symbol, cursor, this.#desk);
  }

  /** Stops that the open has passed are hit at the open, the others inside the kline. */
  #hitStops({ market, cursor, series: { symbol } }: SeriesWalk, which: 'passed' | 'inside' | 'any'): void {
    const { portfolio, planner, protection } = this.#desk;
    const armed = armedStops(symbol, cursor.openTime, this.#input.rules, this.#desk);
    if (armed.length === 0) return;
    const at = portfolio.instrument(symbol);
    const isMeant = (stop: ArmedStop): boolean =>
      which === 'any' || isGapped(cursor, stop, at) === (which === 'passed');
    const stops = armed.filter(isMeant).map((stop) => withSoon(stop, cursor.openTime, this.#input.rules, this.#desk));
    for (const hit of market.triggers(cursor, stops)) {
      const signal = planner.standing(hit.strategy, symbol);
      if (signal?.want.kind !== 'target') continue;
      const price = priceNumber(hit.price, at);
      portfolio.mark(symbol, price, this.#clock.now());
      protection.leave(hit.strategy, symbol, signal.want.goal, stopReason(price));
      this.#desk.carryOut(signal);
      this.#desk.obeyKills();
    }
  }

  /** Positions that were held for as long as they may be. */
  #leaveOverdue(walk: SeriesWalk): void {
    const { cursor, series } = walk;
    if (!this.#isActive(walk)) return;
    const { portfolio, planner, protection } = this.#desk;
    for (const { strategy, symbol, why } of protection.overdue(series.symbol, cursor.seenAt)) {
      const signal = planner.standing(strategy, symbol);
      if (signal?.want.kind !== 'target') continue;
      this.#clock.skipTo(cursor.seenAt);
      portfolio.mark(symbol, cursor.close, cursor.seenAt);
      protection.leave(strategy, symbol, signal.want.goal, why);
      this.#desk.carryOut(signal);
    }
  }

  /** Something happened to a strategy's orders: its target has to be planned anew, and its symbol cannot be passed over. */
  #changed(strategy: string): void {
    this.#equity.stale = true;
    const walk = this.#walkOf.get(strategy);
    if (walk === undefined) return;
    walk.quietTo = unknown;
    for (const one of walk.strategies) if (one.hosted.id === strategy) one.quiet = false;
  }

  /** `at` is the moment, UTC ms. */
  #watchLoss(at: number): void {
    this.#clock.skipTo(at);
    const kill = this.#equity.look(this.walks);
    if (kill === undefined) return;
    this.#desk.kill(kill);
    this.#desk.obeyKills();
    // Another limit may have been passed, too: one is reported at a time.
    this.#equity.stale = true;
  }
}
