/**
 * Sweeps: reads the open orders and the account's trades, symbol by symbol. Every fill enters here, whether its order was answered, lost
 * or sent before a restart. The exchange has no private stream.
 */
import { Observable, type Subscriber } from 'rxjs';
import { pause } from '../clock/clock.ts';
import type { Fill, OrderReport, VenueTrade } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Answer, queryFailure } from '../venue/venue.ts';
import { Booking, compareIds, newestOf, RecentTrades, sorted } from './booking.ts';
import type { Execution } from './context.ts';
import { FillSums, quarantine } from './order-steps.ts';
import { Attribution, noSuchOrder, type Unseen } from './reconcile/attribute.ts';
import { watchClosedOrders } from './resting-closed-orders.ts';

/** Pages read in one sweep; with more the sweep is incomplete. */
const maxPages = 20;
/** After this long an order that the exchange knew and does not find is quarantined, real ms. */
const missingMs = 300_000;
/** Codes of a refused key (specification §7). */
const keyCodes: ReadonlySet<string> = new Set(['-1002', '-1022', '-2014', '-2015']);
/** The reason of an aborted wait. Without one, each abort would create an exception with its stack. */
const now = 'now';
const openTruncated = 'the list of open orders is truncated';
const tradesTruncated = 'the list of own trades is truncated';
const noReports: ReadonlyMap<string, OrderReport> = new Map<string, OrderReport>();

const noEchoDedicated =
  'the exchange does not return client ids: an order of unknown outcome is found by its symbol, side, type, price, quantity and time, since nobody else trades on this account (dedicatedAccount)';
const noEchoShared = (orderId: string): string =>
  `the exchange does not return the client id of order ${orderId}: an order of unknown outcome stays unknown or is quarantined until you decide (sluice resolve). If nobody else trades on this account, set dedicatedAccount: true`;

export interface SweepResult {
  /** Every request succeeded and neither list is truncated: only then is a missing order evidence. */
  readonly complete: boolean;
  /** What failed or is truncated, for the timeline. */
  readonly cause: string | undefined;
  /** True when a request failed or a trade is invalid: the next sweep may see more. Truncated lists stay truncated. */
  readonly failed: boolean;
}

/** Sweeps of a symbol that the exchange answered, by the time at which each began, UTC ms. */
export interface AnsweredSweeps {
  /** The first one after the last that failed; undefined if the last one failed. */
  readonly since: number | undefined;
  readonly last: number | undefined;
  /** Why the last one failed. */
  readonly failure: string | undefined;
}

/** Without an answered sweep for so long the exchange counts as away, real ms: longer than any pause between two sweeps. */
export const silentMs = 60_000;

export class Sweeps {
  readonly #execution: Execution;
  readonly #recent = new Map<string, RecentTrades>();
  readonly #running = new Map<string, Promise<SweepResult>>();
  readonly #waits = new Map<string, AbortController>();
  /** The open orders of each symbol as last listed, ours and others'. */
  readonly #open = new Map<string, readonly OrderReport[]>();
  readonly #missingSince = new Map<WorkingOrder, number>();
  readonly #oddSince = new Map<WorkingOrder, number>();
  readonly #answered = new Map<string, AnsweredSweeps>();
  readonly #truncatedSince = new Map<string, number>();
  readonly #attribution: Attribution;
  readonly #sums: FillSums;
  readonly #watchClosed: ReturnType<typeof watchClosedOrders>;
  readonly #booking: Booking;
  #out: Subscriber<Fill> | undefined;
  #stopped = false;
  #refusedSince: number | undefined;

  constructor(execution: Execution, cursors: ReadonlyMap<string, readonly string[]>) {
    this.#execution = execution;
    this.#attribution = new Attribution(execution, (order, report) => this.noteReport(order, report));
    this.#booking = new Booking(execution, {
      isBeforeOurs: (trade) => this.#attribution.isBeforeOurs(trade),
      emit: (fill) => this.#out?.next(fill),
    });
    this.#watchClosed = watchClosedOrders(execution);
    this.#sums = new FillSums(execution, async ({ intent, tradeFloor }) => {
      const { rows } = await this.#readTrades(intent.symbol, tradeFloor);
      this.#booking.book(sorted(rows), intent.symbol);
    });
    // The exchange may have corrected a quarantined trade while the program was off: it is read again.
    for (const [symbol, ids] of cursors)
      this.#recent.set(symbol, new RecentTrades(ids.filter((id) => !execution.quarantinedTrades.isOpen(symbol, id))));
  }

  /** Time of the newest trade of the account, UTC ms. */
  get newestTradeAt(): number {
    return this.#booking.newestTradeAt;
  }

  /** All fills. A fill may be repeated; the journal knows which are new. */
  readonly fills: Observable<Fill> = new Observable((out) => {
    this.#out = out;
  });

  /** The newest known trade id of a symbol: an order sent now cannot fill before it. */
  newestTrade(symbol: string): string | undefined {
    return this.#recent.get(symbol)?.ids.at(-1);
  }

  /** Sweeps a symbol. Sweeps of one symbol run one after another. */
  sweep(symbol: string): Promise<SweepResult> {
    const before = this.#running.get(symbol) ?? Promise.resolve();
    const running = before.then(() => this.#sweepOnce(symbol));
    this.#running.set(symbol, running);
    return running;
  }

  answered(symbol: string): AnsweredSweeps | undefined {
    return this.#answered.get(symbol);
  }

  /** Why the exchange answers no sweep at all; undefined while it answers one, and before the first. */
  get unanswered(): string | undefined {
    const { clock } = this.#execution;
    // A symbol that is not swept any more keeps its last answer.
    const recent = [...this.#answered.values()].filter(
      ({ failure, last = 0 }) => failure !== undefined || clock.now() - last <= clock.machine(silentMs),
    );
    return recent.some(({ failure }) => failure === undefined) ? undefined : recent.at(-1)?.failure;
  }

  #noteAnswer(symbol: string, beganAt: number, failure: string | undefined): void {
    const before = this.#answered.get(symbol);
    const answered = { since: before?.since ?? beganAt, last: beganAt, failure };
    this.#answered.set(symbol, failure === undefined ? answered : { since: undefined, last: before?.last, failure });
  }

  /** Sweeps every symbol that is or was traded; returns why that was not complete. */
  async sweepAll(): Promise<string | undefined> {
    let incomplete: string | undefined;
    const held = this.#execution.portfolio.subAccounts().map(({ symbol }) => symbol);
    for (const symbol of new Set([...this.#recent.keys(), ...this.#running.keys(), ...held])) {
      const { cause } = await this.sweep(symbol);
      incomplete ??= cause === undefined ? undefined : `${symbol}: ${cause}`;
    }
    return incomplete;
  }

  /** The open orders of every symbol as last listed, ours and others'. */
  open(): readonly OrderReport[] {
    return [...this.#open.values()].flat();
  }

  /** Sweeps a symbol until `stop`: often while it has an order, otherwise rarely. */
  async watch(symbol: string): Promise<void> {
    const { clock, portfolio, timing } = this.#execution;
    while (!this.#stopped) {
      const hasOrder = [...portfolio.orders()].some(
        ({ intent, state }) => intent.symbol === symbol && state !== 'quarantined',
      );
      const wait = new AbortController();
      this.#waits.set(symbol, wait);
      await pause(clock, hasOrder ? timing.pollMs : timing.sweepMs, wait.signal);
      if (!this.#stopped) await this.sweep(symbol);
    }
  }

  /** Starts the next sweep of a symbol now. */
  nudge(symbol: string): void {
    this.#waits.get(symbol)?.abort(now);
  }

  /** Ends watching; resolves when the sweeps in flight have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wait of this.#waits.values()) wait.abort(now);
    await Promise.all(this.#running.values());
  }

  async #sweepOnce(symbol: string): Promise<SweepResult> {
    const { clock, orders, quarantinedTrades } = this.#execution;
    const beganAt = clock.now();
    const open = await orders.openOrders(symbol);
    this.#watchKey(open);
    if (open.kind === 'failed') {
      const cause = queryFailure('open orders', open.cause);
      this.#noteAnswer(symbol, beganAt, cause);
      return { complete: false, cause, failed: true };
    }
    const trades = await this.#readTrades(symbol, this.#firstToRead(symbol));
    this.#noteAnswer(symbol, beganAt, trades.failed ? trades.cause : undefined);
    if (trades.failed && trades.rows.length === 0) return { ...trades, complete: false };
    // Trades behind the cursor are booked: of those read again only new and changed ones matter.
    const rows = this.#recent.get(symbol)?.news(trades.rows) ?? sorted(trades.rows);
    // Orders of an invalid row are attributed too, in case a human accepts it.
    const isPlain = ({ orderIds, symbol: its }: VenueTrade): boolean => orderIds.length > 0 && its === symbol;
    const binding = this.#attribution.bind(symbol, open.value.rows, rows.every(isPlain) ? rows : rows.filter(isPlain));
    const unbound = binding instanceof Promise ? await binding : binding;
    // Fills are not booked any more: the cursor must not move past them.
    if (this.#out?.closed !== false) return { complete: false, cause: 'trading has ended', failed: true };
    this.#booking.book(rows, symbol);
    // Trades that could not be attributed are read again, and so are those before a failed page.
    if (unbound.cause === undefined && !trades.failed && !quarantinedTrades.isHeld(symbol))
      this.#moveCursor(symbol, quarantinedTrades.settled(symbol, rows));
    this.#booking.bookHalves(symbol);
    this.#open.set(symbol, open.value.rows);
    // Awaiting undefined would cost a simulated venue as much as the rest of the sweep.
    const missing = this.#queryMissing(symbol, open.value.rows);
    if (missing !== undefined) await missing;
    const watching = this.#watchClosed(symbol, open.value.rows);
    if (watching !== undefined) await watching;
    const summing = this.#sums.closeWhatAddsUp(symbol);
    if (summing !== undefined) await summing;
    this.#watchTruncated(
      symbol,
      open.value.full ? openTruncated : trades.cause === tradesTruncated ? tradesTruncated : undefined,
    );
    const held = quarantinedTrades.endSweep(symbol, !trades.failed);
    const cause = trades.cause ?? unbound.cause ?? held ?? (open.value.full ? openTruncated : undefined);
    return { complete: cause === undefined, cause, failed: trades.failed || unbound.failed || held !== undefined };
  }

  /** Queries each order of ours that is missing from the list of open orders, and finds quarantined ones on it. */
  #queryMissing(symbol: string, open: readonly OrderReport[]): Promise<void> | undefined {
    const { portfolio } = this.#execution;
    return portfolio.isIdle ? undefined : this.#queryEach(symbol, portfolio.orders(), open);
  }

  async #queryEach(symbol: string, orders: Iterable<WorkingOrder>, open: readonly OrderReport[]): Promise<void> {
    const listed = open.length === 0 ? noReports : new Map(open.map((report) => [report.orderId, report]));
    for (const order of orders) {
      if (order.intent.symbol !== symbol || order.orderId === undefined) continue;
      const report = listed.get(order.orderId);
      // An order accepted after the list was made is missing too: the query does no harm.
      if (report === undefined && (order.state === 'open' || order.state === 'quarantined')) await this.query(order);
      else if (report !== undefined) {
        this.#missingSince.delete(order);
        this.found(order, report);
      }
    }
  }

  /** Halts when the key stays refused: retrying would not help (docs/reference/failures.md, 65). */
  #watchKey(answer: Answer<unknown>): void {
    const { clock, timing, halts } = this.#execution;
    if (answer.kind === 'ok') this.#refusedSince = undefined;
    else if (answer.code !== undefined && keyCodes.has(answer.code)) {
      this.#refusedSince ??= clock.now();
      if (clock.now() - this.#refusedSince >= timing.sweepGapMs)
        halts.halt('keyRefused', `the exchange refuses the key (code ${answer.code})`);
    }
  }

  /** Without the echo of client ids an unknown order of ours cannot be distinguished from others (docs/reference/failures.md, 19): reports it once, and halts on shared accounts. */
  #watchEcho(order: WorkingOrder, report: OrderReport): void {
    if (report.clientOrderId !== undefined || order.batch !== undefined) return;
    const { foreign, halts, notice, dedicated, echo } = this.#execution;
    if (!echo.missing)
      notice({ level: dedicated ? 'info' : 'error', text: dedicated ? noEchoDedicated : noEchoShared(report.orderId) });
    echo.missing = true;
    if (foreign.size > 0 && !dedicated) halts.halt('noEcho', 'the exchange does not give client ids back');
  }

  /** Halts when a list stays truncated: it hides orders or trades (docs/reference/failures.md, 21). */
  #watchTruncated(symbol: string, list: string | undefined): void {
    const { clock, timing, halts } = this.#execution;
    if (list === undefined) {
      this.#truncatedSince.delete(symbol);
      return;
    }
    const since = this.#truncatedSince.get(symbol) ?? clock.now();
    this.#truncatedSince.set(symbol, since);
    if (clock.now() - since >= timing.sweepGapMs) halts.halt('fullList', `on ${symbol} ${list}`);
  }

  /** Queries one order and acts on its report. */
  async query(order: WorkingOrder): Promise<void> {
    if (order.orderId === undefined) return;
    const answer = await this.#execution.orders.query({ symbol: order.intent.symbol, orderId: order.orderId });
    if (answer.kind === 'failed') {
      if (answer.code === noSuchOrder) this.#noteMissing(order);
      return;
    }
    this.#missingSince.delete(order);
    this.#watchEcho(order, answer.value);
    const { oddStatus } = answer.value;
    if (oddStatus !== undefined) {
      this.#noteOdd(order, oddStatus);
      return;
    }
    this.#oddSince.delete(order);
    this.found(order, answer.value);
    this.noteReport(order, answer.value);
  }

  /** The exchange does not find an order that it knew. After a while a lagging replica cannot explain that (docs/reference/failures.md, 20). */
  #noteMissing(order: WorkingOrder): void {
    const { clock } = this.#execution;
    const since = this.#missingSince.get(order) ?? clock.now();
    this.#missingSince.set(order, since);
    if (order.state !== 'open' || clock.now() - since < clock.machine(missingMs)) return;
    quarantine(
      this.#execution,
      order,
      'forgotten',
      `the exchange gave it the id ${order.orderId} and has said for 5 minutes that there is no such order`,
    );
  }

  /** The exchange reports an undocumented status: it is not known whether the order is final (docs/reference/failures.md, 18). */
  #noteOdd(order: WorkingOrder, oddStatus: string): void {
    const { clock, timing } = this.#execution;
    const since = this.#oddSince.get(order) ?? clock.now();
    this.#oddSince.set(order, since);
    if (order.state !== 'open' || clock.now() - since < timing.sweepGapMs) return;
    quarantine(
      this.#execution,
      order,
      'status',
      `the exchange gives it the status "${oddStatus}", which is not documented: it is not known whether it is final`,
    );
  }

  /** Takes a final status: the order closes once its fills add up to the executed quantity. */
  noteReport(order: WorkingOrder, report: OrderReport): void {
    this.#sums.noteReport(order, report);
  }

  /** A human assigns an order at the exchange to ours. */
  adopt(order: WorkingOrder, report: OrderReport): void {
    this.#attribution.adopt(order, report);
  }

  /** The exchange shows an order of open outcome; ignores a report of another order. */
  found(order: WorkingOrder, report: OrderReport): void {
    this.#attribution.found(order, report);
  }

  /** All trades from one on, page by page; undefined: the newest page. */
  async #readTrades(
    symbol: string,
    first: string | undefined,
  ): Promise<Unseen & { readonly rows: readonly VenueTrade[] }> {
    let rows: readonly VenueTrade[] = [];
    const known = this.#recent.get(symbol)?.ids[0];
    let from = first;
    let cause: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const answer = await this.#execution.orders.tradesSince(symbol, from);
      if (answer.kind === 'failed') return { rows, cause: queryFailure('own trades', answer.cause), failed: true };
      rows = page === 0 ? answer.value.rows : [...rows, ...answer.value.rows];
      const newest = answer.value.full ? newestOf(answer.value.rows) : undefined;
      if (newest === undefined) return { rows, cause, failed: false };
      if (newest === from) break;
      if (from === undefined && known !== undefined) {
        // The newest page may not reach back to the known trades: reads on from them, and reports the gap.
        cause = tradesTruncated;
        from = known;
      } else from = newest;
    }
    return { rows, cause: tradesTruncated, failed: false };
  }

  /**
   * The trade id to read from: a little before the newest known trade, or where the trades of an unknown order can begin, if earlier.
   * The exchange may show a trade after many younger ones. Undefined, which is the newest page, if no trade was known at sending.
   */
  #firstToRead(symbol: string): string | undefined {
    let first = this.#recent.get(symbol)?.ids[0];
    for (const { intent, state, tradeFloor } of this.#execution.portfolio.orders()) {
      if (intent.symbol !== symbol || state !== 'unknown' || first === undefined) continue;
      if (tradeFloor === undefined || compareIds(tradeFloor, first) < 0) first = tradeFloor;
    }
    return first;
  }

  /** Books trades that are journalled as evidence but not booked, by the usual attribution. */
  bookAgain(trades: readonly VenueTrade[]): void {
    this.#booking.book(sorted(trades));
  }

  #moveCursor(symbol: string, trades: readonly VenueTrade[]): void {
    if (trades.length === 0) return;
    const recent = this.#recent.get(symbol) ?? new RecentTrades();
    recent.add(trades);
    this.#recent.set(symbol, recent);
    const { journal } = this.#execution;
    // Only a restart reads it.
    if (journal.volatile) return;
    journal.latest(`cursor ${symbol}`, () => ({ kind: 'cursor', symbol, tradeIds: [...recent.ids] }));
  }
}
