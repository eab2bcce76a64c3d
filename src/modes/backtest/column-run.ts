/**
 * A backtest as a loop over columns: the same plan, rules, portfolio and fill engine as live, called straight through; what cannot
 * matter is skipped. `stream-run.ts` runs the live graph itself; both give the same rows (test/reference.test.ts).
 */
import { SimClock } from '../../clock/sim-clock.ts';
import { rowAt } from '../../data/klines.ts';
import { intervalMs } from '../../domain/interval.ts';
import { plus, priceNumber } from '../../domain/money.ts';
import { type Intent, isClosed, type OrderReport, type Signal, type Want } from '../../domain/order.ts';
import { isGapped } from '../../fill/stops.ts';
import { type Draft, intentOf } from '../../portfolio/plan.ts';
import { Planner } from '../../portfolio/planner.ts';
import { Portfolio, type WorkingOrder } from '../../portfolio/portfolio.ts';
import { Protection } from '../../portfolio/protect.ts';
import type { Kill } from '../../risk/kill.ts';
import { Risk } from '../../risk/risk.ts';
import { checked } from '../../strategy/checked.ts';
import { PaperOnKlines } from '../../venue/paper/on-klines.ts';
import type { PaperTrade } from '../../venue/paper/records.ts';
import { marketsOf } from '../daemon/run-markets.ts';
import { leaveAfterProfit } from './after-profit.ts';
import { type Band, bandOf } from './band.ts';
import { type CashFlows, flowsOn } from './cash-flows.ts';
import { ColumnEquity } from './column-equity.ts';
import { ColumnLog, clientIdOf, lifeMs } from './column-log.ts';
import type { Seat } from './column-seat.ts';
import { seatsOn } from './column-seats.ts';
import { markLast, nextClose, opening, type Walk, walkOf } from './column-walk.ts';
import { armedStops, type Holders, withTargets } from './entry-kline.ts';
import { KlineCursor } from './kline-cursor.ts';
import { stopReason } from './kline-phases.ts';
import { fillOf, openingBalances, planTerms, type RunInput, type RunResult, type RunSeries, spanOf } from './run.ts';

export class ColumnRun {
  readonly #input: RunInput;
  readonly #clock: SimClock;
  readonly #portfolio: Portfolio;
  readonly #protection: Protection;
  readonly #planner: Planner;
  readonly #holders: Holders;
  readonly #risk: Risk;
  readonly #venue: PaperOnKlines;
  readonly #flows: CashFlows;
  readonly walks: readonly Walk[];
  readonly #seats = new Map<string, Seat>();
  readonly #log = new ColumnLog();
  readonly #band: Band;
  /** Kills whose resting orders are not cancelled yet: one can come in the midst of a fill. */
  #fresh: Kill[] = [];
  #sequence = 0;
  readonly #equity: ColumnEquity;
  /** The longest interval of all series. */
  readonly #longestMs: number;

  constructor(input: RunInput) {
    this.#input = input;
    this.#band = bandOf(input);
    this.#clock = new SimClock(Math.min(...input.series.map((one) => one.columns.openTime[one.first] ?? 0)));
    this.#portfolio = new Portfolio(input.instruments, input.allocations);
    this.#protection = new Protection(this.#portfolio, () => {});
    this.#planner = new Planner({
      portfolio: this.#portfolio,
      protection: this.#protection,
      ...planTerms(input),
      changed: (signal, goal) => this.#log.signal(signal, goal),
      tooSmall: (draft, denial) => this.#log.denied(draft, denial, this.#portfolio, this.#clock.now()),
    });
    this.#holders = { portfolio: this.#portfolio, planner: this.#planner, protection: this.#protection };
    const { limits, instruments, rules, fees } = input;
    const disabled = (kill: Kill): void => void this.#fresh.push(kill);
    this.#risk = new Risk({ limits, portfolio: this.#portfolio, clock: this.#clock, disabled });
    this.#venue = new PaperOnKlines({
      ...{ clock: this.#clock, instruments, rules, fees },
      balances: openingBalances(input),
      keepsClosed: false,
      ...marketsOf(input),
      listener: {
        fill: (trade, intent) => this.#onFill(trade, intent),
        end: (report, intent) => this.#onEnd(report, intent),
      },
    });
    const assembled = { portfolio: this.#portfolio, risk: this.#risk };
    this.#flows = flowsOn(input, assembled, this.#venue, (entry) => this.#log.entries.push(entry));
    this.walks = input.series.map((series) => this.#walk(series));
    this.#longestMs = Math.max(...input.series.map(({ interval }) => intervalMs(interval, 0)));
    this.#equity = new ColumnEquity(this.#portfolio, this.#risk, this.#longestMs);
  }

  #walk(series: RunSeries): Walk {
    const cursor = new KlineCursor(series);
    const seats = seatsOn(this.#input.hosted, series, cursor, this.#portfolio);
    for (const seat of seats) this.#seats.set(seat.hosted.id, seat);
    return walkOf(series, this.#venue.market(series.symbol), cursor, seats);
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
      ...this.#log.results(this.#portfolio, spanOf(this.#input.series).end),
      kills: this.#risk.switch.inForce.map(({ reason }) => reason),
      finalEquity: plus(this.#portfolio.totalEquity(), this.#flows.idle),
      ...(this.#flows.done.length > 0 && { cashFlows: this.#flows.done }),
      ...(endedAt !== undefined && { endedAt }),
      ...this.#band.sums(),
      ambiguousKlines: this.walks.reduce((sum, { market }) => sum + market.ambiguousKlines, 0),
      journal: () => this.#log.journal(this.#portfolio, this.#clock.now()),
    };
  }

  /** The only series: nothing else moves, so rows at which nothing can happen are passed over. */
  #walkAlone(walk: Walk, end: number): void {
    const { series, seats } = walk;
    const { openTime } = series.columns;
    const seat = seats.length === 1 && seats[0]?.isOwn === true ? seats[0] : undefined;
    let [dayEnds, lastOpenOfDay, flowAt] = [0, Number.NaN, Number.NaN];
    while (walk.row < end) {
      this.#step(walk);
      if (seat === undefined || !seat.quiet || walk.active || this.#equity.stale) continue;
      if (lastOpenOfDay !== this.#equity.lastOpenOfDay || flowAt !== this.#flows.nextAt) {
        lastOpenOfDay = this.#equity.lastOpenOfDay;
        flowAt = this.#flows.nextAt;
        dayEnds = Math.min(rowAt(openTime, lastOpenOfDay), rowAt(openTime, flowAt - this.#longestMs));
      }
      const until = Math.min(dayEnds, end);
      if (walk.row >= until) continue;
      walk.row = seat.skip(walk.row, until, { fixed: walk.fixed, held: walk.held, least: this.#risk.safeEquity });
    }
  }

  /** A kline opens that need not be the next to close. */
  #openNow(walk: Walk): void {
    walk.opened = walk.row;
    if (!walk.active) return;
    const { cursor } = walk;
    const closed = cursor.row;
    cursor.row = walk.row;
    this.#openPhase(walk);
    cursor.row = closed;
  }

  /** All klines that close at one moment, phase by phase: what happened in any of them comes before anybody decides. */
  #stepAll(at: number): void {
    for (const walk of opening(this.walks, at)) this.#openNow(walk);
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
    for (const seat of walk.seats) {
      if (seat.isOwn) this.#ask(walk, seat);
      else while (seat.advance(row)) this.#ask(walk, seat);
    }
  }

  #ask(walk: Walk, seat: Seat): void {
    if (!seat.mayDecide) return;
    // Saying nothing repeats what was said last, as the host of live strategies does.
    const want = seat.decide() ?? seat.lastWant;
    if (want !== undefined && !seat.rests(want)) this.#wish(walk, seat, want);
  }

  #wish(walk: Walk, seat: Seat, want: Want): void {
    const { series, cursor } = walk;
    const at = cursor.seenAt;
    this.#clock.skipTo(at);
    this.#portfolio.mark(series.symbol, cursor.close, at);
    seat.lastWant = checked(want);
    const signal: Signal = { strategy: seat.hosted.id, symbol: series.symbol, at, want };
    this.#planner.note(signal);
    this.#carryOut(signal);
    this.#obeyKills();
    seat.quiet = this.#planner.rests(signal.strategy, signal.symbol);
    walk.active = !walk.market.idle || this.#protection.guards(series.symbol);
  }

  #openPhase(walk: Walk): void {
    const { market, cursor, series } = walk;
    this.#clock.skipTo(cursor.openTime);
    if (!market.idle) market.open(cursor);
    if (this.#input.rules.targetsFrom === 'entry') this.#placeTargets(series.symbol, cursor.openTime, cursor.open);
    this.#obeyKills();
    this.#hitStops(walk, 'passed');
  }

  /** Rules that fill at the close decided on: what was ordered arrives, and so do the targets of what that entered. */
  #decidedPhase(walk: Walk): void {
    const { market, cursor, series } = walk;
    if (this.#input.rules.marketAt === 'open' || market.idle) return;
    this.#clock.skipTo(cursor.seenAt);
    market.decided(cursor);
    this.#placeTargets(series.symbol, cursor.seenAt, cursor.close);
    market.decided(cursor);
    this.#obeyKills();
    walk.active = !market.idle || this.#protection.guards(series.symbol);
  }

  #placeTargets(symbol: string, at: number, price: number): void {
    for (const signal of withTargets(symbol, at, this.#holders)) {
      this.#portfolio.mark(symbol, price, at);
      this.#carryOut(signal);
    }
  }

  #restPhases(walk: Walk): void {
    const { market, cursor, series } = walk;
    this.#clock.skipTo(cursor.seenAt - 1);
    this.#hitStops(walk, 'inside');
    if (!market.idle) {
      market.rest(cursor);
      this.#obeyKills();
      this.#hitStops(walk, 'any');
    }
    market.close();
    this.#protection.trail(series.symbol, cursor.high);
    this.#protection.trail(series.symbol, cursor.low);
    walk.active = !market.idle || this.#protection.guards(series.symbol);
  }

  /** Stops that the open has passed are hit at the open, the others inside the kline. */
  #hitStops({ market, cursor, series: { symbol } }: Walk, which: 'passed' | 'inside' | 'any'): void {
    const armed = armedStops(symbol, cursor.openTime, this.#input.rules, this.#holders);
    if (armed.length === 0) return;
    const at = this.#portfolio.instrument(symbol);
    const stops = which === 'any' ? armed : armed.filter((stop) => isGapped(cursor, stop, at) === (which === 'passed'));
    for (const hit of market.triggers(cursor, stops)) {
      const signal = this.#planner.standing(hit.strategy, symbol);
      if (signal?.want.kind !== 'target') continue;
      const price = priceNumber(hit.price, at);
      this.#portfolio.mark(symbol, price, this.#clock.now());
      this.#protection.leave(hit.strategy, symbol, signal.want.goal, stopReason(price));
      this.#carryOut(signal);
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
      this.#carryOut(signal);
      walk.active = !market.idle || this.#protection.guards(symbol);
    }
  }

  #carryOut(signal: Signal): void {
    const refused: Draft[] = [];
    for (let step = this.#planner.plan(signal); step !== undefined; step = this.#planner.plan(signal, refused)) {
      if (step.do === 'cancel') {
        this.#cancel(step.order);
        continue;
      }
      const came = this.#isDenied(step.draft) ? 'refused' : this.#create(step.draft);
      if (came === 'refused') refused.push(step.draft);
      else if (came === 'waits') return;
    }
  }

  #cancel(order: WorkingOrder): void {
    if (order.cancelRequested || order.orderId === undefined) return;
    order.cancelRequested = true;
    this.#venue.cancel({ symbol: order.intent.symbol, orderId: order.orderId });
  }

  #isDenied(draft: Draft): boolean {
    const verdict = this.#risk.judge(draft);
    if (verdict.kind === 'denied') this.#log.denied(draft, verdict, this.#portfolio, this.#clock.now());
    return verdict.kind === 'denied';
  }

  /** What came of it; a MARKET order that waits to fill ends a plan. */
  #create(draft: Draft): 'placed' | 'refused' | 'waits' {
    const now = this.#clock.now();
    const clientOrderId = clientIdOf(this.#sequence++);
    const intent = intentOf(draft, clientOrderId, now, lifeMs);
    const order = this.#portfolio.reserve(intent);
    this.#risk.created(draft);
    const outcome = this.#venue.submit(intent);
    if (outcome.kind === 'accepted') {
      order.orderId = outcome.report.orderId;
      if (isClosed(order.state)) return 'placed';
      order.state = 'open';
      return intent.type === 'MARKET' ? 'waits' : 'placed';
    }
    this.#finish(order, 'rejected');
    return 'refused';
  }

  #onFill(trade: PaperTrade, intent: Intent): void {
    const fill = fillOf(trade, intent);
    this.#log.fills.push(fill);
    this.#portfolio.apply(fill);
    leaveAfterProfit(fill, this.#portfolio, this.#planner, this.#protection);
    this.#risk.booked(fill);
    this.#stir(intent.strategy);
    this.#band.listener.fill(trade, intent);
  }

  #onEnd(report: OrderReport, intent: Intent): void {
    const order = this.#portfolio.order(intent.clientOrderId);
    if (order === undefined) return;
    order.orderId = report.orderId;
    order.venueStatus = report.status;
    order.executed = report.executed;
    this.#finish(order, report.status === 'FILLED' ? 'filled' : 'canceled');
    this.#stir(intent.strategy);
  }

  #finish(order: WorkingOrder, state: 'filled' | 'canceled' | 'rejected'): void {
    this.#portfolio.close(order, state);
    this.#log.closed(order, this.#clock.now());
  }

  /** Something happened to a strategy's orders: its wish has to be planned anew. */
  #stir(strategy: string): void {
    this.#equity.stale = true;
    const seat = this.#seats.get(strategy);
    if (seat !== undefined) seat.quiet = false;
  }

  /** `at` is the moment, UTC ms. */
  #watchLoss(at: number): void {
    this.#clock.skipTo(at);
    const kill = this.#equity.watchLoss(this.walks);
    if (kill !== undefined) this.#fresh.push(kill);
    this.#obeyKills();
  }

  /** Writes kills down and cancels what they stop. */
  #obeyKills(): void {
    for (const { at, strategy, by, reason } of this.#fresh.splice(0)) {
      this.#log.entries.push({ kind: 'kill', at, strategy: strategy ?? null, by, reason });
      for (const order of [...this.#portfolio.orders()])
        if (order.state === 'open' && this.#risk.switch.against(order.intent) !== undefined) this.#cancel(order);
    }
  }
}
