/** Looks on while a world runs: every invariant that can be seen at a step is checked there, and the first that breaks is kept. */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Depth, Kline } from '../../src/domain/market.ts';
import { noUnits, plus, priceText, quantityText } from '../../src/domain/money.ts';
import type { OrderState } from '../../src/domain/order.ts';
import type { Entry } from '../../src/journal/entries.ts';
import type { ArmedStop } from '../../src/portfolio/protection.ts';
import type { SimOrder } from '../../src/simulator/core/order.ts';
import type { HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import type { ByHand } from './by-hand.ts';
import * as hand from './by-hand-checks.ts';
import { GivenUp } from './given-up.ts';
import type { Time } from './life.ts';
import { farthestSkewMs, type Plan } from './plan.ts';
import type { Prices } from './prices.ts';
import type { Process } from './process.ts';
import { Reach, watchTables } from './reach.ts';
import { intentsLike, orderRow } from './rows.ts';
import * as check from './step-checks.ts';
import { strategyIds } from './strategies.ts';
import { SubLedgers } from './sub-ledgers.ts';
import type { Trace } from './trace.ts';
import { idOf, instrumentOf, Truth } from './truth.ts';

/** The first invariant that broke, and when, ms after the start. */
export type Broken = check.Violation & { readonly atMs: number };

export interface WatchOptions {
  readonly time: Time;
  readonly trace: Trace;
  readonly plan: Plan;
  readonly maxWeight: number;
  /** D, ms. */
  readonly absentAfterMs: number;
  /** Orders may leave in batches. */
  readonly batches: boolean;
  readonly price: (symbol: string) => number;
  readonly byHand: () => ByHand;
  /** UTC ms by the exchange's gateways, whose clocks may be off or set. */
  readonly exchangeNow: () => number;
}

/** How far the process's clock may be off the exchange's, ms: one that is set while nobody asks is told of late. */
const slackOf = ({ classes }: Plan): number =>
  classes.includes('step') ? farthestSkewMs + 5_000 : classes.includes('skew') ? 5_000 : 150;

/** How long the disk is full, and the exchange away, whose time may be in doubt then, ms. */
const heldUpMs = ({ events }: Plan): number =>
  events
    .filter(({ kind }) => kind === 'fullDisk' || kind === 'noPages' || kind === 'outage')
    .reduce((sum, event) => sum + ('forMs' in event ? event.forMs : 0), 0);

/** How long a book counts that a process was shown, ms, and how many are kept. */
const rememberedMs = 5_000;
const maxBooks = 15;

/** Invariants that an exchange breaks which judges the window at its gateway. */
const ofTheWindow: ReadonlySet<string> = new Set(['I7', 'I8', 'exit', 'flatten']);

export class Watch {
  readonly truth = new Truth();
  readonly reach = new Reach();
  readonly givenUp = new GivenUp();
  readonly #options: WatchOptions;
  readonly #spending: check.Spending;
  readonly #slackMs: number;
  readonly #sent = new Set<string>();
  readonly #states = new Map<string, OrderState>();
  #running: Pick<Process, 'assembled' | 'life'> | undefined;
  #books: readonly Depth[] = [];
  /** How long nothing could be sent in all, ms. */
  #heldUpMs: number;
  failure: Broken | undefined;
  unknowns = 0;
  fills = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    watchTables(this.reach);
    this.#slackMs = slackOf(options.plan);
    this.#heldUpMs = heldUpMs(options.plan);
    this.#spending = new check.Spending(options.maxWeight, this.#slackMs);
  }

  get creates(): number {
    return this.#sent.size;
  }

  get quarantined(): number {
    return [...this.#states.values()].filter((state) => state === 'quarantined').length;
  }

  /** A process has started: whatever it books is looked at. */
  started({ assembled, life }: Process, db: Database): void {
    this.#running = { assembled, life };
    const ledgers = new SubLedgers(this.truth, assembled, db);
    assembled.booked.subscribe((fill) => {
      if (life.alive) this.#try('I12', ledgers.booked(fill));
    });
  }

  /** What a process makes of the prices that it hears; the klines of one process come once each, in order. */
  prices(
    prices: Prices,
    isInTime: () => boolean,
  ): { readonly stopHit: (stop: ArmedStop) => void; readonly received: (kline: Kline) => void } {
    const last = new Map<string, number>();
    const since = this.#options.time.now();
    prices.stand(since);
    return {
      stopHit: (stop) => this.#try('stop', prices.stopWasReached(stop, since)),
      received: (kline) => {
        const before = last.get(kline.symbol) ?? 0;
        if (kline.openTime <= before) this.fail('kline', `${kline.symbol} ${kline.openTime} comes after ${before}`);
        last.set(kline.symbol, kline.openTime);
        if (isInTime()) this.#try('kline', prices.klineIsTheExchanges(kline));
      },
    };
  }

  /** A process has received that nothing may be sent until then. */
  forbid(until: number): void {
    this.#heldUpMs += Math.max(0, until - Math.max(this.#options.time.now(), this.#spending.forbiddenUntil));
    this.#spending.forbiddenUntil = Math.max(this.#spending.forbiddenUntil, until);
  }

  /** A request's first byte leaves. */
  leaves(request: HttpRequest, db: Database): void {
    this.#try('I10', this.#spending.spend(request, this.#options.time.now()));
    this.#try('foreign', check.onlyOursIsCancelled(request, this.truth));
    const hash = request.method === 'GET' ? '' : sha256(request.body ?? '');
    const batch = check.batchIds(request, hash, db);
    this.#try('I2', check.batchFollowsCommits(request, batch, this.#sent));
    const id = check.createdId(request);
    for (const one of id === undefined ? batch : [id]) this.#leavesByHand(one, db);
    if (id === undefined) return;
    this.#try('I2', check.createsFollowCommits(id, hash, this.#sent, db));
    this.givenUp.leaves(id, /"symbol":"([^"]*)"/.exec(request.body ?? '')?.[1] ?? '');
  }

  /** What a human has stopped does not leave, and what closes a position closes no more than that. */
  #leavesByHand(id: string, db: Database): void {
    const row = orderRow(db, id);
    if (row === undefined) return;
    const { time, byHand, price } = this.#options;
    const { strategy, symbol, side } = row;
    const now = time.now();
    this.#try('stop', hand.stopsAreObeyed(id, row, byHand().stops, now));
    const { assembled, life } = this.#running ?? {};
    this.#try(
      'halt',
      hand.nothingIsCreatedUnderHalt(id, assembled?.execution.halts.inForce[0]?.at, life?.clock.now() ?? 0),
    );
    const closing = this.truth.open(side, strategy, symbol);
    this.#try('exit', hand.exitsFit(id, row, this.truth.position(strategy, symbol), closing, price(symbol)));
    const books = this.#books.filter((book) => book.symbol === symbol && now - book.seenAt <= rememberedMs);
    const { flattens } = byHand();
    const slackMs = this.#slackMs + this.#heldUpMs;
    this.#try('flatten', hand.flattensAreAsked(id, row, { flattens, books, now, slackMs }));
  }

  /** A process is shown a book; `seenAt`: the world's ms. */
  bookSeen(book: Depth): Depth {
    this.#books = [...this.#books.slice(-maxBooks), book];
    return book;
  }

  /** A batch was committed; `pending`: bodies of requests that may still be carried out. */
  committed(entries: readonly Entry[], db: Database, pending: Iterable<string>): void {
    const { trace, absentAfterMs, exchangeNow } = this.#options;
    const byHand = new Set<string>();
    for (const entry of entries) {
      if (entry.kind !== 'event') continue;
      if (entry.event === 'unknown') this.unknowns++;
      // A human who leaves it quarantined is told of as a quarantine.
      if (entry.detail['as'] !== undefined) {
        byHand.add(entry.clientOrderId);
        this.reach.human(this.#states.get(entry.clientOrderId), String(entry.detail['as']));
      }
      trace.say(`event ${entry.clientOrderId} ${entry.event} ${JSON.stringify(entry.detail)}`);
    }
    this.#try('flatten', this.#options.byHand().pausesAreWithFlattens(entries));
    const { fills, orders } = check.committedEntries(entries);
    this.fills += fills.length;
    for (const fill of fills) {
      trace.say(`fill ${fill.tradeId} ${fill.orderId} ${fill.side} ${fill.quantity} of ${fill.clientOrderId}`);
      this.#try('I3', check.fillsAreTheExchanges(fill, this.truth));
      this.#try('I5', check.fillsFitOrders(fill, db));
    }
    for (const row of orders) {
      const before = this.#states.get(row.clientOrderId);
      if (before !== row.state) trace.say(`order ${row.clientOrderId} is ${row.state}`);
      this.#try('I4', check.closedAddsUp(row, this.truth, db));
      // What a human says of an order he has looked up needs no proof.
      if (!byHand.has(row.clientOrderId)) {
        this.#try('I7', check.absenceIsNotTooEarly(row, before, pending, exchangeNow()));
        const at = { now: exchangeNow(), absentAfterMs, slackMs: this.#slackMs };
        this.#try('I7', check.absenceWaitsForTheHorizon(row, before, at));
      }
      if (row.state === 'absent' && before !== 'absent') this.givenUp.absent(row.clientOrderId);
      this.#try('I9', check.closedStaysClosed(row, before));
      this.#states.set(row.clientOrderId, row.state);
    }
  }

  /** Something changed on our account at the exchange. */
  changed(orders: Parameters<Truth['see']>[0], trades: Parameters<Truth['see']>[1], db: Database): void {
    const known = this.truth.legs.length;
    const fresh = this.truth.see(orders, trades, (order) => this.#intentOf(order, db));
    for (const { order } of this.truth.legs.slice(known)) {
      const row = orderRow(db, idOf(order));
      const held = row === undefined ? noUnits : this.truth.position(row.strategy, row.symbol);
      if (row !== undefined) this.#try('flatten', hand.flattenStopsAtZero(row, held));
    }
    if (fresh.length === 0) return;
    this.#try('I1', check.ordersHaveIntents(fresh, this.truth, db));
    for (const order of fresh) {
      this.givenUp.appears(order);
      let held = noUnits;
      for (const id of strategyIds) held = plus(held, this.truth.position(id, order.symbol));
      const price = this.#options.price(order.symbol);
      this.#try('I8', check.exposureStaysBelowLimit(order, this.truth, held, price));
      this.#try('I8', check.nothingIsBoughtTwice(order, this.truth));
      this.#try('I8', check.moneyIsNotSpentTwice(order, this.truth, this.#options.price));
    }
  }

  /** Where orders leave in batches nobody else trades: an order without an id is one of a batch, and its intent is the one like it. */
  #intentOf(order: SimOrder, db: Database): string | undefined {
    if (!this.#options.batches) return undefined;
    const { symbol, side } = order;
    const at = instrumentOf(symbol);
    const [price, quantity] = [priceText(order.price, at), quantityText(order.quantity, at)];
    const like = intentsLike(db, { symbol, side, price, quantity }).filter((id) => !this.truth.ours.has(id));
    if (like.length === 0)
      this.fail('I1', `order ${order.orderId} has no client id, and no intent of a batch is like it`);
    return like[0];
  }

  fail(invariant: string, text: string): void {
    // What a create that comes too late may do is counted there, not forbidden: its rules hold where the window is judged when it is carried out.
    if (this.failure !== undefined || (this.#options.plan.lateQueue && ofTheWindow.has(invariant))) return;
    const { time, trace } = this.#options;
    this.failure = { invariant, text, atMs: time.elapsed() };
    trace.say(`BROKEN ${invariant}: ${text}`);
  }

  #try(invariant: string, verdict: check.Verdict): void {
    if (verdict !== undefined) this.fail(invariant, verdict);
  }
}

const sha256 = (text: string): string => hash('sha256', text);
