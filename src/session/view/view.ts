/** The view of a running daemon: journal entries as they come, and the state of its components. */

import type { KlinesAsked, KlinesView } from '../../dashboard/klines.ts';
import {
  type DaemonState,
  type DecisionView,
  type EquityPoint,
  type FillView,
  type KlineView,
  maxEquityPoints,
  type OpenOrderView,
  type StrategyView,
  type UnknownView,
  type View,
  viewVersion,
  type WeightView,
} from '../../dashboard/view.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Kline, Trade } from '../../domain/market.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import { actionWords, denialText } from '../../domain/words.ts';
import type { DenialEntry, Entry, EventEntry, FillEntry, SignalEntry } from '../../journal/entries.ts';
import type { Loaded } from '../../journal/load.ts';
import { pendingText } from '../../portfolio/flattening.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { limitUse } from '../../risk/limit-use.ts';
import type { HostedMarket } from '../../strategy/host.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { draftText, signalText } from '../../trading/format.ts';
import { marketsOf, tradedSymbols } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { inForceOf } from '../control/kill-texts.ts';
import { eventText, fillView, resolvedText, type SessionEvent, unknownCause } from '../log/events.ts';
import { withState } from '../state-in-commands.ts';
import type { UnprotectedTimes } from '../watch/unprotected-time.ts';
import { KlineCharts } from './kline-charts.ts';
import { isKillEntry, Notices } from './notices.ts';
import { formerIn, leftOpenText, shownOf, strategyView } from './strategy-view.ts';

const maxDecisions = 60;
const maxFills = 200;
const maxUnknowns = 20;
const maxSteps = 12;
const dayMs = 86_400_000;

export interface ScreenOptions {
  readonly mode: string;
  readonly isRealMoney: boolean;
  readonly exchangeUrl: string;
  /** What commands in the texts need to find the state directory. */
  readonly stateOption?: string;
  readonly speed: number;
  readonly hosted: readonly NamedHosted[];
  readonly assembled: Assembled;
  readonly unprotected: Pick<UnprotectedTimes, 'of'>;
  readonly now: () => number;
  readonly weight: () => WeightView;
  /** Why no order is created at the moment, until that passes by itself. */
  readonly blocked: () => string | undefined;
  /** Why nothing can be sent at the moment, exits included. */
  readonly banned?: () => string | undefined;
  /** Why no market data comes. */
  readonly noMarketData?: () => string | undefined;
  readonly loaded: Loaded;
}

export class Screen {
  state: DaemonState = 'starting';
  readonly #options: ScreenOptions;
  readonly #decisions: DecisionView[] = [];
  readonly #fills: FillView[] = [];
  readonly #unknowns = new Map<string, UnknownView>();
  readonly #notices: Notices;
  readonly #equity: EquityPoint[] = [];
  readonly #charts = new KlineCharts();
  readonly #errors = new Map<string, string>();
  /** By symbol, the market whose klines are charted at first: that of the first strategy. */
  readonly #charted = new Map<string, HostedMarket>();
  #startEquity: string | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#notices = new Notices(options.stateOption);
    for (const one of options.hosted.flatMap(marketsOf))
      if (!this.#charted.has(one.symbol)) this.#charted.set(one.symbol, one);
    for (const one of options.hosted) this.#charts.add(one);
    for (const fill of options.loaded.past.newestFills(maxFills)) this.#addFill(fill);
    this.#equity.push(...options.loaded.equity.slice(-maxEquityPoints));
    this.#startEquity = options.loaded.firstEquity;
    for (const kill of [...options.loaded.kills, ...options.loaded.halts]) this.#notices.see(kill);
  }

  /** Takes an entry of the journal. `ban`: why nothing can be sent now, exits included. */
  see(entry: Entry, ban?: string): void {
    if (entry.kind === 'signal' || entry.kind === 'fill') this.#notices.positionChanged(entry);
    if (entry.kind === 'signal') this.#addSignal(entry);
    else if (entry.kind === 'denied') this.#addDenial(entry);
    else if (entry.kind === 'event') this.#addEvent(entry);
    else if (entry.kind === 'fill') this.#addFill(entry);
    else if (entry.kind === 'equity') {
      this.#startEquity ??= entry.equity;
      keep(this.#equity, { at: entry.at, equity: entry.equity }, maxEquityPoints);
    } else if (entry.kind === 'notice' || isKillEntry(entry)) this.#notices.see(entry, ban);
  }

  /** Of the events, an exit that the exchange rejected is a banner. */
  seeEvent(event: SessionEvent): void {
    if (event.kind === 'rejected' && event.level === 'error')
      this.#notices.exitRejected(event, event.time, eventText(event));
  }

  /** A kill of everything, or a HALT, is in force. */
  get isStopped(): boolean {
    const { risk, execution } = this.#options.assembled;
    return execution.halts.inForce.length > 0 || risk.switch.ofAll?.kind === 'kill';
  }

  /** Of the kill or the pause of all that is in force. */
  get reason(): string | undefined {
    return this.#options.assembled.risk.switch.ofAll?.reason;
  }

  /** `killed` where a daemon that is ready may create nothing. */
  get shownState(): DaemonState {
    return this.state === 'ready' && this.isStopped ? 'killed' : this.state;
  }

  /** A strategy threw. */
  failed(id: string, error: string): void {
    this.#errors.set(id, error);
  }

  /** What a strategy threw that is stopped. */
  errorOf(id: string): string | undefined {
    return this.#errors.get(id);
  }

  /** It runs, again where it threw before. */
  began(id: string): void {
    this.#errors.delete(id);
    // New code may have indicators over other intervals.
    for (const one of this.#options.hosted) if (one.id === id) this.#charts.add(one);
  }

  /** Klines of a market from before now, oldest first. */
  addHistory(history: readonly Kline[]): void {
    this.#charts.addHistory(history);
  }

  /** A closed kline. */
  addKline(kline: Kline): void {
    this.#charts.addKline(kline);
  }

  /** A print: the klines that are still open grow by it. */
  addTrade(trade: Trade): void {
    this.#charts.addTrade(trade);
  }

  /** The klines of a chart of a market. */
  klines(symbol: string, interval: string): readonly KlineView[] {
    return this.#charts.klines(symbol, interval);
  }

  /** What a page asks for its chart. */
  klinesView(asked: KlinesAsked): KlinesView {
    return this.#charts.view(asked);
  }

  view(): View {
    const { mode, isRealMoney, exchangeUrl, speed, hosted, assembled, unprotected, now, weight } = this.#options;
    const { portfolio, risk, execution } = assembled;
    const equity = unitsText(portfolio.totalEquity());
    const state = this.shownState;
    const strategies = [
      ...shownOf(portfolio, hosted).map((one) =>
        strategyView(assembled, unprotected.of(one.id, one.symbol), one, this.#errors.get(one.id)),
      ),
      ...formerIn(portfolio, tradedSymbols(hosted)).map((former) =>
        strategyView(assembled, unprotected.of(former.id, former.symbol), former),
      ),
    ];
    return {
      version: viewVersion,
      mode,
      isRealMoney,
      exchangeUrl,
      account: execution.account,
      marketTime: now(),
      speed,
      state,
      stateText: [
        withState(this.#stateText(state, strategies), this.#options.stateOption ?? '', this.reason),
        ...assembled.flattening.pending().map((flatten) => `Flatten of ${pendingText(flatten, state !== 'stopping')}.`),
      ].join(' '),
      noMarketData: this.#options.noMarketData?.(),
      blocked: this.#options.blocked(),
      equity: {
        asset: hosted[0]?.instrument.quote ?? '',
        now: equity,
        dayStart:
          this.#equity.find(({ at }) => at >= now() - (now() % dayMs))?.equity ?? unitsText(risk.dayStart.equity),
        start: this.#startEquity ?? equity,
        series: this.#equity,
      },
      markets: [...this.#charted.values()].map(({ symbol, interval, instrument }) => ({
        ...{ symbol, interval, intervals: this.#charts.intervals(symbol) },
        last: (portfolio.lastMark(symbol)?.price ?? this.klines(symbol, interval).at(-1)?.close)?.toFixed(
          instrument.pricePrecision,
        ),
        pricePrecision: instrument.pricePrecision,
      })),
      strategies,
      openOrders: [...portfolio.orders()].map((order) => orderView(order, portfolio.instrument(order.intent.symbol))),
      decisions: this.#decisions,
      fills: this.#fills,
      limits: limitUse(risk, portfolio, tradedSymbols(hosted)),
      weight: weight(),
      unknowns: [...this.#unknowns.values()].sort(
        (a, b) => Number(a.resolved !== undefined) - Number(b.resolved !== undefined) || b.since - a.since,
      ),
      notices: this.#notices.list,
      inForce: inForceOf(assembled, this.#options.banned?.()),
      actions: actionWords,
    };
  }

  #stateText(state: DaemonState, strategies: readonly StrategyView[]): string {
    const { assembled } = this.#options;
    const kill = assembled.risk.switch.ofAll;
    const [halt] = assembled.execution.halts.inForce;
    const unknown = [...assembled.portfolio.orders()].filter((order) => order.state === 'unknown').length;
    if (state === 'killed' && kill !== undefined)
      return `${kill.everything ? 'No order' : 'No order but exits'} is created: ${kill.reason}. Resume here, or with: npx sluice resume`;
    if (state === 'killed' && halt !== undefined)
      return `HALT, no order is created: ${halt.text}. Check the cause, then resume here, or with: npx sluice resume`;
    if (state === 'starting') return 'Connecting to the exchange.';
    if (state === 'recovering') return 'Querying the outcome of earlier orders; strategies start after that.';
    if (state === 'stopping') return ['Stopping.', leftOpenText(strategies) ?? []].flat().join(' ');
    const blocked = this.#options.blocked();
    if (blocked !== undefined) return `No order is created: ${blocked}. The block ends automatically.`;
    const missing = this.#options.noMarketData?.();
    if (missing !== undefined)
      return `No market data: ${missing}. Retrying; no new positions until it resumes, and stops do not work.`;
    const resolving =
      unknown === 0 ? '' : ` ${unknown} ${unknown === 1 ? 'outcome is' : 'outcomes are'} being resolved.`;
    if (kill !== undefined)
      return `All strategies are paused: ${kill.reason}. Nothing is entered, exits go on.${resolving} Resume here, or with: npx sluice resume`;
    const configured = strategies.filter(({ status }) => status !== 'former');
    const running = idsOf(configured.filter(({ status }) => status === 'running')).size;
    if (configured.length > 0 && configured.every(({ status }) => status === 'paused'))
      return `All strategies are paused. Nothing is entered, exits go on.${resolving} Resume here, or with: npx sluice resume`;
    if (running === 0) return `No strategy is running: each one shows why it stopped.${resolving}`;
    return `Trading. ${running} ${running === 1 ? 'strategy' : 'strategies'} running.${resolving}`;
  }

  #instrument(symbol: string): Instrument {
    return this.#options.assembled.portfolio.instrument(symbol);
  }

  #addDecision(decision: DecisionView): void {
    first(this.#decisions, decision, maxDecisions);
  }

  #addSignal({ at, strategy, symbol, signal }: SignalEntry): void {
    const { reason } = signal;
    const draft = signalText(signal, this.#instrument(symbol));
    this.#addDecision({ at, strategy, symbol, draft, reason, verdict: 'none', code: undefined, text: reason });
  }

  #addDenial({ at, strategy, symbol, code, facts, draft, reason }: DenialEntry): void {
    const latest = this.#decisions[0];
    const text = denialText({ code, facts }, this.#options.speed);
    // A repetition takes the place of the last one.
    if (latest?.verdict === 'denied' && latest.strategy === strategy && latest.code === code && latest.draft === draft)
      this.#decisions.shift();
    this.#addDecision({ at, strategy, symbol, draft, reason, verdict: 'denied', code, text });
  }

  #addApproval(at: number, { intent }: WorkingOrder): void {
    const { strategy, symbol, reason, clientOrderId: order } = intent;
    const draft = draftText(intent, this.#instrument(symbol));
    const text = `Approved: ${reason}.`;
    this.#addDecision({ at, strategy, symbol, draft, reason, verdict: 'approved', order, code: undefined, text });
  }

  #addEvent(event: EventEntry): void {
    const { at, clientOrderId } = event;
    const order = this.#options.assembled.portfolio.order(clientOrderId);
    if (order !== undefined && event.event === 'approved') this.#addApproval(at, order);
    const isOpenOutcome = event.event === 'unknown' || event.event === 'quarantined';
    if (isOpenOutcome && order !== undefined && this.#openUnknown(clientOrderId) === undefined)
      this.#beginUnknown(event, order);
    const unknown = this.#openUnknown(clientOrderId);
    if (unknown === undefined) return;
    const [step, resolved] = [stepText(event), resolvedText(event.event, event.detail)];
    if (step !== undefined) {
      const steps = [...unknown.steps, { at, text: step }].slice(-maxSteps);
      this.#unknowns.set(clientOrderId, { ...unknown, steps });
    } else if (resolved !== undefined)
      this.#unknowns.set(clientOrderId, { ...unknown, resolved: { at, text: resolved } });
  }

  /** An unknown outcome that is not resolved yet. */
  #openUnknown(clientOrderId: string): UnknownView | undefined {
    const unknown = this.#unknowns.get(clientOrderId);
    return unknown?.resolved === undefined ? unknown : undefined;
  }

  #beginUnknown({ at: since, clientOrderId, detail }: EventEntry, { intent }: WorkingOrder): void {
    const { strategy, symbol } = intent;
    const order = draftText(intent, this.#instrument(symbol));
    const cause = unknownCause(detail);
    const begun = { clientOrderId, strategy, symbol, order, since, cause, steps: [], resolved: undefined };
    this.#unknowns.set(clientOrderId, begun);
    for (const [id, unknown] of this.#unknowns) {
      if (this.#unknowns.size <= maxUnknowns) break;
      if (unknown.resolved !== undefined) this.#unknowns.delete(id);
    }
  }

  #addFill(fill: FillEntry): void {
    first(this.#fills, fillView(fill), maxFills);
  }
}

/** What was done about an unknown outcome without an end to it; undefined for other events. */
function stepText({ event, detail }: EventEntry): string | undefined {
  if (event === 'quarantined')
    return `Quarantined: ${String(detail['evidence'] ?? detail['cause'])}. It stays reserved and blocks its symbol.`;
  if (event !== 'resolving') return undefined;
  if (detail['sweep'] === 'complete') return 'Queried open orders and own trades: not there yet.';
  return detail['balances'] === undefined
    ? `A sweep failed: ${String(detail['sweep'])}.`
    : `Compared the balances: ${String(detail['balances'])}.`;
}

const idsOf = (strategies: readonly { readonly id: string }[]): ReadonlySet<string> =>
  new Set(strategies.map(({ id }) => id));

function keep<T>(list: T[], item: T, max: number): void {
  list.push(item);
  if (list.length > max) list.splice(0, list.length - max);
}

function first<T>(list: T[], item: T, max: number): void {
  list.unshift(item);
  if (list.length > max) list.length = max;
}

function orderView(order: WorkingOrder, at: Instrument): OpenOrderView {
  const { intent } = order;
  return {
    clientOrderId: intent.clientOrderId,
    orderId: order.orderId,
    strategy: intent.strategy,
    symbol: intent.symbol,
    side: intent.side,
    type: intent.type,
    price: intent.price === undefined ? undefined : priceText(intent.price, at),
    quantity: quantityText(intent.expectedLots, at),
    filled: quantityText(order.filled, at),
    state: order.state,
    createdAt: intent.createdAt,
  };
}
