/** A trader on simulated time, a scripted exchange and a journal in memory; it can crash and be opened again. */

import Database from 'better-sqlite3';
import type { Observable, Subscription } from 'rxjs';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { noRate, noUnits, quantityText, ticks, ticksOf, units } from '../../src/domain/money.ts';
import type { AlonePolicy, Decision, Intent, OrderState, SubmitResult } from '../../src/domain/order.ts';
import type { Timing } from '../../src/execution/context.ts';
import type { Notice } from '../../src/journal/entries.ts';
import { type Journal, journal, type WriterHost } from '../../src/journal/journal.ts';
import { load } from '../../src/journal/load.ts';
import type { Identity } from '../../src/journal/open.ts';
import { readFills } from '../../src/journal/past-orders.ts';
import { readOrders } from '../../src/journal/rows.ts';
import { migrate } from '../../src/journal/schema.ts';
import { writer } from '../../src/journal/writer.ts';
import type { OrderDraft } from '../../src/portfolio/plan.ts';
import type { WorkingOrder } from '../../src/portfolio/portfolio.ts';
import type { Limits } from '../../src/risk/context.ts';
import { trade } from '../../src/trader.ts';
import { type Assembled, assemble } from '../../src/trading/assemble.ts';
import { type OrderEntry, ok } from '../../src/venue/venue.ts';
import { btc, draft, eth, instruments, startTime, wide } from './builders.ts';
import { pairPort } from './pair-venue.ts';
import { ScriptedVenue } from './scripted-venue.ts';

export interface RigOptions {
  readonly limits?: Partial<Limits>;
  readonly timing?: Partial<Timing>;
  /** The exchange answers queries by client id alone. */
  readonly byClientId?: boolean;
  /** The exchange takes batches. */
  readonly batches?: boolean;
  /** Nobody else trades on the account; so it is with batches. */
  readonly dedicated?: boolean;
  readonly maxSendDelayMs?: number;
  readonly account?: 'spot' | 'margin';
  /** False: nobody can ask what the account holds, as on margin. */
  readonly balances?: boolean;
  /** The strategies trade ETHUSDT, too, at `second`; and this is what they want done about legs that are open alone. */
  readonly pair?: AlonePolicy;
  /** How far the exchange's clock is behind ours, ms. */
  readonly serverBehindMs?: () => number;
}

/** How long an order may appear after its window, and how far two sweeps lie apart, in tests. */
export const timing: Timing = { pollMs: 1_000, sweepMs: 5_000, absentAfterMs: 60_000, sweepGapMs: 5_000 };
const idKey = Buffer.alloc(32, 1);
const strategies = new Map([
  ['s', 1],
  ['t', 2],
]);

export class TestRig {
  readonly clock = new SimClock(startTime);
  /** What was committed and what the exchange was asked, in order. */
  readonly log: string[] = [];
  readonly venue: ScriptedVenue;
  /** Where ETHUSDT is traded. */
  readonly second: ScriptedVenue;
  readonly db = new Database(':memory:');
  readonly notices: Notice[] = [];
  /** True: nothing can be written. */
  diskFull = false;
  /** Why nothing may be created, as when the exchange's time is in doubt. */
  blocked: string | undefined;
  /** Called with each step of an order's life just after it was committed. */
  onCommit: (event: string) => void = () => {};
  journal: Journal;
  assembled: Assembled;
  readonly #options: RigOptions;
  #epoch = 0;
  #cut = (): void => {};
  #fills: Subscription | undefined;

  constructor(options: RigOptions = {}) {
    this.#options = options;
    // Simulated time lets promises settle only while something is tracked; here something always may be under way.
    void this.clock.track(new Promise(() => {}));
    this.venue = new ScriptedVenue(this.clock, this.log);
    this.venue.market = ticks('100', btc);
    this.second = new ScriptedVenue(this.clock, this.log, eth, 5_001);
    this.second.market = this.venue.market;
    this.second.holdings.set(eth.quote, noUnits);
    migrate(this.db);
    ({ journal: this.journal, assembled: this.assembled } = this.#open());
  }

  /** Ends the program as kill -9 does: what is committed stays, what is under way is never received of again; then starts it anew. */
  crash(): void {
    this.#cut();
    this.#fills?.unsubscribe();
    ({ journal: this.journal, assembled: this.assembled } = this.#open());
  }

  #open(): { journal: Journal; assembled: Assembled } {
    const loaded = load(this.db);
    const host = this.#host();
    const { pair, byClientId = false, batches = false } = this.#options;
    const first = this.venue.port({ byClientId, batches });
    const port = pair === undefined ? first : pairPort(first, this.second.port(), eth.symbol);
    const symbols = pair === undefined ? [btc.symbol] : [btc.symbol, eth.symbol];
    const book = journal(host, this.clock, loaded.past.fill);
    const identity: Identity = { instance: 1, epoch: ++this.#epoch, idKey, strategies };
    const assembled = assemble({
      clock: this.clock,
      journal: book,
      identity,
      loaded,
      orders: port satisfies OrderEntry,
      account: this.#options.account ?? 'spot',
      instruments,
      allocations: [...strategies.keys()].flatMap((strategy) =>
        symbols.map((symbol) => ({ strategy, symbol, amount: symbol === btc.symbol ? units('1000000') : noUnits })),
      ),
      ...(pair !== undefined && {
        laneOf: () => btc.symbol,
        aloneRules: [...strategies.keys()].map((strategy) => ({ ...pair, strategy, symbols })),
      }),
      limits: { ...wide, ...this.#options.limits },
      dedicated: this.#options.dedicated ?? this.#options.batches === true,
      batchCreate: this.#options.batches === true,
      timing: { ...timing, ...this.#options.timing },
      maxSendDelayMs: this.#options.maxSendDelayMs ?? 60_000,
      marketBuyIn: 'lots',
      feeInBase: noRate,
      notice: (notice) => this.notices.push(notice),
      blocked: () => this.blocked,
      serverTime: () => Promise.resolve(ok(this.clock.now() - (this.#options.serverBehindMs?.() ?? 0))),
      ...(this.#options.balances === false ? {} : { balances: port.balances }),
    });
    for (const symbol of symbols) assembled.portfolio.mark(symbol, 100, this.clock.now());
    this.#cut = () => {
      port.cut();
      host.dead = true;
    };
    return { journal: book, assembled };
  }

  /** A writer that commits at once, logs the steps of orders that it commits, and falls silent when its process dies. */
  #host(): WriterHost & { dead: boolean } {
    const write = writer(this.db, this.#epoch++);
    const host = {
      dead: false,
      write: (entries: Parameters<WriterHost['write']>[0]) => {
        if (host.dead) return new Promise<'written'>(() => {});
        if (this.diskFull) return 'full' as const;
        write(entries);
        for (const entry of entries) {
          if (entry.kind !== 'event') continue;
          this.log.push(`committed ${entry.event}`);
          this.onCommit(entry.event);
        }
        return 'written' as const;
      },
      close: () => Promise.resolve(),
    };
    return host;
  }

  /** Books fills as the trader does. Tests of `trade` leave this to it. */
  listen(): this {
    const { trader } = this.assembled;
    this.#fills = trader.fills.subscribe((fill) => {
      if (trader.record(fill)) trader.book(fill);
    });
    return this;
  }

  /** Trades on these decisions, and looks for fills all the while, until it crashes. */
  start(...decisions: readonly Observable<Decision>[]): this {
    const { trader, sweeps } = this.assembled;
    const { pair } = this.#options;
    const trading = trade({
      ...trader,
      decisions,
      async recover() {
        await trader.recover();
        void sweeps.watch(btc.symbol);
        if (pair !== undefined) void sweeps.watch(eth.symbol);
      },
    });
    this.#fills = trading.subscribe();
    return this;
  }

  /** Ends trading, or booking of fills, while the process and what it asked for go on. */
  leave(): void {
    this.#fills?.unsubscribe();
  }

  /** The last price, for us and for the exchange. */
  price(price: number): void {
    this.assembled.portfolio.mark(btc.symbol, price, this.clock.now());
    this.venue.market = ticksOf(price, btc, 'down');
  }

  /** Reserves an order and begins to carry it out. */
  begin(text: Parameters<typeof draft>[0] | OrderDraft = {}): {
    readonly order: WorkingOrder;
    readonly carried: Promise<SubmitResult>;
  } {
    const { trader, portfolio } = this.assembled;
    const intent: Intent = trader.reserve('volume' in text ? text : draft(text));
    const order = portfolio.order(intent.clientOrderId);
    if (order === undefined) throw new Error('the order was not reserved');
    return { order, carried: trader.execute(intent) };
  }

  /** An order that the exchange has accepted. */
  async placed(text: Parameters<typeof draft>[0] = { price: '100' }): Promise<WorkingOrder> {
    const { order, carried } = this.begin(text);
    await this.finish(carried);
    return order;
  }

  /** Lets time pass until the work is done; fails when it takes longer than `maxMs`. */
  async finish<T>(work: Promise<T>, maxMs = 600_000): Promise<T> {
    let done = false;
    const settled = work.finally(() => {
      done = true;
    });
    const until = this.clock.now() + maxMs;
    await this.clock.settle();
    while (!done) {
      if (this.clock.now() >= until) throw new Error(`not finished after ${maxMs} ms`);
      await this.clock.advanceTo(this.clock.now() + 10);
    }
    return settled;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.advanceTo(this.clock.now() + ms);
  }

  /** Lets so many seconds pass with the work of each. */
  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second++) {
      await this.pass(1_000);
      this.assembled.retryPending();
    }
  }

  sweep(): ReturnType<Assembled['sweeps']['sweep']> {
    return this.finish(this.assembled.sweeps.sweep(btc.symbol));
  }

  /** Waits until the journal holds all that was appended. */
  async written(): Promise<void> {
    await this.finish(this.journal.durable());
  }

  /** The fills in the journal as `trade order quantity`, in the order of their trade ids. */
  async fillRows(): Promise<string[]> {
    await this.written();
    return readFills(this.db, '1')
      .map((row) => `${row.tradeId} ${row.orderId} ${row.quantity}`)
      .sort();
  }

  /** The same of the exchange's own books, for orders of ours. */
  venueRows(): string[] {
    const rows: string[] = [];
    for (const trade of this.venue.trades)
      for (const orderId of trade.orderIds)
        if (this.assembled.execution.readId(this.venue.order(orderId).clientOrderId) !== undefined)
          rows.push(`${trade.tradeId} ${orderId} ${quantityText(trade.quantity, btc)}`);
    return rows.sort();
  }

  /** An order's row in the journal. */
  async row(order: WorkingOrder): Promise<ReturnType<typeof readOrders>[number]> {
    await this.written();
    const [row] = readOrders(this.db, 'client_order_id = ?', order.intent.clientOrderId);
    if (row === undefined) throw new Error('the order has no row');
    return row;
  }

  async stateOf(order: WorkingOrder): Promise<OrderState> {
    return (await this.row(order)).state;
  }

  /** The names of an order's steps, in order. */
  async steps(order: WorkingOrder): Promise<string[]> {
    await this.written();
    const rows = this.db
      .prepare('SELECT event FROM events WHERE client_order_id = ? ORDER BY seq')
      .all(order.intent.clientOrderId) as { event: string }[];
    return rows.map(({ event }) => event);
  }

  /** What was asked of the exchange and begins with this. */
  asked(beginning: string): number {
    return this.log.filter((line) => line.startsWith(beginning)).length;
  }
}
