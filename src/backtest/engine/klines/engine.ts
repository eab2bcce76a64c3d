/**
 * The backtest over klines: time goes from close to close over all series of a run, and each kline fills, is shown and is decided on as
 * `engine/phases.ts` says. Rows at which nothing can happen are passed over: what a strategy says stays the same, no price reaches an order,
 * a stop or a limit, and no time is due.
 */
import { SimClock } from '../../../clock/sim-clock.ts';
import { plus } from '../../../domain/money.ts';
import { type Decision, decisionOf, type Fill } from '../../../domain/order.ts';
import { isStreaming } from '../../../strategy/contract.ts';
import { checkedOf } from '../../../strategy/signals.ts';
import { source } from '../../../trading/hot-streams.ts';
import { PendingTakeProfits } from '../../../trading/pending-take-profits.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import { type BacktestEngine, killsOf, type RunInput, type RunResult, type RunSeries } from '../../run.ts';
import { type CashFlows, flowsOn } from '../cash-flows.ts';
import { decidedPhase, exitOverdue, isActive, openPhase, restPhases } from '../phases.ts';
import { type LateStage, largerOn, placeLate } from '../take-profit-check.ts';
import { Equity } from './equity.ts';
import { KlineCursor } from './kline-cursor.ts';
import { cursorOf } from './larger-cursor.ts';
import { isQuiet, levelsOf, lookAhead, mayHappenNext, trailOver } from './levels.ts';
import { skipPriceMoves } from './moved-prices.ts';
import {
  closeRow,
  closesAt,
  dueRowOf,
  isAwake,
  lastClose,
  lookFurther,
  markCloses,
  markOpens,
  openingTogether,
  opensAt,
  type SeriesState,
  stateOf,
  unknown,
  wake,
} from './series-state.ts';
import { SeveralMarketsStep } from './several-markets-step.ts';
import type { StrategyAnswers, StrategyCursor } from './strategy-cursor.ts';
import { endStreams, StreamingCursor } from './streaming-cursor.ts';
import { KlineTrader } from './trader.ts';
import { UnfilledOrders } from './unfilled.ts';

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
  readonly #states: readonly SeriesState[];
  readonly #stateOf: ReadonlyMap<string, SeriesState>;
  readonly #statesOf = new Map<string, readonly SeriesState[]>();
  readonly #several: SeveralMarketsStep;
  readonly #equity: Equity;
  readonly #unfilled: UnfilledOrders;
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
      changed: (strategy, symbol) => this.#changed(strategy, symbol),
      sent: (symbol) => this.#awake(symbol),
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
    this.#unfilled = new UnfilledOrders(input, this.#trader, this.#clock);
    this.#several = new SeveralMarketsStep(input, this.#trader, {
      settle: (symbol) => this.#settle(symbol),
      awake: (symbol) => this.#awake(symbol),
    });
    this.#states = input.series.map((series) => this.#state(series, answers, isSilent ? [] : this.#faults));
    this.#stateOf = new Map(this.#states.map((state) => [state.symbol, state]));
    for (const [strategy, states] of this.#several.statesIn(this.#states)) this.#statesOf.set(strategy, states);
  }

  #state(series: RunSeries, answers: StrategyAnswers | undefined, missed: unknown[]): SeriesState {
    const { portfolio, venue } = this.#trader;
    const cursor = new KlineCursor(series);
    const strategies = this.#input.hosted
      .filter(({ symbol, markets }) => symbol === series.symbol && markets === undefined)
      .map((hosted) =>
        isStreaming(hosted.strategy)
          ? this.#streaming(hosted, series, missed)
          : cursorOf(hosted, series, cursor, portfolio, answers),
      );
    const beside = { several: this.#several.on(series.symbol), larger: largerOn(this.#input.hosted, series) };
    const state = stateOf(series, venue.market(series.symbol), cursor, { strategies, ...beside, portfolio });
    for (const { hosted } of strategies) this.#statesOf.set(hosted.id, [state]);
    return state;
  }

  #streaming(hosted: NamedHosted, series: RunSeries, missed: unknown[]): StreamingCursor {
    return new StreamingCursor(hosted, series, {
      portfolio: this.#trader.portfolio,
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
    const left = this.#states.filter(({ row, series }) => row < series.end);
    const horizon = Math.min(...left.map((state) => closesAt(state, state.row + klines - 1)));
    for (;;) {
      let next = Number.POSITIVE_INFINITY;
      for (const state of this.#states) next = Math.min(next, opensAt(state, this.#quietTo(state)));
      next = this.#several.before(next);
      if (next >= horizon || next === Number.POSITIVE_INFINITY) break;
      if (lookFurther(this.#states, next, (state) => this.#passOver(state, next))) continue;
      const [only] = this.#states;
      if (this.#states.length === 1 && only !== undefined && this.#several.isEmpty) {
        if (!only.mayFill) this.#stepQuietly(only, next, horizon);
        if (!only.mayFill || this.#unfilled.passOver(only, () => this.#dueRow(only), horizon)) continue;
      }
      let at = Number.POSITIVE_INFINITY;
      for (const state of this.#states) {
        this.#passOver(state, next);
        at = Math.min(at, closesAt(state, state.row));
      }
      if (at === Number.POSITIVE_INFINITY) break;
      this.#stepAll(at);
    }
    for (const state of this.#states) this.#passOver(state, horizon);
    return this.#states.some(({ row, series }) => row < series.end) ? 'more' : 'done';
  }

  get done(): number {
    return this.#states.reduce((sum, { row, series }) => sum + row - series.first, 0);
  }

  get closedAt(): number {
    return lastClose(this.#states);
  }

  /** Waits for what promises of streaming strategies still have to say, and throws what they threw. */
  async finish(): Promise<void> {
    await endStreams(this.#states, this.#clock);
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  /** What the klines that are done came to; `endedAt` where it ended before its time. */
  result(endedAt?: number): RunResult {
    const { portfolio, risk, log, band, margin, entries, legsAlone } = this.#trader;
    for (const { series, symbol, row, cursor } of this.#states)
      if (row > series.first) portfolio.mark(symbol, cursor.close, cursor.seenAt);
    return log.result(portfolio, this.#input, {
      ...killsOf(risk),
      entries: entries.list(),
      finalEquity: plus(portfolio.totalEquity(), this.#flows.idle),
      ...(this.#flows.done.length > 0 && { cashFlows: this.#flows.done }),
      ...(margin !== undefined && { margin: margin.result() }),
      ...(endedAt !== undefined && { endedAt }),
      legsAlone: legsAlone.times(this.closedAt),
      ...band.sums(),
      ambiguousKlines: this.#states.reduce((sum, { market }) => sum + market.fills.ambiguousKlines, 0),
      journal: () => log.journal(portfolio, this.#clock.now()),
    });
  }

  /** The first row at which something can happen; the row that closes next where it is that one. */
  #quietTo(state: SeriesState): number {
    if (state.row >= state.series.end) return state.series.end;
    if (state.quietTo !== unknown) return state.quietTo;
    const levels = this.#equity.stale ? undefined : levelsOf(state, this.#trader);
    if (levels === undefined) mayHappenNext(state);
    else lookAhead(state, levels, this.#dueRow(state));
    return state.quietTo;
  }

  /** The first row at which a day may begin, money is paid, interest is due, or a position was held for as long as it may be. */
  #dueRow(state: SeriesState): number {
    return dueRowOf(state, Math.min(this.#equity.dayEndsAt, this.#flows.nextAt, this.#trader.due(state.symbol)));
  }

  /** Goes on over the rows that have closed by UTC ms and at which nothing happens. What others may still fill then is owed before interest is charged. */
  #passOver(state: SeriesState, at: number, isOver = true): void {
    const { quietTo, series, cursor } = state;
    const from = state.row;
    if (from >= quietTo || closesAt(state, from) > at) return;
    if (closesAt(state, quietTo - 1) <= at) state.row = quietTo;
    else while (closesAt(state, state.row) <= at) state.row++;
    cursor.row = state.row - 1;
    for (const strategy of state.deciding) strategy.passOver(state.row);
    if (isOver) this.#trader.margin?.charge(state.symbol, cursor.seenAt);
    trailOver(this.#trader.protection, series, from, state.row);
  }

  /** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
  #stepAll(at: number): void {
    const { marketAt } = this.#input.rules;
    for (const states of openingTogether(this.#states, at)) {
      for (const state of states) this.#open(state);
      if (marketAt === 'open') this.#several.enterAtOpen(this.#clock.now(), (state) => this.#openPhase(state));
      this.#markOpens(states, at);
    }
    const closing = this.#states.filter((state) => closesAt(state, state.row) === at);
    for (const state of closing) this.#close(state, at);
    for (const state of closing)
      if (state.isOpen || (isAwake(state) && isActive(this.#stage, state))) this.#fill(state);
    for (const state of closing)
      if (isAwake(state)) this.#see(state);
      else this.#trader.margin?.charge(state.symbol, at);
    if (this.#flows.nextAt <= at) this.#moveMoney(at);
    if (this.#equity.stale || closing.some((one) => isAwake(one) && this.#equity.needsLook(one))) this.#watchLoss(at);
    // What happened to one may concern another that was to be passed over.
    for (const state of closing)
      if (isAwake(state) && this.#trader.protection.exitDue(state.symbol) <= at) {
        this.#run(state, exitOverdue(this.#stage, state, state.cursor));
        // What may be entered again has to be asked for, though the strategy says nothing new.
        for (const { hosted } of [...state.strategies, ...state.several]) this.#changed(hosted.id);
      }
    for (const state of closing) if (isAwake(state)) this.#decide(state);
    this.#several.ask(at, () => {
      this.#clock.skipTo(at);
      markCloses(this.#states, this.#trader.portfolio);
    });
    for (const state of closing) if (isAwake(state)) this.#end(state);
    if (marketAt !== 'open') this.#several.enterAtClose(at, closing, (state) => this.#end(state));
  }

  /** A kline of the only series at which a strategy says something else, and which reaches no level; and those at which only prices move. */
  #stepQuietly(state: SeriesState, opensAt: number, horizon: number): void {
    this.#passOver(state, opensAt);
    state.opened = state.row;
    closeRow(state);
    trailOver(this.#trader.protection, state.series, state.cursor.row, state.row);
    this.#see(state);
    this.#decide(state);
    this.#end(state);
    if (this.#equity.stale || !skipPriceMoves(state, this.#trader, { end: this.#dueRow(state), horizon })) return;
    wake(state);
    this.#see(state);
  }

  /** Goes through a phase; what its steps lead to is carried out between them. */
  #run({ symbol }: SeriesState, phase: Iterable<undefined>): void {
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
  #open(state: SeriesState): void {
    state.opened = state.row;
    const isQuiet = state.row < state.quietTo;
    if (!isQuiet && state.mayFill && isActive(this.#stage, state)) this.#openPhase(state);
  }

  /** Limits on the equity, and what other markets are liquidated by, must not go by a close that an open has overtaken. */
  #markOpens(states: readonly SeriesState[], at: number): void {
    const closingToo = this.#trader.margin !== undefined && !this.#several.isEmpty;
    if (markOpens(states, this.#trader.portfolio, at, closingToo)) this.#equity.stale = true;
  }

  #openPhase(state: SeriesState): void {
    const { cursor } = state;
    const closed = cursor.row;
    cursor.row = state.row;
    state.isOpen = true;
    this.#run(state, openPhase(this.#stage, state, cursor));
    cursor.row = closed;
  }

  #close(state: SeriesState, at: number): void {
    if (state.row < state.quietTo) this.#passOver(state, at, false);
    else closeRow(state);
  }

  /** Its kline fills orders and sets off stops; where it reaches none, it only moves those that trail. */
  #fill(state: SeriesState): void {
    const { cursor, series } = state;
    if (state.mayFill) this.#run(state, restPhases(this.#stage, state, cursor));
    else trailOver(this.#trader.protection, series, cursor.row, cursor.row + 1);
    state.isOpen = false;
  }

  /** Its close is the last price. */
  #see({ symbol, cursor }: SeriesState): void {
    const { portfolio, margin } = this.#trader;
    this.#clock.skipTo(cursor.seenAt);
    portfolio.mark(symbol, cursor.close, cursor.seenAt);
    if (margin?.charge(symbol, cursor.seenAt) === true) this.#equity.stale = true;
  }

  /** Money is paid in or out: what a strategy may use is another amount. */
  #moveMoney(at: number): void {
    this.#clock.skipTo(at);
    if (!this.#flows.apply(at)) return;
    for (const strategy of this.#statesOf.keys()) this.#changed(strategy);
  }

  /** `at` is the moment, UTC ms. */
  #watchLoss(at: number): void {
    this.#clock.skipTo(at);
    const kill = this.#equity.look(this.#states);
    if (kill === undefined) return;
    this.#trader.kill(kill);
    for (const { symbol } of this.#states) this.#settle(symbol);
    // Another limit may have been passed, too: one is reported at a time.
    this.#equity.stale = true;
  }

  #decide(state: SeriesState): void {
    for (const strategy of state.strategies) {
      if (strategy instanceof StreamingCursor) this.#push(state, strategy);
      else if (strategy.isOwn) this.#ask(state, strategy);
      // After a gap several larger klines are known at one moment.
      else while (strategy.advance(state.cursor.row)) this.#ask(state, strategy);
      if (state.strategies.length > 1) this.#trader.expire(state.symbol, state.cursor.seenAt, strategy.hosted.id);
    }
    this.#settle(state.symbol);
    for (const strategy of state.deciding) strategy.quiet = isQuiet(this.#trader, strategy);
  }

  /** What strategies of larger intervals still lack, entries that expire, then what fills at the close decided on. */
  #end(state: SeriesState): void {
    if (state.larger.length > 0 && isActive(this.#stage, state)) {
      markCloses(this.#states, this.#trader.portfolio);
      this.#run(state, placeLate(this.#stage, state.larger));
    }
    this.#trader.expire(state.symbol, state.cursor.seenAt);
    if (this.#input.rules.marketAt !== 'open') this.#run(state, decidedPhase(this.#stage, state, state.cursor));
  }

  #push({ cursor }: SeriesState, strategy: StreamingCursor): void {
    this.#clock.skipTo(cursor.seenAt);
    markCloses(this.#states, this.#trader.portfolio);
    this.#isPushing = true;
    strategy.push();
    this.#isPushing = false;
  }

  /** What it wants from now on, unless that is settled already. */
  #ask({ cursor }: SeriesState, strategy: StrategyCursor): void {
    const said = strategy.pending();
    if (said === undefined) return;
    this.#clock.skipTo(cursor.seenAt);
    markCloses(this.#states, this.#trader.portfolio);
    const signal = checkedOf(said, strategy.hosted, cursor.openTime);
    strategy.lastSignal = signal;
    strategy.quiet = false;
    const decision = strategy.decision(cursor.seenAt, signal);
    if (this.#trader.note(decision)) this.#trader.take(decision);
  }

  /**
   * Something happened to a strategy's orders at a symbol, or at all of its own: its target has to be planned anew, and the symbol cannot be passed
   * over. What a strategy owes concerns all its symbols.
   */
  #changed(strategy: string, symbol?: string): void {
    this.#equity.stale = true;
    const only = this.#trader.margin === undefined ? symbol : undefined;
    for (const state of this.#statesOf.get(strategy) ?? []) {
      if (only !== undefined && only !== state.symbol) continue;
      wake(state);
      for (const one of state.deciding) if (one.hosted.id === strategy) one.quiet = false;
    }
    this.#several.changed(strategy);
  }

  #awake(symbol: string): void {
    const state = this.#stateOf.get(symbol);
    if (state !== undefined) wake(state);
  }
}
