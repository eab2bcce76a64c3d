/**
 * Looking at what the exchange did: open orders and the account's trades, symbol by symbol. Every fill enters through here,
 * whether an order was answered, lost or placed before a restart; there is no private stream to learn it from.
 */
import { Observable, type Subscriber } from 'rxjs';
import { pause } from '../clock/clock.ts';
import type { Fill, OrderReport, VenueTrade } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Answer } from '../venue/venue.ts';
import { Booking } from './booking.ts';
import { closedWatch } from './closed-but-resting.ts';
import { type Execution, quarantine } from './context.ts';
import { Sums } from './fill-sums.ts';
import { compareIds, newestOf, Recent, sorted } from './recent-trades.ts';
import { Attribution, noSuchOrder, type Unseen } from './reconcile/attribute.ts';

/** Pages read in one look; past it the look is incomplete and says so. */
const mostPages = 20;
/** After this long without it an order that the exchange knew is quarantined, real ms. */
const missingMs = 300_000;
/** The exchange does not take the key, or not for this (specification §7). */
const keyCodes: ReadonlySet<string> = new Set(['-1002', '-1022', '-2014', '-2015']);
/** Why a wait is cut short. Nobody reads it, but without one an exception with its stack is made each time. */
const now = 'now';
const openCut = 'the list of open orders is cut';
const tradesCut = 'the list of own trades is cut';
const noReports: ReadonlyMap<string, OrderReport> = new Map<string, OrderReport>();

const noEchoDedicated =
  'the exchange does not return client ids: an order of unknown outcome is found by its symbol, side, type, price, quantity and time, since nobody else trades on this account (dedicatedAccount)';
const noEchoShared = (orderId: string): string =>
  `the exchange does not return the client id of order ${orderId}: an order of unknown outcome stays unknown or is quarantined until you decide (sluice resolve). If nobody else trades on this account, set dedicatedAccount: true`;

export interface SweepResult {
  /** Every request succeeded and neither list was cut: only then does not seeing an order mean anything. */
  readonly complete: boolean;
  /** What failed or is cut, for the timeline. */
  readonly cause: string | undefined;
  /** True when a request failed or a trade is not to be believed yet, so that the next look may see more; lists that are cut stay cut. */
  readonly failed: boolean;
}

export class Sweeps {
  readonly #execution: Execution;
  readonly #recent = new Map<string, Recent>();
  readonly #running = new Map<string, Promise<SweepResult>>();
  readonly #waits = new Map<string, AbortController>();
  /** The open orders of each symbol as last listed, ours and others'. */
  readonly #open = new Map<string, readonly OrderReport[]>();
  readonly #missingSince = new Map<WorkingOrder, number>();
  readonly #oddSince = new Map<WorkingOrder, number>();
  readonly #cutSince = new Map<string, number>();
  readonly #attribution: Attribution;
  readonly #sums: Sums;
  readonly #watchClosed: ReturnType<typeof closedWatch>;
  readonly #booking: Booking;
  #door: Subscriber<Fill> | undefined;
  #stopped = false;
  #refusedSince: number | undefined;

  constructor(execution: Execution, cursors: ReadonlyMap<string, readonly string[]>) {
    this.#execution = execution;
    this.#attribution = new Attribution(execution, (order, report) => this.noteReport(order, report));
    this.#booking = new Booking(execution, {
      isBeforeOurs: (trade) => this.#attribution.isBeforeOurs(trade),
      emit: (fill) => this.#door?.next(fill),
    });
    this.#watchClosed = closedWatch(execution);
    this.#sums = new Sums(execution, async ({ intent, tradeFloor }) => {
      const { rows } = await this.#readTrades(intent.symbol, tradeFloor);
      this.#booking.book(sorted(rows), intent.symbol);
    });
    // A quarantined trade may have been shown right while nobody looked.
    for (const [symbol, ids] of cursors)
      this.#recent.set(symbol, new Recent(ids.filter((id) => !execution.quarantinedTrades.isOpen(symbol, id))));
  }

  /** When the newest trade of the account that was seen was made, UTC ms. */
  get newestTradeAt(): number {
    return this.#booking.newestTradeAt;
  }

  /** The one door for fills. Repeats are possible; the journal knows which are new. */
  readonly fills: Observable<Fill> = new Observable((door) => {
    this.#door = door;
  });

  /** The newest trade id of a symbol seen so far: an order sent now cannot have filled before it. */
  newestTrade(symbol: string): string | undefined {
    return this.#recent.get(symbol)?.ids.at(-1);
  }

  /** Looks at a symbol. Looks at one symbol follow one another; each sees the state after the one before. */
  sweep(symbol: string): Promise<SweepResult> {
    const before = this.#running.get(symbol) ?? Promise.resolve();
    const running = before.then(() => this.#look(symbol));
    this.#running.set(symbol, running);
    return running;
  }

  /** Looks at every symbol that is traded or ever was; gives why that was not complete. */
  async sweepAll(): Promise<string | undefined> {
    let incomplete: string | undefined;
    const places = this.#execution.portfolio.places().map(({ symbol }) => symbol);
    for (const symbol of new Set([...this.#recent.keys(), ...this.#running.keys(), ...places])) {
      const { cause } = await this.sweep(symbol);
      incomplete ??= cause === undefined ? undefined : `${symbol}: ${cause}`;
    }
    return incomplete;
  }

  /** The open orders of every symbol as last listed, ours and others'. */
  open(): readonly OrderReport[] {
    return [...this.#open.values()].flat();
  }

  /** Goes on looking at a symbol until `stop`: often while an order works, now and then otherwise. */
  async watch(symbol: string): Promise<void> {
    const { clock, portfolio, timing } = this.#execution;
    while (!this.#stopped) {
      const works = [...portfolio.orders()].some(
        ({ intent, state }) => intent.symbol === symbol && state !== 'quarantined',
      );
      const wait = new AbortController();
      this.#waits.set(symbol, wait);
      await pause(clock, works ? timing.pollMs : timing.sweepMs, wait.signal);
      if (!this.#stopped) await this.sweep(symbol);
    }
  }

  /** Lets the next look at a symbol come now. */
  nudge(symbol: string): void {
    this.#waits.get(symbol)?.abort(now);
  }

  /** Ends watching; resolves when the looks that are under way have come to an end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wait of this.#waits.values()) wait.abort(now);
    await Promise.all(this.#running.values());
  }

  async #look(symbol: string): Promise<SweepResult> {
    const { orders, quarantinedTrades } = this.#execution;
    const open = await orders.openOrders(symbol);
    this.#watchKey(open);
    if (open.kind === 'failed') return { complete: false, cause: `open orders: ${open.cause}`, failed: true };
    const trades = await this.#readTrades(symbol, this.#firstToRead(symbol));
    if (trades.failed && trades.rows.length === 0) return { ...trades, complete: false };
    // What has moved the cursor is booked: of the trades that are read again only others have to be looked at, and changed ones.
    const rows = this.#recent.get(symbol)?.news(trades.rows) ?? sorted(trades.rows);
    // An invalid row, too, names orders that must be known before somebody accepts it.
    const isPlain = ({ orderIds, symbol: its }: VenueTrade): boolean => orderIds.length > 0 && its === symbol;
    const binding = this.#attribution.bind(symbol, open.value.rows, rows.every(isPlain) ? rows : rows.filter(isPlain));
    const unbound = binding instanceof Promise ? await binding : binding;
    // Nobody books fills any more: a cursor that moved past them would hide them from the next run, too.
    if (this.#door?.closed !== false) return { complete: false, cause: 'trading has ended', failed: true };
    this.#booking.book(rows, symbol);
    // A trade that could not be attributed, or cannot be, is read again, however many come after it; so is what lies before a failed page.
    if (unbound.cause === undefined && !trades.failed && !quarantinedTrades.isHeld(symbol))
      this.#moveCursor(symbol, quarantinedTrades.settled(symbol, rows));
    this.#booking.bookHalves(symbol);
    this.#open.set(symbol, open.value.rows);
    // Waiting for nothing costs a simulated venue as much as the rest of the look.
    const missing = this.#askForMissing(symbol, open.value.rows);
    if (missing !== undefined) await missing;
    const watching = this.#watchClosed(symbol, open.value.rows);
    if (watching !== undefined) await watching;
    const summing = this.#sums.closeWhatAddsUp(symbol);
    if (summing !== undefined) await summing;
    this.#watchCut(symbol, open.value.full ? openCut : trades.cause === tradesCut ? tradesCut : undefined);
    const held = quarantinedTrades.endSweep(symbol, !trades.failed);
    const cause = trades.cause ?? unbound.cause ?? held ?? (open.value.full ? openCut : undefined);
    return { complete: cause === undefined, cause, failed: trades.failed || unbound.failed || held !== undefined };
  }

  /** Asks for each order of ours that should be on the list of open ones and is not, and takes up quarantined ones that are. */
  #askForMissing(symbol: string, open: readonly OrderReport[]): Promise<void> | undefined {
    const { portfolio } = this.#execution;
    return portfolio.isIdle ? undefined : this.#askFor(symbol, portfolio.orders(), open);
  }

  async #askFor(symbol: string, orders: Iterable<WorkingOrder>, open: readonly OrderReport[]): Promise<void> {
    const listed = open.length === 0 ? noReports : new Map(open.map((report) => [report.orderId, report]));
    for (const order of orders) {
      if (order.intent.symbol !== symbol || order.orderId === undefined) continue;
      const report = listed.get(order.orderId);
      // One that was accepted after the list was made is not on it either: asking for it does no harm.
      if (report === undefined && (order.state === 'open' || order.state === 'quarantined')) await this.look(order);
      else if (report !== undefined) {
        this.#missingSince.delete(order);
        this.found(order, report);
      }
    }
  }

  /** A key that stays refused sees nothing: that is no failure to be tried again for ever (§2 #65). */
  #watchKey(answer: Answer<unknown>): void {
    const { clock, timing, halts } = this.#execution;
    if (answer.kind === 'ok') this.#refusedSince = undefined;
    else if (answer.code !== undefined && keyCodes.has(answer.code)) {
      this.#refusedSince ??= clock.now();
      if (clock.now() - this.#refusedSince >= timing.sweepGapMs)
        halts.halt('keyRefused', `the exchange refuses the key (code ${answer.code})`);
    }
  }

  /** Without the echo of its id a lost order of ours looks like anybody's (§2 #19): told once, and no place beside others. */
  #watchEcho(order: WorkingOrder, report: OrderReport): void {
    if (report.clientOrderId !== undefined || order.batch !== undefined) return;
    const { foreign, halts, notice, dedicated, echo } = this.#execution;
    if (!echo.missing)
      notice({ level: dedicated ? 'info' : 'error', text: dedicated ? noEchoDedicated : noEchoShared(report.orderId) });
    echo.missing = true;
    if (foreign.size > 0 && !dedicated) halts.halt('noEcho', 'the exchange does not give client ids back');
  }

  /** A list that stays cut hides orders or trades: nothing may be created as if they were known (§2 #21). */
  #watchCut(symbol: string, cut: string | undefined): void {
    const { clock, timing, halts } = this.#execution;
    if (cut === undefined) {
      this.#cutSince.delete(symbol);
      return;
    }
    const since = this.#cutSince.get(symbol) ?? clock.now();
    this.#cutSince.set(symbol, since);
    if (clock.now() - since >= timing.sweepGapMs) halts.halt('fullList', `on ${symbol} ${cut}`);
  }

  /** Asks for one order and takes what it says; returns the report, or undefined when the query failed. */
  async look(order: WorkingOrder): Promise<OrderReport | undefined> {
    if (order.orderId === undefined) return undefined;
    const answer = await this.#execution.orders.query({ symbol: order.intent.symbol, orderId: order.orderId });
    if (answer.kind === 'failed') {
      if (answer.code === noSuchOrder) this.#noteMissing(order);
      return undefined;
    }
    this.#missingSince.delete(order);
    this.#watchEcho(order, answer.value);
    const { oddStatus } = answer.value;
    if (oddStatus !== undefined) {
      this.#noteOdd(order, oddStatus);
      return answer.value;
    }
    this.#oddSince.delete(order);
    this.found(order, answer.value);
    this.noteReport(order, answer.value);
    return answer.value;
  }

  /** The exchange knew an order and says that it does not: a lagging replica for a while, after that nobody can say (§2 #20). */
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

  /** The exchange answers for it by a word that nobody has described: while that lasts nobody can say whether it is over (§2 #18). */
  #noteOdd(order: WorkingOrder, oddStatus: string): void {
    const { clock, timing } = this.#execution;
    const since = this.#oddSince.get(order) ?? clock.now();
    this.#oddSince.set(order, since);
    if (order.state !== 'open' || clock.now() - since < timing.sweepGapMs) return;
    quarantine(
      this.#execution,
      order,
      'status',
      `the exchange gives it the status "${oddStatus}", which nobody has described, so that nobody can say whether it is over`,
    );
  }

  /** Takes a final status as such: the order closes once its fills add up to what was executed (R5). */
  noteReport(order: WorkingOrder, report: OrderReport): void {
    this.#sums.noteReport(order, report);
  }

  /** A human says that an order at the exchange is this one of ours. */
  adopt(order: WorkingOrder, report: OrderReport): void {
    this.#attribution.adopt(order, report);
  }

  /** The exchange shows an order whose outcome was open; nothing happens when the report is about another one. */
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
    for (let page = 0; page < mostPages; page++) {
      const answer = await this.#execution.orders.tradesSince(symbol, from);
      if (answer.kind === 'failed') return { rows, cause: `own trades: ${answer.cause}`, failed: true };
      rows = page === 0 ? answer.value.rows : [...rows, ...answer.value.rows];
      const newest = answer.value.full ? newestOf(answer.value.rows) : undefined;
      if (newest === undefined) return { rows, cause, failed: false };
      if (newest === from) break;
      if (from === undefined && known !== undefined) {
        // The newest page may not reach back to the trades we know: they are read on, and what lies before stays unseen.
        cause = tradesCut;
        from = known;
      } else from = newest;
    }
    return { rows, cause: tradesCut, failed: false };
  }

  /**
   * A little before the newest known trade, or where trades of an order can begin whose outcome is open, whichever is earlier:
   * a trade can be shown after many younger ones. undefined, the newest page, where none was known when that order was sent.
   */
  #firstToRead(symbol: string): string | undefined {
    let first = this.#recent.get(symbol)?.ids[0];
    for (const { intent, state, tradeFloor } of this.#execution.portfolio.orders()) {
      if (intent.symbol !== symbol || state !== 'unknown' || first === undefined) continue;
      if (tradeFloor === undefined || compareIds(tradeFloor, first) < 0) first = tradeFloor;
    }
    return first;
  }

  /** Books what a journal holds as evidence but not as fills, and what others' trades moved: the same attribution as ever. */
  bookAgain(trades: readonly VenueTrade[]): void {
    this.#booking.book(sorted(trades));
  }

  #moveCursor(symbol: string, trades: readonly VenueTrade[]): void {
    if (trades.length === 0) return;
    const recent = this.#recent.get(symbol) ?? new Recent();
    recent.add(trades);
    this.#recent.set(symbol, recent);
    const { journal } = this.#execution;
    // Only a restart reads it.
    if (journal.volatile) return;
    journal.latest(`cursor ${symbol}`, () => ({ kind: 'cursor', symbol, tradeIds: [...recent.ids] }));
  }
}
