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
import { cancelLate } from './late.ts';

/** Trade ids read again at each look: a trade may become visible after a younger one (order-protocol §2 #22). */
const overlap = 50;
/** Pages read in one look; past it the look is incomplete and says so. */
const mostPages = 20;
/** How far the times of trades may lie apart from ours, real ms. */
const clocksApartMs = 60_000;
/** After this long somebody is told that an ended order's fills do not add up, real ms. */
const shortMs = 60_000;
const tradesCut = 'the list of own trades is cut';

export interface SweepResult {
  /** Every request succeeded and neither list was cut: only then does not seeing an order mean anything. */
  readonly complete: boolean;
  /** What failed or is cut, for the timeline. */
  readonly cause: string | undefined;
  /** True when a request failed, so that the next look may see more; lists that are cut stay cut. */
  readonly failed: boolean;
}

/** What could not be seen, and whether because a request failed. */
type Unseen = Pick<SweepResult, 'cause' | 'failed'>;
const allSeen: Unseen = { cause: undefined, failed: false };
/** The exchange's code for an order that it does not know, as after it has forgotten an old one (specification §7). */
const noSuchOrder = '-2013';

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
    if (open.kind === 'failed') return { complete: false, cause: `open orders: ${open.cause}`, failed: true };
    const trades = await this.#readTrades(symbol, this.#firstToRead(symbol));
    if (trades.failed && trades.rows.length === 0) return { ...trades, complete: false };
    // What has moved the cursor is booked: of the trades that are read again only others have to be looked at.
    const known = this.#recent.get(symbol)?.known;
    const rows = sorted(trades.rows.filter(({ tradeId }) => known?.has(tradeId) !== true));
    const unbound = await this.#bindCandidates(symbol, open.value.rows, this.#sinceOurs(rows));
    // Nobody books fills any more: a cursor that moved past them would hide them from the next run, too.
    if (this.#door?.closed !== false) return { complete: false, cause: 'trading has ended', failed: true };
    this.#bookTrades(rows);
    // A trade that could not be attributed is read again, however many come after it; so is what lies before a failed page.
    if (unbound.cause === undefined && !trades.failed) this.#moveCursor(symbol, rows);
    const listed = new Set(open.value.rows.map((report) => report.orderId));
    // One that was accepted after the list was made is not on it either: asking for it does no harm.
    for (const order of [...portfolio.orders()]) {
      const missing = order.orderId !== undefined && !listed.has(order.orderId);
      if (order.intent.symbol === symbol && order.state === 'open' && missing) await this.look(order);
    }
    await this.#closeWhatAddsUp(symbol);
    const cause = trades.cause ?? unbound.cause ?? (open.value.full ? 'the list of open orders is cut' : undefined);
    return { complete: cause === undefined, cause, failed: trades.failed || unbound.failed };
  }

  /** Trades from before this journal's first order cannot be ours, and their orders may be forgotten at the exchange. */
  #sinceOurs(trades: readonly VenueTrade[]): readonly VenueTrade[] {
    const { clock, firstOrderAt } = this.#execution;
    return trades.filter(({ time }) => time >= firstOrderAt - clock.machine(clocksApartMs));
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
  ): Promise<Unseen & { readonly rows: readonly VenueTrade[] }> {
    const rows: VenueTrade[] = [];
    const known = this.#recent.get(symbol)?.ids[0];
    let from = first;
    let cause: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const answer = await this.#execution.orders.tradesSince(symbol, from);
      if (answer.kind === 'failed') return { rows, cause: `own trades: ${answer.cause}`, failed: true };
      rows.push(...answer.value.rows);
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

  /** Finds out whose the order ids are that nobody knows yet. */
  async #bindCandidates(symbol: string, open: readonly OrderReport[], trades: readonly VenueTrade[]): Promise<Unseen> {
    const { owners, foreign } = this.#execution;
    const unknown = new Set<string>();
    const note = (orderId: string): void => {
      if (!owners.has(orderId) && !foreign.has(orderId)) unknown.add(orderId);
    };
    for (const { orderId } of open) note(orderId);
    for (const { orderIds } of trades) orderIds.forEach(note);
    let unseen = allSeen;
    for (const orderId of unknown) {
      // While another was asked for, the order's own answer may have told.
      if (owners.has(orderId) || foreign.has(orderId)) continue;
      const answer = await this.#execution.orders.query({ symbol, orderId });
      // While this was asked, the order's own answer may have told.
      if (owners.has(orderId)) continue;
      if (answer.kind === 'failed')
        unseen = {
          cause: `order ${orderId}: ${answer.cause}`,
          failed: unseen.failed || answer.code !== noSuchOrder,
        };
      else if (answer.value.clientOrderId !== undefined)
        this.#attribute(symbol, answer.value, answer.value.clientOrderId);
      else if (this.#mayBeOurs(answer.value))
        unseen = {
          ...unseen,
          cause: `order ${orderId} may be the one looked for, but the exchange does not say its client id`,
        };
      else this.#disown(symbol, orderId);
    }
    return unseen;
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
    const { portfolio, readId } = this.#execution;
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
    this.#adoptLate(report, clientOrderId.toLowerCase(), mine.strategy);
  }

  /** Ours by its mac, but closed or missing in this journal: its fills are booked all the same, and somebody must look. */
  #adoptLate(report: OrderReport, clientOrderId: string, strategy: string): void {
    const { owners, journal, clock, notice } = this.#execution;
    const { orderId, side, status, symbol } = report;
    owners.set(orderId, { clientOrderId, strategy, side, purpose: 'enter' });
    const detail = { orderId, status, was: 'given up' };
    journal.append({ kind: 'event', at: clock.now(), clientOrderId, event: 'found', detail });
    const isOver = isFinal(status);
    const rest = isOver ? '' : ', and what is left of it is being cancelled';
    notice({
      level: 'error',
      text: `order ${clientOrderId} (${orderId}) is at the exchange although this journal had given it up; its fills are booked${rest}: see sluice why ${clientOrderId}`,
    });
    if (!isOver) void clock.track(cancelLate(this.#execution, clientOrderId, { symbol, orderId }));
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
    this.#execution.journal.latest(`cursor ${symbol}`, () => ({ kind: 'cursor', symbol, tradeIds: [...ids] }));
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
