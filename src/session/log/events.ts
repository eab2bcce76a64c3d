/**
 * What an operator wants to know of, as it happens: fills, denials, rejections, unknown outcomes, kills, pauses and notices. They are made of the entries
 * of the journal. The log, the terminal and alerts receive the same ones.
 */
import type { Observable } from 'rxjs';
import type { DaemonState, FillView } from '../../dashboard/view.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { noLots, quantityText } from '../../domain/money.ts';
import { denialText } from '../../domain/words.ts';
import type {
  DenialEntry,
  Entry,
  EventEntry,
  FillEntry,
  KillEntry,
  Notice,
  NoticeEntry,
  NoticeTopic,
} from '../../journal/entries.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { draftText, fillJson, idEnd } from '../../trading/format.ts';
import { source } from '../../trading/hot-streams.ts';
import { isLimit } from '../control/control-files.ts';
import { isKillEntry, killLevel, killText } from '../view/notices.ts';
import { fillsText } from './fills-text.ts';
import type { Log } from './log.ts';

/** Of one order or of one that was denied; `order` says what was ordered, such as `BUY 0.01 BTC at market`. */
interface OfOrder {
  readonly strategy: string;
  readonly symbol: string;
  readonly order: string;
}

/** What happened to an order that was sent. */
interface OfSentOrder extends OfOrder {
  readonly clientOrderId: string;
}

export type SessionEvent = {
  /** By the exchange's clock, UTC ms. */
  readonly time: number;
  readonly level: NoticeEntry['level'];
  /** The reason in the text that a person typed. */
  readonly typed?: string | undefined;
} & (
  | { readonly kind: 'state'; readonly state: DaemonState; readonly hasMarketData: boolean; readonly text: string }
  | { readonly kind: 'fill'; readonly fill: FillView }
  /** `repeats`: denials of this strategy and symbol by this rule since the last such event, which were not reported. */
  | (OfOrder & { readonly kind: 'denied'; readonly rule: string; readonly text: string; readonly repeats: number })
  | (OfSentOrder & { readonly kind: 'rejected' | 'unknown' | 'resolved'; readonly text: string })
  /** `strategy` null: all. */
  | {
      readonly kind: 'kill' | 'pause' | 'resume' | 'halt';
      /** Of a kill: it stops exits, too. */
      readonly everything: boolean;
      readonly strategy: string | null;
      readonly by: string;
      readonly text: string;
      /** What the operator can do. */
      readonly advice: string | undefined;
    }
  | { readonly kind: 'notice'; readonly topic?: NoticeTopic | undefined; readonly text: string }
  /** `alerts`: a channel of the alerts failed or works again. `summary`: of a day. */
  | { readonly kind: 'alerts' | 'summary'; readonly text: string }
);

/** After a HALT, others of its cause are counted for so long, ms of the clock: a restored journal may lack many orders. */
const haltRepeatMs = 10_000;

/** A strategy may be denied at each kline: the same rule is reported again after this long, ms of the clock. */
const repeatMs = 3_600_000;

/** A kill, a pause or a HALT was reported itself: that it denies orders is no news, and must not use up what a channel may send. */
const reportedThemselves: ReadonlySet<string> = new Set(['killed', 'paused', 'halted']);

export interface EventParts {
  readonly speed: number;
  readonly instrument: (symbol: string) => Instrument;
  /** An order that is not closed yet. */
  readonly order: (clientOrderId: string) => WorkingOrder | undefined;
  readonly now: () => number;
}

export class SessionEvents {
  readonly #parts: EventParts;
  readonly #events = source<SessionEvent>();
  /** By strategy, symbol and cause: when a denial or rejection was reported last, and how many came since. */
  readonly #reported = new Map<string, { at: number; repeats: number }>();
  /** Orders of unknown outcome, by client order id: when one is resolved it is closed already. */
  readonly #unknown = new Map<string, OfSentOrder>();
  /** Before recovery is through, a cancel of the last run may only now be seen to have taken effect. */
  #isRecovered = false;
  /** Strategies with symbols whose last order was a stop. */
  readonly #stopped = new Set<string>();

  /** By cause in force: the newest HALT, when it was reported last, and how many came since. */
  readonly #halts = new Map<string, { newest: KillEntry; at: number; repeats: number }>();

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  get stream(): Observable<SessionEvent> {
    return this.#events.stream;
  }

  /** The daemon's state changed. */
  state(level: SessionEvent['level'], state: DaemonState, hasMarketData: boolean, text: string, typed?: string): void {
    this.#isRecovered = state !== 'starting' && state !== 'recovering';
    this.#events.emit({ kind: 'state', time: this.#parts.now(), level, state, hasMarketData, text, typed });
  }

  /** Something that the journal need not know. */
  notice(notice: Notice): void {
    this.#events.emit({ kind: 'notice', time: this.#parts.now(), ...notice });
  }

  /** What happened in a day. */
  summary(text: string): void {
    this.#events.emit({ kind: 'summary', time: this.#parts.now(), level: 'info', text });
  }

  /** A channel of the alerts failed or works again. */
  ofAlerts(level: Notice['level'], text: string): void {
    this.#events.emit({ kind: 'alerts', time: this.#parts.now(), level, text });
  }

  /** Takes an entry of the journal. `ban`: why nothing can be sent now, exits included. */
  see(entry: Entry, ban?: string): void {
    const event = this.#eventOf(entry, ban);
    if (event !== undefined) this.#events.emit(event);
  }

  #eventOf(entry: Entry, ban: string | undefined): SessionEvent | undefined {
    if (entry.kind === 'fill') {
      // The exchange executes again: its next rejection is news.
      const place = rejectionKey(entry);
      for (const key of this.#reported.keys()) if (key.startsWith(place)) this.#reported.delete(key);
      return { kind: 'fill', time: entry.time, level: 'info', fill: fillView(entry) };
    }
    if (entry.kind === 'denied') return this.#denial(entry);
    if (entry.kind === 'event') return this.#ofOrder(entry);
    if (entry.kind === 'notice') {
      const { at: time, ...notice } = entry;
      return { time, ...notice };
    }
    if (!isKillEntry(entry)) return undefined;
    if (entry.kind === 'resume') this.#forgetLifted(entry);
    const known = entry.kind === 'halt' ? this.#halts.get(entry.by) : undefined;
    if (known !== undefined) {
      known.newest = entry;
      known.repeats += 1;
      return undefined;
    }
    if (entry.kind === 'halt') this.#halts.set(entry.by, { newest: entry, at: entry.at, repeats: 0 });
    return killEvent(entry, { ban });
  }

  /** What is lifted may come again, and is news then. */
  #forgetLifted({ strategy }: KillEntry): void {
    if (strategy === null) this.#halts.clear();
    for (const key of this.#reported.keys()) {
      const [kind, whose, , code = ''] = key.split('\n');
      if (kind === 'denied' && reportedThemselves.has(code) && (strategy ?? whose) === whose)
        this.#reported.delete(key);
    }
  }

  /** Reports how many more HALTs a cause had: a warning, because the first one was the alarm. */
  countHalts(): void {
    const now = this.#parts.now();
    for (const known of this.#halts.values()) {
      const { newest, at, repeats } = known;
      if (repeats === 0 || now - at < haltRepeatMs) continue;
      Object.assign(known, { at: now, repeats: 0 });
      this.#events.emit({ ...killEvent(newest, { more: repeats - 1 }), level: 'warn' });
    }
  }

  #denial({ at, strategy, symbol, code, facts, draft, repeated }: DenialEntry): SessionEvent | undefined {
    const name = ['denied', strategy, symbol, code].join('\n');
    const repeats = this.#unreported(name, at, 1 + (repeated?.times ?? 0));
    if (repeats === undefined) return undefined;
    const text = denialText({ code, facts }, this.#parts.speed);
    const typed = code === 'killed' || code === 'paused' ? String(facts['reason']) : undefined;
    return {
      kind: 'denied',
      time: at,
      level: reportedThemselves.has(code) ? 'info' : 'warn',
      strategy,
      symbol,
      rule: code,
      order: draft,
      text,
      repeats,
      typed,
    };
  }

  /** How many were not reported since the last report of this kind; undefined where that was too recent for another. */
  #unreported(name: string, at: number, times: number): number | undefined {
    const known = getOrMake(this.#reported, name, () => ({ at: Number.NEGATIVE_INFINITY, repeats: 0 }));
    if (at - known.at < repeatMs) {
      known.repeats += times;
      return undefined;
    }
    this.#reported.set(name, { at, repeats: 0 });
    return known.repeats + times - 1;
  }

  /** A stop that nobody takes is sent again each second: the same rejection is reported again after an hour. */
  #rejection(clientOrderId: string, time: number, cause: string): SessionEvent | undefined {
    const [of, order] = [this.#named(clientOrderId), this.#parts.order(clientOrderId)];
    if (of === undefined || order === undefined) return undefined;
    const repeats = this.#unreported(`${rejectionKey(of)}${cause}`, time, 1);
    if (repeats === undefined) return undefined;
    const remains = remainsAfter(order.intent);
    const text = `${cause}${remains === undefined ? '' : `. ${remains}`}${moreText(repeats)}`;
    return { kind: 'rejected', time, level: remains === undefined ? 'warn' : 'error', ...of, text };
  }

  #ofOrder({ at: time, clientOrderId, event, detail }: EventEntry): SessionEvent | undefined {
    if (event === 'rejected')
      return this.#rejection(clientOrderId, time, `${String(detail['message'])} (${String(detail['code'])})`);
    if (event === 'closing') {
      const order = this.#parts.order(clientOrderId);
      if (order === undefined) return undefined;
      const cause = `the exchange ended it with the status ${String(detail['status'])} and executed nothing`;
      return endedAsRejected(order)
        ? this.#rejection(clientOrderId, time, cause)
        : this.#cancelledByOthers(order, time);
    }
    if (event === 'sending') {
      const order = this.#parts.order(clientOrderId)?.intent;
      return order && this.#stopReached(order, time);
    }
    if (event === 'unknown' || event === 'quarantined') {
      const of = this.#named(clientOrderId);
      if (of === undefined || this.#unknown.has(clientOrderId)) return undefined;
      this.#unknown.set(clientOrderId, of);
      return { kind: 'unknown', time, level: 'warn', ...of, text: unknownCause(detail) };
    }
    const text = resolvedText(event, detail);
    const of = this.#unknown.get(clientOrderId);
    if (text === undefined || of === undefined) return undefined;
    this.#unknown.delete(clientOrderId);
    const typed = event === 'resolved' ? String(detail['reason']) : undefined;
    return { kind: 'resolved', time, level: 'info', ...of, text, typed };
  }

  /** In a thin market a stop takes several orders: the first is reported. */
  #stopReached(order: WorkingOrder['intent'], time: number): SessionEvent | undefined {
    const place = `${order.strategy}\n${order.symbol}`;
    const isAgain = this.#stopped.has(place);
    if (order.purpose !== 'stop') this.#stopped.delete(place);
    if (order.purpose !== 'stop' || isAgain) return undefined;
    this.#stopped.add(place);
    const what = draftText(order, this.#parts.instrument(order.symbol));
    const text = `the stop of ${order.strategy} on ${order.symbol} was reached: ${what} is ordered`;
    return { kind: 'notice', time, level: 'warn', topic: 'stopReached', text };
  }

  /** A resting order that was cancelled without a request of this daemon. */
  #cancelledByOthers({ intent, executed, venueStatus, cancelRequested }: WorkingOrder, time: number) {
    if (venueStatus !== 'CANCELED' || cancelRequested || intent.type === 'MARKET' || !this.#isRecovered)
      return undefined;
    const { strategy, symbol } = intent;
    const repeats = this.#unreported(['cancelled', strategy, symbol].join('\n'), time, 1);
    if (repeats === undefined) return undefined;
    const at = this.#parts.instrument(symbol);
    const filled =
      executed === undefined || executed === noLots ? 'nothing' : `${quantityText(executed, at)} ${at.base}`;
    const text = `${strategy} ${symbol} ${draftText(intent, at)}: the order was cancelled, but not by this daemon; ${filled} was filled. It is ordered again while the target asks for it: sluice why ${idEnd(intent.clientOrderId)}${moreText(repeats)}`;
    return { kind: 'notice', time, level: 'warn', topic: 'cancelledByOthers', text } as const;
  }

  #named(clientOrderId: string): OfSentOrder | undefined {
    const intent = this.#parts.order(clientOrderId)?.intent;
    if (intent === undefined) return undefined;
    const { strategy, symbol } = intent;
    return { clientOrderId, strategy, symbol, order: draftText(intent, this.#parts.instrument(symbol)) };
  }
}

/** How many were not reported since the last report. */
const moreText = (repeats: number): string => (repeats === 0 ? '' : ` (${repeats} more since the last report)`);

/** Begins the keys of the rejections at one place. */
const rejectionKey = ({ strategy, symbol }: Pick<OfOrder, 'strategy' | 'symbol'>): string =>
  `rejected\n${strategy}\n${symbol}\n`;

/** The exchange executed nothing, and nobody cancelled it. It ends a market order without anybody to trade with in this way. */
function endedAsRejected({ intent, executed, venueStatus, cancelRequested }: WorkingOrder): boolean {
  if (executed !== noLots) return false;
  return venueStatus === 'REJECTED' || (venueStatus === 'CANCELED' && intent.type === 'MARKET' && !cancelRequested);
}

/** What the rejection of an exit means; undefined for other orders. */
function remainsAfter({ purpose, type }: WorkingOrder['intent']): string | undefined {
  if (purpose === 'stop') return 'The position stays unprotected; the order is sent again';
  const isExit = purpose === 'exit' || purpose === 'flatten' || (purpose === 'takeProfit' && type === 'MARKET');
  return isExit ? 'The position stays open; Sluice tries again' : undefined;
}

function killEvent(entry: KillEntry, now: Parameters<typeof killText>[1]): SessionEvent {
  const { kind, everything, at: time, strategy, by, reason } = entry;
  const typed = kind === 'halt' || isLimit(by) ? undefined : reason;
  return { kind, time, level: killLevel(entry), strategy, everything, by, ...killText(entry, now), typed };
}

/** Without what only the journal needs. */
export function fillView({ kind: _kind, account: _account, evidence: _evidence, ...shown }: FillEntry): FillView {
  return shown;
}

/** Why the outcome of an order is unknown. */
export const unknownCause = (detail: EventEntry['detail']): string =>
  String(detail['cause'] ?? detail['evidence'] ?? 'no answer');

/** How an unknown outcome ended; undefined for other events. */
export function resolvedText(event: EventEntry['event'], detail: EventEntry['detail']): string | undefined {
  if (event === 'found')
    return `Found at the exchange as order ${String(detail['orderId'])}, ${String(detail['status']).toLowerCase().replace('_', ' ')}: it had taken effect.`;
  if (event === 'absent')
    return 'It did not take effect: two complete sweeps missed it, and the balances are explained without it.';
  return event === 'resolved' ? `Resolved by hand as ${String(detail['as'])}: ${String(detail['reason'])}.` : undefined;
}

/** The event in one sentence, without its time. */
export function eventText(event: SessionEvent): string {
  switch (event.kind) {
    case 'state':
      return event.text;
    case 'fill':
      return fillsText([event.fill]);
    case 'denied':
      return `${event.strategy} ${event.symbol} ${event.order}: ${event.text}${moreText(event.repeats)}`;
    case 'unknown':
      return `${event.strategy} ${event.symbol} ${event.order}: outcome unknown, ${event.text}. Sluice asks the exchange until it knows: sluice why ${idEnd(event.clientOrderId)} shows each step`;
    case 'rejected':
    case 'resolved':
      return `${event.strategy} ${event.symbol} ${event.order}: ${event.text}`;
    case 'kill':
    case 'pause':
    case 'resume':
    case 'halt':
      return event.advice === undefined ? event.text : `${event.text} ${event.advice}`;
    case 'notice':
    case 'alerts':
    case 'summary':
      return event.text;
  }
}

/** Whether people read it: not that a daemon that was ready is killed, because the kill or the HALT itself says so. */
export function isForPeople(): (event: SessionEvent) => boolean {
  let before: DaemonState | undefined;
  return (event) => {
    if (event.kind !== 'state') return true;
    const isRepeated = before === 'ready' && event.state === 'killed';
    before = event.state;
    return !isRepeated;
  };
}

/** A line for people. */
export function eventLine(event: SessionEvent): string {
  const time = new Date(event.time).toISOString();
  if (event.kind === 'state')
    return `${time} ${event.state}${event.state === 'ready' && !event.hasMarketData ? ', without data' : ''}: ${event.text}`;
  return `${time} ${(event.kind === 'notice' ? event.level : event.kind).padEnd(10)} ${eventText(event)}`;
}

/** The event as JSON has it (docs/reference/json.md). */
export function eventJson(event: SessionEvent): Readonly<Record<string, unknown>> {
  const { kind, time, level, typed: _, ...rest } = event;
  return { kind, time, level, ...('fill' in rest ? fillJson(rest.fill) : rest) };
}

/** Writes it as a line of the log, whose own time is the machine's; `at` is the exchange's. */
export function logEvent(log: Log, event: SessionEvent): void {
  const { level, time: at, typed: _, ...rest } = event;
  // The message contains the text.
  log[level]({ at, ...rest, text: undefined }, eventText(event));
}
