/**
 * The trader of a run over klines: the same portfolio, planner, protection and risk as live, with a simulated venue that answers at once.
 * Signals are carried out by `trader.ts`, without waiting.
 */
import type { SimClock } from '../../../clock/sim-clock.ts';
import {
  type Decision,
  decisionOf,
  type Fill,
  type Intent,
  isClosed,
  type OrderReport,
  type SubmitResult,
} from '../../../domain/order.ts';
import { LegsAlone } from '../../../portfolio/legs-alone.ts';
import { intentOf, type Judgement, type OrderDraft, type Step } from '../../../portfolio/plan.ts';
import { Planner } from '../../../portfolio/planner.ts';
import { Portfolio, type WorkingOrder } from '../../../portfolio/portfolio.ts';
import { Protection } from '../../../portfolio/protection.ts';
import type { Kill } from '../../../risk/kill.ts';
import { Risk } from '../../../risk/risk.ts';
import type { Command, Sendable, Trading } from '../../../trader.ts';
import { signalDenialRow } from '../../../trading/format.ts';
import { aloneRules, lanesOf } from '../../../trading/lanes.ts';
import { exitOf } from '../../../trading/retries.ts';
import { PaperOnKlines } from '../../../venue/paper/on-klines.ts';
import type { PaperTrade } from '../../../venue/paper/records.ts';
import { type Band, bandOf } from '../../result/ambiguity-band.ts';
import { EntryCounts } from '../../result/entries.ts';
import { fillOf, openingBalances, planTerms, type RunInput } from '../../run.ts';
import { type MarginAccounts, marginOn } from '../margin.ts';
import { marketsOf } from '../markets.ts';
import { Lane } from './lane.ts';
import { KlineLog } from './log.ts';
import { clientIdOf, lifeMs } from './order-column.ts';

/** What the trader reports to the engine. */
export interface TraderListener {
  /** Something happened to a strategy's orders or position at a symbol. */
  changed(strategy: string, symbol: string): void;
  /** An order is sent. */
  sent(symbol: string): void;
  /** A fill was booked. */
  booked(fill: Fill): void;
}

export class KlineTrader implements Trading {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  readonly planner: Planner;
  readonly legsAlone: LegsAlone;
  readonly risk: Risk;
  readonly venue: PaperOnKlines;
  readonly log = new KlineLog();
  readonly entries = new EntryCounts();
  readonly band: Band;
  readonly margin: MarginAccounts | undefined;
  readonly #lanes = new Map<string, Lane>();
  readonly #laneOf: (symbol: string) => string;
  readonly #clock: SimClock;
  readonly #listener: TraderListener;
  /** Kills that are not obeyed yet, and the orders that they cancel: one can come in the midst of a fill. */
  #fresh: { readonly kill: Kill; readonly resting: readonly WorkingOrder[] }[] = [];
  #sequence = 0;

  constructor(input: RunInput, clock: SimClock, listener: TraderListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#laneOf = lanesOf(input.hosted);
    this.band = bandOf(input);
    this.portfolio = new Portfolio(input.instruments, input.allocations);
    this.protection = new Protection(this.portfolio, () => {});
    this.planner = new Planner({
      portfolio: this.portfolio,
      protection: this.protection,
      ...planTerms(input),
      changed: (leg, lots, decision) => {
        this.entries.changed(leg);
        this.log.signal(leg, lots, decision);
      },
      mayChange: (leg) => this.risk.mayChange(leg),
      restriction: (strategy) => this.risk.restriction(strategy),
      unsent: (draft, denial) => this.log.denied(draft, denial, this.portfolio, clock.now()),
    });
    this.legsAlone = new LegsAlone({
      ...{ portfolio: this.portfolio, planner: this.planner, protection: this.protection },
      ...{ account: input.account, rules: aloneRules(input.hosted) },
    });
    const { limits, instruments, rules, fees } = input;
    this.risk = new Risk({
      limits,
      portfolio: this.portfolio,
      clock,
      ...(input.newVersions !== undefined && { newVersions: input.newVersions }),
      disabled: (kill) => this.kill(kill),
      signalDenied: (leg, denial) => void this.log.entries.push(signalDenialRow(leg, denial, clock.now())),
    });
    this.venue = new PaperOnKlines({
      ...{ instruments, rules, fees },
      balances: openingBalances(input),
      keepsClosed: false,
      mayOwe: input.margin !== undefined,
      ...marketsOf(input),
      listener: this.entries.listening({
        fill: (trade, intent) => this.#onFill(trade, intent),
        end: (report, intent) => this.#onEnd(report, intent),
      }),
    });
    this.margin = marginOn(input, clock, this, (entry) => void this.log.entries.push(entry), this.venue);
  }

  /** A stop was reached: the position is closed, and stays closed while the target stays the same. */
  hitStop({ strategy, symbol }: { readonly strategy: string; readonly symbol: string }, why: string): void {
    const leg = exitOf(this.planner, strategy, symbol, why, this.#clock.now());
    if (leg === undefined) return;
    this.protection.exit(strategy, symbol, leg.signal.size, why, this.#clock.now());
    this.take(decisionOf(leg));
  }

  /** Makes a decision its strategy's standing one; false where nothing is left to do, or it comes too often. */
  note(decision: Decision): boolean {
    const isOpen = this.planner.note(this.legsAlone.completing(decision));
    this.legsAlone.see(decision.strategy, this.#clock.now());
    return isOpen;
  }

  /** Begins to carry out a decision; `settle` does so to its end. */
  take(decision: Decision): void {
    this.#lane(decision.legs[0].symbol).take(decision);
  }

  /** Carries out everything on a symbol, then obeys kills: a cancel is known to have come about only after that. */
  settle(symbol: string): void {
    this.#lane(symbol).settle();
    this.#obeyKills();
  }

  /** When interest is due on a symbol, an entry expires, or a position was held for as long as it may be, UTC ms. */
  due(symbol: string): number {
    const interest = this.margin?.interestDue(symbol) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.protection.exitDue(symbol), this.planner.expiries.due(symbol), interest);
  }

  /** What still rests on a symbol of entries that have expired by UTC ms, or of those of one strategy, is cancelled. */
  expire(symbol: string, now: number, only?: string): void {
    if (this.planner.expiries.due(symbol) > now) return;
    for (const leg of this.planner.expiries.expire(symbol, now, only)) {
      const decision = decisionOf(leg);
      if (this.note(decision)) this.take(decision);
    }
    this.settle(symbol);
  }

  #lane(symbol: string): Lane {
    const name = this.#laneOf(symbol);
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane = new Lane(this, (command) => this.#execute(command));
    this.#lanes.set(name, lane);
    return lane;
  }

  plan(decision: Decision, refused: readonly OrderDraft[]): Step | undefined {
    return this.planner.plan(decision, refused);
  }

  together(_decision: Decision, _refused: readonly OrderDraft[], first: OrderDraft): readonly Sendable[] {
    return [{ draft: first, planned: first }];
  }

  judge(draft: OrderDraft): Judgement {
    const verdict = this.risk.judge(draft);
    this.entries.judged(draft, verdict);
    if (verdict.kind === 'reduced') this.planner.reduced(verdict.draft);
    if (verdict.kind === 'denied') this.log.denied(draft, verdict, this.portfolio, this.#clock.now());
    return verdict;
  }

  reserve(draft: OrderDraft): Intent {
    const intent = intentOf(draft, clientIdOf(this.#sequence++), this.#clock.now(), lifeMs);
    this.portfolio.reserve(intent);
    this.risk.created(draft);
    return intent;
  }

  /** The venue ends an order that found no volume. */
  endUnfilled({ intent }: WorkingOrder): void {
    this.venue.market(intent.symbol).cancel(intent.clientOrderId);
  }

  /** One more order like the last that is over, from UTC ms to UTC ms. */
  endAnother(createdAt: number, closedAt: number): void {
    const { orders } = this.log;
    const { decision } = orders.numbers(orders.length - 1);
    const orderId = Number(this.venue.funds.takeId());
    orders.pushAgain({ sequence: this.#sequence++, orderId, decision, createdAt, closedAt });
  }

  /** Sends an order that was approved before. */
  send(draft: OrderDraft): void {
    this.#submit(this.reserve(draft));
  }

  #execute(command: Command): readonly SubmitResult[] {
    if (command.kind === 'submit') return command.intents.map((intent) => this.#submit(intent));
    if (!command.order.cancelRequested) this.#cancel(command.order);
    return [];
  }

  #cancel(order: WorkingOrder): void {
    if (order.orderId === undefined) return;
    order.cancelRequested = true;
    this.venue.cancel({ symbol: order.intent.symbol, orderId: order.orderId });
  }

  #submit(intent: Intent): SubmitResult {
    const order = this.portfolio.order(intent.clientOrderId) as WorkingOrder;
    this.#listener.sent(intent.symbol);
    const outcome = this.venue.submit(intent);
    if (outcome.kind === 'accepted') {
      order.orderId = outcome.report.orderId;
      if (!isClosed(order.state)) order.state = 'open';
      return 'accepted';
    }
    this.#finish(order, 'rejected');
    return 'rejected';
  }

  #onFill(trade: PaperTrade, intent: Intent): void {
    const fill = fillOf(trade, intent);
    this.log.fills.push(fill);
    this.portfolio.apply(fill);
    this.planner.booked(fill);
    this.legsAlone.see(fill.strategy, this.#clock.now());
    this.risk.booked(fill);
    this.margin?.booked(fill);
    this.#listener.changed(intent.strategy, intent.symbol);
    this.band.listener.fill(trade, intent);
    this.#listener.booked(fill);
  }

  #onEnd(report: OrderReport, intent: Intent): void {
    const order = this.portfolio.order(intent.clientOrderId);
    if (order === undefined) return;
    order.orderId = report.orderId;
    order.venueStatus = report.status;
    order.executed = report.executed;
    this.#finish(order, report.status === 'FILLED' ? 'filled' : 'canceled');
    this.#listener.changed(intent.strategy, intent.symbol);
  }

  #finish(order: WorkingOrder, state: 'filled' | 'canceled' | 'rejected'): void {
    this.portfolio.close(order, state);
    this.log.closed(order, this.#clock.now());
  }

  /** To be obeyed. A cancel is asked for also of what has filled at the exchange in this moment, as live, where nobody has polled yet. */
  kill(kill: Kill): void {
    const resting = [...this.portfolio.orders()].filter(
      ({ state, cancelRequested, intent }) =>
        state === 'open' && !cancelRequested && this.risk.switch.against(intent) !== undefined,
    );
    for (const order of resting) order.cancelRequested = true;
    this.#fresh.push({ kill, resting });
  }

  /** Writes kills down and cancels what they stop. */
  #obeyKills(): void {
    if (this.#fresh.length === 0) return;
    for (const { kill, resting } of this.#fresh.splice(0)) {
      this.log.entries.push({ ...kill, strategy: kill.strategy ?? null });
      for (const order of resting) if (order.state === 'open') this.#cancel(order);
    }
  }
}
