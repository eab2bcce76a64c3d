/** The desk of a run over columns: carries out wishes straight through, and books what comes of them. The live one is `trader.ts`'s. */
import type { SimClock } from '../../../clock/sim-clock.ts';
import { type Intent, isClosed, type OrderReport, type Signal } from '../../../domain/order.ts';
import { intentOf, type OrderDraft, type Step } from '../../../portfolio/plan.ts';
import { Planner } from '../../../portfolio/planner.ts';
import { Portfolio, type WorkingOrder } from '../../../portfolio/portfolio.ts';
import { Protection } from '../../../portfolio/protection.ts';
import type { Kill } from '../../../risk/kill.ts';
import { Risk } from '../../../risk/risk.ts';
import { leaveAfterProfit } from '../../../trading/after-take-profit.ts';
import { signalRateLimit } from '../../../trading/signal-rate-limit.ts';
import { PaperOnKlines } from '../../../venue/paper/on-klines.ts';
import type { PaperTrade } from '../../../venue/paper/records.ts';
import { type Band, bandOf } from '../../result/band.ts';
import { fillOf, openingBalances, planTerms, type RunInput } from '../../run.ts';
import { marketsOf } from '../markets.ts';
import { ColumnLog, clientIdOf, lifeMs } from './log.ts';

export class ColumnDesk {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  readonly planner: Planner;
  readonly risk: Risk;
  readonly venue: PaperOnKlines;
  readonly log = new ColumnLog();
  readonly band: Band;
  /** False where a strategy wishes too often. */
  readonly hears: (signal: Signal) => boolean;
  readonly #clock: SimClock;
  readonly #stirred: (strategy: string) => void;
  /** Kills, and the orders that they cancel, that are not obeyed yet: one can come in the midst of a fill. */
  #fresh: { readonly kill: Kill; readonly resting: readonly WorkingOrder[] }[] = [];
  #sequence = 0;

  /** `stirred`: something happened to a strategy's orders. */
  constructor(input: RunInput, clock: SimClock, stirred: (strategy: string) => void) {
    this.#clock = clock;
    this.#stirred = stirred;
    this.band = bandOf(input);
    this.portfolio = new Portfolio(input.instruments, input.allocations);
    this.protection = new Protection(this.portfolio, () => {});
    this.planner = new Planner({
      portfolio: this.portfolio,
      protection: this.protection,
      ...planTerms(input),
      changed: (signal, goal) => this.log.signal(signal, goal),
      tooSmall: (draft, denial) => this.log.denied(draft, denial, this.portfolio, clock.now()),
    });
    const { limits, instruments, rules, fees } = input;
    this.risk = new Risk({ limits, portfolio: this.portfolio, clock, disabled: (kill) => this.kill(kill) });
    this.hears = signalRateLimit(this, clock, { append: (entry) => void this.log.entries.push(entry) });
    this.venue = new PaperOnKlines({
      ...{ clock, instruments, rules, fees },
      balances: openingBalances(input),
      keepsClosed: false,
      ...marketsOf(input),
      listener: {
        fill: (trade, intent) => this.#onFill(trade, intent),
        end: (report, intent) => this.#onEnd(report, intent),
      },
    });
  }

  /**
   * False when there was nothing to do. `meanwhile` gives what is wished while the first step is under way: what comes after that step is
   * planned by it.
   */
  carryOut(signal: Signal, meanwhile?: () => Signal | undefined): boolean {
    const refused: OrderDraft[] = [];
    const first = this.planner.plan(signal);
    let overtaking: Signal | undefined;
    for (let step = first; step !== undefined; step = this.planner.plan(signal, refused)) {
      const came = this.#take(step);
      overtaking ??= meanwhile?.();
      if (step.do === 'create' && came === 'refused') refused.push(step.draft);
    }
    if (overtaking !== undefined) this.carryOut(overtaking);
    return first !== undefined;
  }

  #take(step: Step): 'done' | 'refused' {
    if (step.do === 'cancel') {
      if (!step.order.cancelRequested) this.#cancel(step.order);
      return 'done';
    }
    const { draft } = step;
    const verdict = this.risk.judge(draft);
    if (verdict.kind === 'approved') return this.#create(draft);
    this.log.denied(draft, verdict, this.portfolio, this.#clock.now());
    return 'refused';
  }

  #cancel(order: WorkingOrder): void {
    if (order.orderId === undefined) return;
    order.cancelRequested = true;
    this.venue.cancel({ symbol: order.intent.symbol, orderId: order.orderId });
  }

  #create(draft: OrderDraft): 'done' | 'refused' {
    const now = this.#clock.now();
    const clientOrderId = clientIdOf(this.#sequence++);
    const intent = intentOf(draft, clientOrderId, now, lifeMs);
    const order = this.portfolio.reserve(intent);
    this.risk.created(draft);
    const outcome = this.venue.submit(intent);
    if (outcome.kind === 'accepted') {
      order.orderId = outcome.report.orderId;
      if (!isClosed(order.state)) order.state = 'open';
      return 'done';
    }
    this.#finish(order, 'rejected');
    return 'refused';
  }

  #onFill(trade: PaperTrade, intent: Intent): void {
    const fill = fillOf(trade, intent);
    this.log.fills.push(fill);
    this.portfolio.apply(fill);
    leaveAfterProfit(fill, this.portfolio, this.planner, this.protection);
    this.risk.booked(fill);
    this.#stirred(intent.strategy);
    this.band.listener.fill(trade, intent);
  }

  #onEnd(report: OrderReport, intent: Intent): void {
    const order = this.portfolio.order(intent.clientOrderId);
    if (order === undefined) return;
    order.orderId = report.orderId;
    order.venueStatus = report.status;
    order.executed = report.executed;
    this.#finish(order, report.status === 'FILLED' ? 'filled' : 'canceled');
    this.#stirred(intent.strategy);
  }

  #finish(order: WorkingOrder, state: 'filled' | 'canceled' | 'rejected'): void {
    this.portfolio.close(order, state);
    this.log.closed(order, this.#clock.now());
  }

  /** To be obeyed. A cancel is asked for also of what has filled at the exchange in this moment, as live, where nobody has looked yet. */
  kill(kill: Kill): void {
    const resting = [...this.portfolio.orders()].filter(
      ({ state, cancelRequested, intent }) =>
        state === 'open' && !cancelRequested && this.risk.switch.against(intent) !== undefined,
    );
    for (const order of resting) order.cancelRequested = true;
    this.#fresh.push({ kill, resting });
  }

  /** Writes kills down and cancels what they stop; false when there was none. */
  obeyKills(): boolean {
    if (this.#fresh.length === 0) return false;
    for (const { kill, resting } of this.#fresh.splice(0)) {
      const { at, strategy, by, reason } = kill;
      this.log.entries.push({ kind: 'kill', at, strategy: strategy ?? null, by, reason });
      for (const order of resting) if (order.state === 'open') this.#cancel(order);
    }
    return true;
  }
}
