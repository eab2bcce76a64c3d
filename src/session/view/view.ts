/** The view of a running daemon: journal entries as they come, and the state of its components. */

import {
  type DaemonState,
  type DecisionView,
  type EquityPoint,
  type FillView,
  type KlineView,
  maxEquityPoints,
  maxKlines,
  type OpenOrderView,
  type UnknownView,
  type View,
  viewVersion,
  type WeightView,
} from '../../dashboard/view.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { openTimeOf } from '../../domain/interval.ts';
import type { Kline, Trade } from '../../domain/market.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import { actionWords, denialText } from '../../domain/words.ts';
import type { DenialEntry, Entry, EventEntry, FillEntry, SignalEntry } from '../../journal/entries.ts';
import type { Loaded } from '../../journal/load.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { Hosted } from '../../strategy/host.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { draftText, signalText } from '../../trading/format.ts';
import type { UnprotectedTimes } from '../watch/unprotected-time.ts';
import { Notices } from './notices.ts';
import { formerIn, strategyView } from './strategy-view.ts';

const mostDecisions = 60;
const mostFills = 200;
const mostUnknowns = 20;
const mostSteps = 12;
const dayMs = 86_400_000;

export interface ScreenOptions {
  readonly mode: string;
  readonly isRealMoney: boolean;
  readonly exchangeUrl: string;
  readonly speed: number;
  readonly hosted: readonly (Hosted & { readonly use: string })[];
  readonly assembled: Assembled;
  readonly unprotected: Pick<UnprotectedTimes, 'of'>;
  readonly now: () => number;
  readonly weight: () => WeightView;
  /** Why no order is created at the moment, until that passes by itself. */
  readonly blocked: () => string | undefined;
  /** Why no market data comes. */
  readonly noMarketData?: () => string | undefined;
  readonly loaded: Loaded;
}

interface Forming {
  readonly closed: KlineView[];
  forming: KlineView | undefined;
}

export class Screen {
  state: DaemonState = 'starting';
  readonly #options: ScreenOptions;
  readonly #decisions: DecisionView[] = [];
  readonly #fills: FillView[] = [];
  readonly #unknowns = new Map<string, UnknownView>();
  readonly #notices = new Notices();
  readonly #equity: EquityPoint[] = [];
  readonly #klines = new Map<string, Forming>();
  readonly #errors = new Map<string, string>();
  /** By symbol, the strategy whose klines are charted: the first one. */
  readonly #charted = new Map<string, Hosted>();
  #startEquity: string | undefined;
  /** What stood there before this run did anything: no news. */
  readonly before: Pick<View, 'fills' | 'notices'>;

  constructor(options: ScreenOptions) {
    this.#options = options;
    for (const one of options.hosted) if (!this.#charted.has(one.symbol)) this.#charted.set(one.symbol, one);
    for (const fill of options.loaded.past.newestFills(mostFills)) this.#addFill(fill);
    this.#equity.push(...options.loaded.equity.slice(-maxEquityPoints));
    this.#startEquity = options.loaded.firstEquity;
    for (const kill of [...options.loaded.kills, ...options.loaded.halts]) this.#notices.see(kill);
    this.before = { fills: [...this.#fills], notices: [...this.#notices.list] };
  }

  /** Takes an entry of the journal. */
  see(entry: Entry): void {
    if (entry.kind === 'signal') this.#addSignal(entry);
    else if (entry.kind === 'denied') this.#addDenial(entry);
    else if (entry.kind === 'event') this.#addEvent(entry);
    else if (entry.kind === 'fill') this.#addFill(entry);
    else if (entry.kind === 'equity') {
      this.#startEquity ??= entry.equity;
      keep(this.#equity, { at: entry.at, equity: entry.equity }, maxEquityPoints);
    } else if (entry.kind === 'notice' || entry.kind === 'kill' || entry.kind === 'resume' || entry.kind === 'halt')
      this.#notices.see(entry);
  }

  /** A kill of everything, or a HALT, is in force. */
  get isStopped(): boolean {
    const { risk, execution } = this.#options.assembled;
    return execution.halts.inForce.length > 0 || risk.switch.inForce.some((kill) => kill.strategy === undefined);
  }

  /** A strategy threw. */
  failed(id: string, error: string): void {
    this.#errors.set(id, error);
  }

  /** A closed kline, of the past or of now. */
  addKline(kline: Kline): void {
    if (kline.interval !== this.#charted.get(kline.symbol)?.interval) return;
    const chart = this.#chart(kline.symbol);
    if ((chart.closed.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY) < kline.openTime)
      keep(chart.closed, kline, maxKlines);
    if (chart.forming !== undefined && chart.forming.openTime <= kline.openTime) chart.forming = undefined;
  }

  /** A print: the kline that is still open grows by it. */
  addTrade({ symbol, time, price, quantity }: Trade): void {
    const interval = this.#charted.get(symbol)?.interval;
    if (interval === undefined) return;
    const chart = this.#chart(symbol);
    const openTime = openTimeOf(interval, time);
    if (openTime <= (chart.closed.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY)) return;
    const { forming } = chart;
    chart.forming =
      forming?.openTime === openTime
        ? {
            ...forming,
            high: Math.max(forming.high, price),
            low: Math.min(forming.low, price),
            close: price,
            volume: forming.volume + quantity,
          }
        : { openTime, open: price, high: price, low: price, close: price, volume: quantity };
  }

  klines(symbol: string): readonly KlineView[] {
    const { closed, forming } = this.#chart(symbol);
    return forming === undefined ? closed : [...closed, forming];
  }

  view(): View {
    const { mode, isRealMoney, exchangeUrl, speed, hosted, assembled, unprotected, now, weight } = this.#options;
    const { portfolio, risk, execution } = assembled;
    const equity = unitsText(portfolio.totalEquity());
    const state = this.state === 'ready' && this.isStopped ? 'killed' : this.state;
    const strategies = [
      ...hosted.map((one) =>
        strategyView(assembled, unprotected.of(one.id, one.symbol), one, this.#errors.get(one.id)),
      ),
      ...formerIn(assembled.portfolio, hosted).map((place) =>
        strategyView(assembled, unprotected.of(place.id, place.symbol), place),
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
      stateText: this.#stateText(state, strategies.filter(({ status }) => status === 'running').length),
      noMarketData: this.#options.noMarketData?.(),
      equity: {
        asset: hosted[0]?.instrument.quote ?? '',
        now: equity,
        dayStart:
          this.#equity.find(({ at }) => at >= now() - (now() % dayMs))?.equity ?? unitsText(risk.dayStart.equity),
        start: this.#startEquity ?? equity,
        series: this.#equity,
      },
      markets: [...this.#charted.values()].map(({ symbol, interval, instrument }) => ({
        symbol,
        interval,
        last: portfolio.lastMark(symbol)?.price.toFixed(instrument.pricePrecision),
        pricePrecision: instrument.pricePrecision,
      })),
      strategies,
      openOrders: [...portfolio.orders()].map((order) => orderView(order, portfolio.instrument(order.intent.symbol))),
      decisions: this.#decisions,
      fills: this.#fills,
      weight: weight(),
      unknowns: [...this.#unknowns.values()].sort(
        (a, b) => Number(a.resolved !== undefined) - Number(b.resolved !== undefined) || b.since - a.since,
      ),
      notices: this.#notices.list,
      actions: actionWords,
    };
  }

  /** `running`: how many strategies do. */
  #stateText(state: DaemonState, running: number): string {
    const { assembled } = this.#options;
    const kill = assembled.risk.switch.inForce.find(({ strategy }) => strategy === undefined);
    const [halt] = assembled.execution.halts.inForce;
    const unknown = [...assembled.portfolio.orders()].filter((order) => order.state === 'unknown').length;
    if (state === 'killed' && kill !== undefined)
      return `No order is created: ${kill.reason}. Resume here, or with: npx sluice resume`;
    if (state === 'killed' && halt !== undefined)
      return `HALT, no order is created: ${halt.text}. Check the cause, then resume here, or with: npx sluice resume`;
    if (state === 'starting') return 'Connecting to the exchange.';
    if (state === 'recovering')
      return 'Asking the exchange what became of earlier orders; strategies start after that.';
    if (state === 'stopping') return 'Stopping.';
    const blocked = this.#options.blocked();
    if (blocked !== undefined)
      return `No order is created: ${blocked}. Cancels and queries go on; the block ends automatically.`;
    const missing = this.#options.noMarketData?.();
    if (missing !== undefined) return `No market data: ${missing}. Retrying; no new positions until it resumes.`;
    const resolving =
      unknown === 0 ? '' : ` ${unknown} ${unknown === 1 ? 'outcome is' : 'outcomes are'} being resolved.`;
    if (running === 0) return `No strategy is running: each one shows why it stopped.${resolving}`;
    return `Trading. ${running} ${running === 1 ? 'strategy' : 'strategies'} running.${resolving}`;
  }

  #chart(symbol: string): Forming {
    const known = this.#klines.get(symbol);
    if (known !== undefined) return known;
    const made: Forming = { closed: [], forming: undefined };
    this.#klines.set(symbol, made);
    return made;
  }

  #addSignal({ at, strategy, symbol, signal }: SignalEntry): void {
    const draft = signalText(signal, this.#options.assembled.portfolio.instrument(symbol));
    first(
      this.#decisions,
      {
        at,
        strategy,
        symbol,
        draft,
        reason: signal.reason,
        verdict: 'none',
        code: undefined,
        text: signal.reason,
      },
      mostDecisions,
    );
  }

  #addDenial({ at, strategy, symbol, code, facts, draft, reason }: DenialEntry): void {
    const latest = this.#decisions[0];
    const entry: DecisionView = {
      at,
      strategy,
      symbol,
      draft: draft,
      reason,
      verdict: 'denied',
      code,
      text: denialText({ code, facts }, this.#options.speed),
    };
    if (latest?.verdict === 'denied' && latest.strategy === strategy && latest.code === code && latest.draft === draft)
      this.#decisions[0] = entry;
    else first(this.#decisions, entry, mostDecisions);
  }

  #addEvent(event: EventEntry): void {
    const order = this.#options.assembled.portfolio.order(event.clientOrderId);
    if (order !== undefined && event.event === 'approved') this.#addApproval(event.at, order);
    const isOpenOutcome = event.event === 'unknown' || event.event === 'quarantined';
    const isShown = this.#unknowns.get(event.clientOrderId)?.resolved === undefined;
    if (isOpenOutcome && order !== undefined && !(this.#unknowns.has(event.clientOrderId) && isShown))
      this.#beginUnknown(event, order);
    const unknown = this.#unknowns.get(event.clientOrderId);
    if (unknown === undefined || unknown.resolved !== undefined) return;
    if (event.event === 'resolving') {
      const text =
        event.detail['sweep'] === 'complete'
          ? 'Queried open orders and own trades: not there yet.'
          : event.detail['balances'] === undefined
            ? `A sweep failed: ${String(event.detail['sweep'])}.`
            : `Compared the balances: ${String(event.detail['balances'])}.`;
      this.#unknowns.set(event.clientOrderId, {
        ...unknown,
        steps: [...unknown.steps, { at: event.at, text }].slice(-mostSteps),
      });
    } else if (event.event === 'found') {
      const text = `Found at the exchange as order ${String(event.detail['orderId'])}, ${String(event.detail['status']).toLowerCase().replace('_', ' ')}: it had taken effect.`;
      this.#unknowns.set(event.clientOrderId, { ...unknown, resolved: { at: event.at, text } });
    } else if (event.event === 'absent' || event.event === 'resolved') {
      const text =
        event.event === 'absent'
          ? 'It did not take effect: two complete sweeps missed it, and the balances are explained without it.'
          : `Resolved by hand as ${String(event.detail['as'])}: ${String(event.detail['reason'])}.`;
      this.#unknowns.set(event.clientOrderId, { ...unknown, resolved: { at: event.at, text } });
    } else if (event.event === 'quarantined') {
      const text = `Quarantined: ${String(event.detail['evidence'] ?? event.detail['cause'])}. It stays reserved and blocks its symbol.`;
      this.#unknowns.set(event.clientOrderId, {
        ...unknown,
        steps: [...unknown.steps, { at: event.at, text }].slice(-mostSteps),
      });
    }
  }

  #beginUnknown(event: EventEntry, { intent }: WorkingOrder): void {
    const order = draftText(intent, this.#options.assembled.portfolio.instrument(intent.symbol));
    this.#unknowns.set(event.clientOrderId, {
      clientOrderId: event.clientOrderId,
      strategy: intent.strategy,
      symbol: intent.symbol,
      order,
      since: event.at,
      cause: String(event.detail['cause'] ?? event.detail['evidence'] ?? 'no answer'),
      steps: [],
      resolved: undefined,
    });
    for (const [id, unknown] of this.#unknowns) {
      if (this.#unknowns.size <= mostUnknowns) break;
      if (unknown.resolved !== undefined) this.#unknowns.delete(id);
    }
  }

  #addApproval(at: number, { intent }: WorkingOrder): void {
    const draft = draftText(intent, this.#options.assembled.portfolio.instrument(intent.symbol));
    const { strategy, symbol, reason } = intent;
    first(
      this.#decisions,
      {
        at,
        strategy,
        symbol,
        draft,
        reason,
        verdict: 'approved',
        code: undefined,
        text: `Approved: ${reason}.`,
      },
      mostDecisions,
    );
  }

  #addFill({
    tradeId,
    orderId,
    clientOrderId,
    strategy,
    symbol,
    side,
    price,
    quantity,
    fee,
    feeAsset,
    maker,
    purpose,
    time,
  }: FillEntry): void {
    const shown = {
      tradeId,
      orderId,
      clientOrderId,
      strategy,
      symbol,
      side,
      price,
      quantity,
      fee,
      feeAsset,
      maker,
      purpose,
      time,
    };
    first(this.#fills, shown, mostFills);
  }
}

function keep<T>(list: T[], item: T, most: number): void {
  list.push(item);
  if (list.length > most) list.splice(0, list.length - most);
}

function first<T>(list: T[], item: T, most: number): void {
  list.unshift(item);
  if (list.length > most) list.length = most;
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
