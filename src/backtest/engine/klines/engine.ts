/**
 * The backtest over klines: time goes from close to close over all series of a run, and each kline fills, is shown and is decided on as
 * `engine/phases.ts` says. Rows at which nothing can happen are passed over: what a strategy says stays the same, no price reaches an order,
 * a stop or a limit, and no time is due.
 */
import { SimClock } from '../../../clock/sim-clock.ts';
import { rowAt } from '../../../data/klines.ts';
import { intervalMs } from '../../../domain/interval.ts';
import { plus } from '../../../domain/money.ts';
import { type Decision, decisionOf, type Fill, mainRole } from '../../../domain/order.ts';
import { isStreaming } from '../../../strategy/contract.ts';
import { checkedOf } from '../../../strategy/signals.ts';
import { source } from '../../../trading/hot-streams.ts';
import { PendingTakeProfits } from '../../../trading/pending-take-profits.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import { type BacktestEngine, killsOf, type RunInput, type RunResult, type RunSeries } from '../../run.ts';
import { type CashFlows, flowsOn } from '../cash-flows.ts';
import { decidedPhase, isActive, leaveOverdue, openPhase, restPhases } from '../phases.ts';
import { type LateStage, placeLate } from '../take-profit-check.ts';
import { Equity } from './equity.ts';
import { KlineCursor } from './kline-cursor.ts';
import { cursorOf } from './larger-cursor.ts';
import { extremes, firstEvent, levelsOf } from './levels.ts';
import {
  closesAt,
  isAwake,
  lastClose,
  markCloses,
  opening,
  opensAt,
  type SeriesWalk,
  unknown,
  walkOf,
} from './series-walk.ts';
import { SeveralMarketsStep } from './several-markets-step.ts';
import type { StrategyAnswers, StrategyCursor } from './strategy-cursor.ts';
import { StreamingCursor } from './streaming-cursor.ts';
import { KlineTrader } from './trader.ts';

export interface KlineEngineOptions {
  /** What the only strategy of a run said already. */
  readonly answers?: StrategyAnswers | undefined;
  /** Streams that are not recorded stay silent, instead of ending the run. */
  readonly isSilent?: boolean;
}

export class KlineEngine implements BacktestEngine {
  readonly #input: RunInput;
  readonly #clock: SimClock;
  readonly #trader: KlineTrader;
  readonly #stage: LateStage;
  readonly #flows: CashFlows;
  readonly #walks: readonly SeriesWalk[];
  readonly #walksOf = new Map<string, readonly SeriesWalk[]>();
  readonly #several: SeveralMarketsStep;
  readonly #equity: Equity;
  readonly #booked = source<Fill>();
  /** Signals that fills led streaming strategies to: they wait until whatever filled is through. */
  readonly #waiting: Decision[] = [];
  /** A streaming strategy is given a kline. */
  #isPushing = false;
  /** What streaming strategies threw. */
  readonly #faults: unknown[] = [];

  constructor(input: RunInput, { answers, isSilent = false }: KlineEngineOptions = {}) {
    this.#input = input;
    this.#clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
    this.#trader = new KlineTrader(input, this.#clock, {
      changed: (strategy) => this.#changed(strategy),
      booked: (fill) => this.#booked.emit(fill),
    });
    const { portfolio, risk, venue, log, margin } = this.#trader;
    this.#stage = {
      ...{ clock: this.#clock, assembled: this.#trader, rules: input.rules, margin },
      again: (leg) => this.#trader.take(decisionOf(leg)),
      targets: new PendingTakeProfits(this.#trader),
    };
    this.#flows = flowsOn(input, { portfolio, risk }, venue, (entry) => log.entries.push(entry));
    this.#equity = new Equity(portfolio, risk);
    const missed = isSilent ? [] : this.#faults;
    this.#several = new SeveralMarketsStep(input, this.#trader, (symbol) => this.#settle(symbol));
    this.#walks = input.series.map((series) => this.#walk(series, answers, missed));
    for (const [strategy, walks] of this.#several.walksIn(this.#walks)) this.#walksOf.set(strategy, walks);
  }

  #walk(series: RunSeries, answers: StrategyAnswers | undefined, missed: unknown[]): SeriesWalk {
    const { portfolio, venue } = this.#trader;
    const cursor = new KlineCursor(series);
    const strategies = this.#input.hosted
      .filter(({ symbol, markets }) => symbol === series.symbol && markets === undefined)
      .map((hosted) =>
        isStreaming(hosted.strategy)
          ? this.#streaming(hosted, series, missed)
          : cursorOf(hosted, series, cursor, portfolio, answers),
      );
    const several = this.#several.on(series.symbol);
    const walk = walkOf(series, venue.market(series.symbol), cursor, { strategies, several });
    for (const { hosted } of strategies) this.#walksOf.set(hosted.id, [walk]);
    return walk;
  }

  #streaming(hosted: NamedHosted, series: RunSeries, missed: unknown[]): StreamingCursor {
    return new StreamingCursor(hosted, series, {
      holding: this.#trader.portfolio.holding(hosted.id, hosted.symbol),
      fills: this.#booked.stream,
      now: () => this.#clock.now(),
      decided: (decision) => {
        if (!this.#trader.note(decision)) return;
        if (this.#isPushing) this.#trader.take(decision);
        else this.#waiting.push(decision);
      },
      faults: this.#faults,
      missed,
    });
  }

  /** Goes on over about so many klines of each series. */
  advance(klines: number): 'more' | 'done' {
    const left = this.#walks.filter(({ row, series }) => row < series.end);
    const horizon = Math.min(...left.map((walk) => closesAt(walk, walk.row + klines - 1)));
    for (;;) {
      let next = Number.POSITIVE_INFINITY;
      for (const walk of this.#walks) next = Math.min(next, opensAt(walk, this.#quietTo(walk)));
      if (next >= horizon || next === Number.POSITIVE_INFINITY) break;
      const [only] = this.#walks;
      if (this.#walks.length === 1 && only !== undefined && !only.mayFill && this.#several.isEmpty) {
        this.#stepQuietly(only, next);
        continue;
      }
      let at = Number.POSITIVE_INFINITY;
      for (const walk of this.#walks) {
        this.#passOver(walk, next);
        at = Math.min(at, closesAt(walk, walk.row));
      }
      this.#stepAll(at);
    }
    for (const walk of this.#walks) this.#passOver(walk, horizon);
    return this.#walks.some(({ row, series }) => row < series.end) ? 'more' : 'done';
  }

  get done(): number {
    return this.#walks.reduce((sum, { row, series }) => sum + row - series.first, 0);
  }

  get closedAt(): number {
    return lastClose(this.#walks);
  }

  /** Waits for what promises of streaming strategies still have to say, and throws what they threw. */
  async finish(): Promise<void> {
    const streaming = this.#walks.flatMap(({ strategies }) =>
      strategies.filter((one) => one instanceof StreamingCursor),
    );
    if (streaming.length > 0) await this.#clock.loop();
    for (const one of streaming) one.end();
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  /** What the klines that are done came to; `endedAt` where it ended before its time. */
  result(endedAt?: number): RunResult {
    const { portfolio, risk, log, band, margin } = this.#trader;
    for (const { series, symbol, row, cursor } of this.#walks)
      if (row > series.first) portfolio.mark(symbol, cursor.close, cursor.seenAt);
    return log.result(portfolio, this.#input, {
      ...killsOf(risk),
      finalEquity: plus(portfolio.totalEquity(), this.#flows.idle),
      ...(this.#flows.done.length > 0 && { cashFlows: this.#flows.done }),
      ...(margin !== undefined && { margin: margin.result() }),
      ...(endedAt !== undefined && { endedAt }),
      ...band.sums(),
      ambiguousKlines: this.#walks.reduce((sum, { market }) => sum + market.fills.ambiguousKlines, 0),
      journal: () => log.journal(portfolio, this.#clock.now()),
    });
  }

  /** The first row at which something can happen; the row that closes next where it is that one. */
  #quietTo(walk: SeriesWalk): number {
    const { series, deciding, cursor } = walk;
    if (walk.row >= series.end) return series.end;
    if (walk.quietTo !== unknown) return walk.quietTo;
    const levels = this.#equity.stale ? undefined : levelsOf(walk, this.#trader);
    const at = cursor.row;
    const event =
      levels === undefined
        ? undefined
        : firstEvent(series.columns, deciding, levels, { from: walk.row, to: this.#dueRow(walk) });
    cursor.row = at;
    walk.mayFill = event?.isReached ?? true;
    walk.quietTo = event?.row ?? walk.row;
    return walk.quietTo;
  }

  /** The first row at which a day may begin, money is paid, interest is due, or a position was held for as long as it may be. */
  #dueRow(walk: SeriesWalk): number {
    const { symbol, interval, columns, end } = walk.series;
    const { protection, margin } = this.#trader;
    const interest = margin?.interestDue(symbol) ?? Number.POSITIVE_INFINITY;
    const asked = this.#several.nextAt(symbol);
    const due = Math.min(this.#equity.dayEndsAt, this.#flows.nextAt, protection.exitDue(symbol), interest, asked);
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
    for (const strategy of walk.deciding) strategy.passOver(walk.row);
    this.#trader.margin?.charge(walk.symbol, cursor.seenAt);
    this.#trail(series, from, walk.row);
  }

  /** Moves trailing stops over rows that reach none of them. */
  #trail({ symbol, columns }: RunSeries, from: number, to: number): void {
    const { protection } = this.#trader;
    if (!protection.guards(symbol)) return;
    const { top, bottom } = extremes(columns, from, to);
    protection.trail(symbol, top, bottom);
  }

  /** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
  #stepAll(at: number): void {
    for (const walk of opening(this.#walks, at)) this.#open(walk, at);
    this.#several.enterAfterExits(this.#clock.now());
    const closing: SeriesWalk[] = [];
    for (const walk of this.#walks) if (closesAt(walk, walk.row) === at) closing.push(walk);
    for (const walk of closing) this.#close(walk, at);
    for (const walk of closing) if (walk.isOpen || (isAwake(walk) && isActive(this.#stage, walk))) this.#fill(walk);
    for (const walk of closing) if (isAwake(walk)) this.#see(walk);
    if (this.#flows.nextAt <= at) this.#moveMoney(at);
    let needsLook = this.#equity.stale;
    for (const walk of closing) if (isAwake(walk) && this.#equity.needsLook(walk)) needsLook = true;
    if (needsLook) this.#watchLoss(at);
    // What happened to one may concern another that was to be passed over.
    for (const walk of closing)
      if (isAwake(walk) && this.#trader.protection.exitDue(walk.symbol) <= at)
        this.#run(walk, leaveOverdue(this.#stage, walk, walk.cursor));
    for (const walk of closing) if (isAwake(walk)) this.#decide(walk);
    this.#several.ask(at, () => {
      this.#clock.skipTo(at);
      markCloses(this.#walks, this.#trader.portfolio);
    });
    if (this.#input.rules.marketAt === 'open') return;
    for (const walk of closing) if (isAwake(walk)) this.#run(walk, decidedPhase(this.#stage, walk, walk.cursor));
  }

  /** A kline of the only series at which a strategy says something else, and which reaches no level. */
  #stepQuietly(walk: SeriesWalk, opensAt: number): void {
    this.#passOver(walk, opensAt);
    walk.opened = walk.row;
    walk.quietTo = unknown;
    walk.cursor.row = walk.row++;
    this.#trail(walk.series, walk.cursor.row, walk.row);
    this.#see(walk);
    this.#decide(walk);
    if (this.#input.rules.marketAt !== 'open') this.#run(walk, decidedPhase(this.#stage, walk, walk.cursor));
  }

  /** Goes through a phase; what its steps lead to is carried out between them. */
  #run({ symbol }: SeriesWalk, phase: Iterable<undefined>): void {
    for (const _ of phase) this.#settle(symbol);
  }

  #settle(symbol: string): void {
    this.#trader.settle(symbol);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#trader.take(next);
      this.#trader.settle(next.legs[0].symbol);
    }
  }

  /** A kline opens that need not be the next to close. */
  #open(walk: SeriesWalk, at: number): void {
    walk.opened = walk.row;
    const { cursor, symbol, series } = walk;
    const { openTime, open } = series.columns;
    const isQuiet = walk.row < walk.quietTo;
    // Others close before it does, and limits on the equity must not go by a close that its open has overtaken.
    if (closesAt(walk, walk.row) > at) {
      this.#trader.portfolio.mark(symbol, open[walk.row] as number, openTime[walk.row] as number);
      if (walk.held !== 0 && !isQuiet) this.#equity.stale = true;
    }
    if (isQuiet || !walk.mayFill || !isActive(this.#stage, walk)) return;
    const closed = cursor.row;
    cursor.row = walk.row;
    walk.isOpen = true;
    this.#run(walk, openPhase(this.#stage, walk, cursor));
    cursor.row = closed;
  }

  #close(walk: SeriesWalk, at: number): void {
    if (walk.row < walk.quietTo) {
      this.#passOver(walk, at);
      return;
    }
    walk.quietTo = unknown;
    walk.cursor.row = walk.row++;
  }

  /** Its kline fills orders and sets off stops; where it reaches none, it only moves those that trail. */
  #fill(walk: SeriesWalk): void {
    const { cursor, series } = walk;
    if (walk.mayFill) this.#run(walk, restPhases(this.#stage, walk, cursor));
    else this.#trail(series, cursor.row, cursor.row + 1);
    walk.isOpen = false;
  }

  /** Its close is the last price. */
  #see({ symbol, cursor }: SeriesWalk): void {
    const { portfolio, margin } = this.#trader;
    this.#clock.skipTo(cursor.seenAt);
    portfolio.mark(symbol, cursor.close, cursor.seenAt);
    if (margin?.charge(symbol, cursor.seenAt) === true) this.#equity.stale = true;
  }

  /** Money is paid in or out: what a strategy may use is another amount. */
  #moveMoney(at: number): void {
    this.#clock.skipTo(at);
    if (!this.#flows.carryOut(at)) return;
    for (const strategy of this.#walksOf.keys()) this.#changed(strategy);
  }

  /** `at` is the moment, UTC ms. */
  #watchLoss(at: number): void {
    this.#clock.skipTo(at);
    const kill = this.#equity.look(this.#walks);
    if (kill === undefined) return;
    this.#trader.kill(kill);
    for (const { symbol } of this.#walks) this.#settle(symbol);
    // Another limit may have been passed, too: one is reported at a time.
    this.#equity.stale = true;
  }

  #decide(walk: SeriesWalk): void {
    const { row } = walk.cursor;
    for (const strategy of walk.strategies) {
      if (strategy instanceof StreamingCursor) this.#push(walk, strategy);
      else if (strategy.isOwn) this.#ask(walk, strategy);
      // After a gap several larger klines are known at one moment.
      else while (strategy.advance(row)) this.#ask(walk, strategy);
    }
    this.#settle(walk.symbol);
    for (const strategy of walk.deciding) strategy.quiet = this.#isQuiet(strategy);
    if (walk.larger.length === 0 || !isActive(this.#stage, walk)) return;
    markCloses(this.#walks, this.#trader.portfolio);
    this.#run(walk, placeLate(this.#stage, walk.larger));
  }

  /** Nothing is left to do about what it wants. */
  #isQuiet({ hosted: { id, symbol } }: StrategyCursor): boolean {
    const { planner } = this.#trader;
    return planner.standing(id, symbol) === undefined || planner.settled(id, symbol) !== undefined;
  }

  #push({ cursor }: SeriesWalk, strategy: StreamingCursor): void {
    this.#clock.skipTo(cursor.seenAt);
    markCloses(this.#walks, this.#trader.portfolio);
    this.#isPushing = true;
    strategy.push();
    this.#isPushing = false;
  }

  /** What it wants from now on, unless that is settled already. */
  #ask({ symbol, cursor }: SeriesWalk, strategy: StrategyCursor): void {
    const said = strategy.pending();
    if (said === undefined) return;
    const at = cursor.seenAt;
    this.#clock.skipTo(at);
    markCloses(this.#walks, this.#trader.portfolio);
    const signal = checkedOf(said, strategy.hosted, cursor.openTime);
    strategy.lastSignal = signal;
    strategy.quiet = false;
    const decision = decisionOf({ strategy: strategy.hosted.id, role: mainRole, symbol, at, signal });
    if (this.#trader.note(decision)) this.#trader.take(decision);
  }

  /** Something happened to a strategy's orders: its target has to be planned anew, and its symbol cannot be passed over. */
  #changed(strategy: string): void {
    this.#equity.stale = true;
    for (const walk of this.#walksOf.get(strategy) ?? []) {
      walk.quietTo = unknown;
      for (const one of walk.deciding) if (one.hosted.id === strategy) one.quiet = false;
    }
    this.#several.changed(strategy);
  }
}
