/**
 * Looking at what the exchange did: open orders and the account's trades, symbol by symbol. Every fill enters through here,
 * whether an order was answered, lost or placed before a restart; there is no private stream to learn it from.
 */
import { Observable, type Subscriber } from 'rxjs';
import { pause } from '../clock/clock.ts';
import { noLots, quantityText } from '../domain/money.ts';
import type { Fill, OrderReport, VenueTrade } from '../domain/order.ts';
import { isClosed, isFinal } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { bind, close, type Execution, fillsIn, record } from './desk.ts';

/** Trade ids read again at each look: a trade may become visible after a younger one (order-protocol §2 #22). */
const overlap = 50;
/** Pages read in one look; past it the look is incomplete and says so. */
const mostPages = 20;
/** After this long somebody is told that an ended order's fills do not add up, real ms. */
const shortMs = 60_000;
const tradesCut = 'the list of own trades is cut';

export interface SweepResult {
  /** Every request succeeded and neither list was cut: only then does not seeing an order mean anything. */
  readonly complete: boolean;
  /** What failed, for the timeline. */
  readonly cause: string | undefined;
}

/** The newest trades of a symbol that were booked, oldest first. */
interface Recent {
  readonly ids: string[];
  readonly known: Set<string>;
}

export class Sweeps {
  readonly #execution: Execution;
  readonly #recent = new Map<string, Recent>();
  readonly #running = new Map<string, Promise<SweepResult>>();
  readonly #waits = new Map<string, AbortController>();
  /** Since when the fills of an order that ended have not added up; infinite once that was said. */
  readonly #shortSince = new Map<WorkingOrder, number>();
  #door: Subscriber<Fill> | undefined;
  #stopped = false;

  constructor(execution: Execution, cursors: ReadonlyMap<string, readonly string[]>) {
    this.#execution = execution;
    for (const [symbol, ids] of cursors) this.#recent.set(symbol, { ids: [...ids], known: new Set(ids) });
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

  /** Goes on looking at a symbol until `stop`: often while an order works, now and then otherwise. */
  async watch(symbol: string): Promise<void> {
    const { clock, portfolio, timing } = this.#execution;
    while (!this.#stopped) {
      const works = [...portfolio.orders()].some((order) => order.intent.symbol === symbol);
      const wait = new AbortController();
      this.#waits.set(symbol, wait);
      await pause(clock, works ? timing.pollMs : timing.sweepMs, wait.signal);
      if (!this.#stopped) await this.sweep(symbol);
    }
  }

  /** Lets the next look at a symbol come now. */
  nudge(symbol: string): void {
    this.#waits.get(symbol)?.abort();
  }

  /** Ends watching; resolves when the looks that are under way have come to an end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wait of this.#waits.values()) wait.abort();
    await Promise.all(this.#running.values());
  }

  async #look(symbol: string): Promise<SweepResult> {
    const { orders, portfolio } = this.#execution;
    const open = await orders.openOrders(symbol);
    if (open.kind === 'failed') return { complete: false, cause: `open orders: ${open.cause}` };
    const trades = await this.#readTrades(symbol, this.#firstToRead(symbol));
    if (trades.cause !== undefined && trades.rows.length === 0) return { complete: false, cause: trades.cause };
    // What has moved the cursor is booked: of the trades that are read again only others have to be looked at.
    const known = this.#recent.get(symbol)?.known;
    const rows = sorted(trades.rows.filter(({ tradeId }) => known?.has(tradeId) !== true));
    const unbound = await this.#bindCandidates(symbol, open.value.rows, rows);
    // Nobody books fills any more: a cursor that moved past them would hide them from the next run, too.
    if (this.#door?.closed !== false) return { complete: false, cause: 'trading has ended' };
    this.#bookTrades(rows);
    // A trade that could not be attributed is read again, however many come after it.
    if (unbound === undefined) this.#moveCursor(symbol, rows);
    const listed = new Set(open.value.rows.map((report) => report.orderId));
    // One that was accepted after the list was made is not on it either: asking for it does no harm.
    for (const order of [...portfolio.orders()]) {
      const missing = order.orderId !== undefined && !listed.has(order.orderId);
      if (order.intent.symbol === symbol && order.state === 'open' && missing) await this.look(order);
    }
    await this.#closeWhatAddsUp(symbol);
    const cause = trades.cause ?? unbound ?? (open.value.full ? 'the list of open orders is cut' : undefined);
    return { complete: cause === undefined, cause };
  }

  /** Asks for one order and takes what it says; returns the report, or undefined when the query failed. */
  async look(order: WorkingOrder): Promise<OrderReport | undefined> {
    if (order.orderId === undefined) return undefined;
    const answer = await this.#execution.orders.query({ symbol: order.intent.symbol, orderId: order.orderId });
    if (answer.kind === 'failed') return undefined;
    this.noteReport(order, answer.value);
    return answer.value;
  }

  /** Takes a final status as such: the order closes once its fills add up to what was executed (R5). */
  noteReport(order: WorkingOrder, report: OrderReport): void {
    // Answers can arrive out of order: one that is late must not open again what is closed.
    if (!isFinal(report.status) || order.state === 'closing' || isClosed(order.state)) return;
    order.state = 'closing';
    order.executed = report.executed;
    order.venueStatus = report.status;
    record(this.#execution, order, 'closing', { status: report.status });
  }

  /** All trades from one on, page by page; undefined: the newest page. */
  async #readTrades(
    symbol: string,
    first: string | undefined,
  ): Promise<{ rows: VenueTrade[]; cause: string | undefined }> {
    const rows: VenueTrade[] = [];
    const known = this.#recent.get(symbol)?.ids[0];
    let from = first;
    let cause: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const answer = await this.#execution.orders.tradesSince(symbol, from);
      if (answer.kind === 'failed') return { rows, cause: `own trades: ${answer.cause}` };
      rows.push(...answer.value.rows);
      const newest = answer.value.full ? newestOf(answer.value.rows) : undefined;
      if (newest === undefined) return { rows, cause };
      if (newest === from) break;
      if (from === undefined && known !== undefined) {
        // The newest page may not reach back to the trades we know: they are read on, and what lies before stays unseen.
        cause = tradesCut;
        from = known;
      } else from = newest;
    }
    return { rows, cause: tradesCut };
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

  /** Finds out whose the order ids are that nobody knows yet. Returns why one could not be found out. */
  async #bindCandidates(
    symbol: string,
    open: readonly OrderReport[],
    trades: readonly VenueTrade[],
  ): Promise<string | undefined> {
    const { owners, foreign } = this.#execution;
    const unknown = new Set<string>();
    const note = (orderId: string): void => {
      if (!owners.has(orderId) && !foreign.has(orderId)) unknown.add(orderId);
    };
    for (const { orderId } of open) note(orderId);
    for (const { orderIds } of trades) orderIds.forEach(note);
    let cause: string | undefined;
    for (const orderId of unknown) {
      // While another was asked for, the order's own answer may have told.
      if (owners.has(orderId) || foreign.has(orderId)) continue;
      const answer = await this.#execution.orders.query({ symbol, orderId });
      // While this was asked, the order's own answer may have told.
      if (owners.has(orderId)) continue;
      if (answer.kind === 'failed') cause = `order ${orderId}: ${answer.cause}`;
      else if (answer.value.clientOrderId !== undefined)
        this.#attribute(symbol, answer.value, answer.value.clientOrderId);
      else if (this.#mayBeOurs(answer.value))
        cause = `order ${orderId} may be the one looked for, but the exchange does not say its client id`;
      else this.#disown(symbol, orderId);
    }
    return cause;
  }

  /** Ours always have a client id, but one that the exchange does not echo could be the one whose outcome is open. */
  #mayBeOurs({ symbol, side, type }: OrderReport): boolean {
    return [...this.#execution.portfolio.orders()].some(
      ({ intent, state }) =>
        (state === 'unknown' || state === 'sending') &&
        intent.symbol === symbol &&
        intent.side === side &&
        intent.type === type,
    );
  }

  #disown(symbol: string, orderId: string): void {
    const { foreign, journal, clock } = this.#execution;
    foreign.add(orderId);
    journal.append({ kind: 'foreign', at: clock.now(), symbol, orderId });
  }

  #attribute(symbol: string, report: OrderReport, clientOrderId: string): void {
    const { portfolio, owners, readId, notice } = this.#execution;
    const order = portfolio.order(clientOrderId.toLowerCase());
    if (order !== undefined) {
      const was = order.state;
      bind(this.#execution, order, report);
      order.state = 'open';
      record(this.#execution, order, 'found', { orderId: report.orderId, status: report.status, was });
      this.noteReport(order, report);
      return;
    }
    const mine = readId(clientOrderId);
    if (mine === undefined) {
      this.#disown(symbol, report.orderId);
      return;
    }
    // Ours by its mac, but closed or missing in this journal: its fills are booked all the same, and somebody must look.
    owners.set(report.orderId, {
      clientOrderId: clientOrderId.toLowerCase(),
      strategy: mine.strategy,
      side: report.side,
      purpose: 'enter',
    });
    notice({
      level: 'error',
      text: `order ${clientOrderId} (${report.orderId}) is at the exchange although this journal had given it up: see sluice why ${clientOrderId}`,
    });
  }

  /** Oldest first, so that a position is built in the order in which it came. */
  #bookTrades(trades: readonly VenueTrade[]): void {
    for (const trade of trades) for (const fill of fillsIn(this.#execution, trade)) this.#door?.next(fill);
  }

  /** Trades that were booked, oldest first, become known; the oldest known are forgotten. */
  #moveCursor(symbol: string, trades: readonly VenueTrade[]): void {
    if (trades.length === 0) return;
    const { ids, known } = this.#recent.get(symbol) ?? { ids: [], known: new Set<string>() };
    const newest = ids.at(-1);
    for (const { tradeId } of trades) {
      if (known.has(tradeId)) continue;
      ids.push(tradeId);
      known.add(tradeId);
    }
    if (newest !== undefined && compareIds(trades[0]?.tradeId ?? '', newest) < 0) ids.sort(compareIds);
    for (const id of ids.splice(0, Math.max(0, ids.length - overlap))) known.delete(id);
    this.#recent.set(symbol, { ids, known });
    this.#execution.journal.append({ kind: 'cursor', symbol, tradeIds: [...ids] });
  }

  async #closeWhatAddsUp(symbol: string): Promise<void> {
    for (const order of [...this.#execution.portfolio.orders()]) {
      if (order.intent.symbol !== symbol || order.state !== 'closing') continue;
      if (order.executed !== order.filled) await this.#reconcile(order);
      if (order.executed === order.filled) {
        this.#shortSince.delete(order);
        close(this.#execution, order, closedState(order));
      } else this.#tellOfShort(order);
    }
  }

  /** Our fills and what the exchange executed differ: whichever is less is behind, and asked for again. */
  async #reconcile(order: WorkingOrder): Promise<void> {
    const { symbol } = order.intent;
    const { orderId, executed = noLots } = order;
    if (order.filled < executed) {
      const { rows } = await this.#readTrades(symbol, order.tradeFloor);
      this.#bookTrades(sorted(rows));
      return;
    }
    if (orderId === undefined) return;
    const answer = await this.#execution.orders.query({ symbol, orderId });
    if (answer.kind === 'failed' || !isFinal(answer.value.status) || answer.value.executed <= executed) return;
    order.executed = answer.value.executed;
    order.venueStatus = answer.value.status;
    record(this.#execution, order, 'closing', { status: answer.value.status });
  }

  /** Says once of an order that its fills have not added up for a while: its strategy waits for it. */
  #tellOfShort(order: WorkingOrder): void {
    const { clock, notice, portfolio } = this.#execution;
    const since = this.#shortSince.get(order) ?? clock.now();
    const isDue = clock.now() - since >= clock.machine(shortMs);
    this.#shortSince.set(order, isDue ? Number.POSITIVE_INFINITY : since);
    if (!isDue) return;
    const { clientOrderId, strategy, symbol } = order.intent;
    const at = portfolio.instrument(symbol);
    const [executed, filled] = [order.executed ?? noLots, order.filled].map((lots) => quantityText(lots, at));
    notice({
      level: 'error',
      text: `order ${clientOrderId} ended at the exchange with ${executed} executed, but its own trades come to ${filled}: strategy ${strategy} waits on ${symbol} until both agree, see sluice why ${clientOrderId}`,
    });
  }
}

const closedState = (order: WorkingOrder): 'filled' | 'canceled' | 'rejected' =>
  order.venueStatus === 'FILLED' ? 'filled' : order.venueStatus === 'REJECTED' ? 'rejected' : 'canceled';

/** Ids are decimal digits of any length: the longer one is the younger one. */
const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

const sorted = (trades: readonly VenueTrade[]): readonly VenueTrade[] =>
  trades.length < 2 ? trades : trades.toSorted((a, b) => compareIds(a.tradeId, b.tradeId));

const newestOf = (trades: readonly VenueTrade[]): string | undefined =>
  trades.reduce<string | undefined>(
    (newest, { tradeId }) => (newest === undefined || compareIds(tradeId, newest) > 0 ? tradeId : newest),
    undefined,
  );
