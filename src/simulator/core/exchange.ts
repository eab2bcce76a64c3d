/**
 * The exchange without sockets: users, orders, matching and markets under one time that only `advanceTo` moves. Nothing
 * here waits or answers. Changes collect in `changes`, to be saved first and shown afterwards.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { noLots, noUnits } from '../../domain/money.ts';
import type { Account } from '../../domain/order.ts';
import type { Market } from '../market/market.ts';
import { Accounts } from './accounts.ts';
import { type Asset, type Assets, assetsOf } from './assets.ts';
import { clear, type Fees, unclear } from './clearing.ts';
import { done, type Refusal, type Result, refusals, refuse } from './errors.ts';
import type { Listed } from './instrument-terms.ts';
import { Keys } from './keys.ts';
import { checkLedger, needOf } from './ledger.ts';
import { type Match, Matching } from './matching.ts';
import { holderOf, isOpen, type Print, type SimOrder, type SimTrade } from './order.ts';
import { type Forgotten, OrderStore } from './order-store.ts';
import { openSchedule } from './schedule.ts';
import { openWithdrawals, type Withdrawal } from './withdrawals.ts';

/** An order as a user asks for it, already checked against precision and minima. */
export type OrderRequest = Pick<
  SimOrder,
  'clientOrderId' | 'symbol' | 'side' | 'type' | 'price' | 'quantity' | 'amount'
>;

export interface Changes {
  readonly orders: Set<SimOrder>;
  /** Orders that moved up in the displayed queue: to be saved, but nothing that anybody can see. */
  readonly queues: Set<SimOrder>;
  readonly trades: SimTrade[];
  /** Trades that were undone. */
  readonly busted: SimTrade[];
  /** Symbols that are no longer traded. */
  readonly delisted: Set<string>;
  /** Symbols whose terms have changed. */
  readonly terms: Set<string>;
  readonly withdrawals: Set<Withdrawal>;
  /** New public prints by symbol, the oldest first. */
  readonly prints: Map<string, NumberedPrint[]>;
  /** Symbols whose merged depth may have changed. */
  readonly books: Set<string>;
}

export interface ExchangeSetup {
  readonly instruments: readonly Instrument[];
  readonly markets: readonly Market[];
  readonly fees: Fees;
  /** UTC ms at which it opens. */
  readonly startAt: number;
  /** Delay of a cancel that is not carried out at once, ms of exchange time. */
  readonly cancelDelayMs: number | undefined;
  /** Ended orders, and own trades of an account in a symbol, that can still be asked for; 100,000 when left out. */
  readonly keptOrders?: number | undefined;
  /** Gets each one that is dropped. */
  readonly onForgotten?: Forgotten | undefined;
  readonly onLooped: (symbol: string, times: number) => void;
  /** Terms of withdrawals; the plainest where none are given. */
  readonly assets?: readonly Asset[];
}

/** A public print and its number, which counts all prints of the exchange. */
export interface NumberedPrint extends Print {
  readonly id: number;
}

/** Open orders one user may have in an account; more are refused. */
const openOrderLimit = 10_000;
/** Public prints kept per symbol: the most that one request may ask for (§4.1). */
const printLimit = 1_000;
/** Order ids have 19 digits and neighbours differ in the last one, so a client that reads them as numbers confuses them. */
const orderIdOf = (count: number): string => `18${String(count).padStart(17, '0')}`;

interface SymbolState {
  readonly market: Market;
  readonly matching: Matching;
  readonly prints: NumberedPrint[];
}

export class Exchange {
  readonly accounts = new Accounts();
  readonly keys = new Keys();
  readonly assets: Assets;
  readonly orders: OrderStore;
  readonly withdrawals = openWithdrawals(this.accounts, (one) => void this.#changes.withdrawals.add(one));
  readonly #instruments: Map<string, Listed>;
  /** Symbols that are no longer traded; what was traded in them can still be asked for. */
  readonly delisted = new Set<string>();
  readonly #setup: ExchangeSetup;
  readonly #symbols = new Map<string, SymbolState>();
  readonly #schedule = openSchedule();
  #changes: Changes = noChanges();
  #now: number;
  #madeBy: SimOrder['madeBy'];
  orderCount = 0;
  tradeCount = 1_000_000;
  printCount = 0;

  constructor(setup: ExchangeSetup) {
    this.#setup = setup;
    this.orders = new OrderStore(setup.keptOrders, setup.onForgotten);
    this.#now = setup.startAt;
    this.assets = assetsOf(setup.instruments, setup.assets);
    this.#instruments = new Map(setup.instruments.map((instrument) => [instrument.symbol, instrument]));
    for (const market of setup.markets) {
      const instrument = this.instruments.get(market.symbol);
      if (instrument === undefined) throw new Error(`the market ${market.symbol} has no instrument`);
      const queueMoved = (order: SimOrder): void => void this.#changes.queues.add(order);
      const matching = new Matching(instrument, (match) => this.#clear(match, instrument), queueMoved);
      matching.show(market.book());
      this.#symbols.set(market.symbol, {
        market,
        matching,
        prints: market.recent.map((print) => this.#numbered(print)),
      });
    }
  }

  /** By symbol, as they are listed now or were when they were delisted. */
  get instruments(): ReadonlyMap<string, Listed> {
    return this.#instruments;
  }

  /** UTC ms, exchange time. */
  get now(): number {
    return this.#now;
  }

  /** When something will happen by itself next, UTC ms; infinite when nothing will. */
  nextAt(): number {
    let at = this.#schedule.nextAt();
    for (const { market } of this.#symbols.values()) at = Math.min(at, market.nextAt());
    return at;
  }

  /** Lets everything happen that is due by `time`, in order. */
  advanceTo(time: number): void {
    for (let at = this.nextAt(); at <= time; at = this.nextAt()) {
      this.#now = Math.max(this.#now, at);
      for (const state of this.#symbols.values()) if (state.market.nextAt() <= at) this.#marketEvent(state);
      this.#schedule.runDue(at);
    }
    this.#now = Math.max(this.#now, time);
  }

  /** Has something happen at a later exchange time: another participant acts, a fault begins. */
  at(time: number, fn: () => void): void {
    this.#schedule.at(time, fn);
  }

  place(uid: string, request: OrderRequest, account: Account = 'spot'): Result<SimOrder> {
    const state = this.#symbol(request.symbol);
    if (this.delisted.has(request.symbol)) return refuse(refusals.symbol);
    const holder = holderOf(uid, account);
    if (!this.hasRoomFor(holder, 1)) return refuse(refusals.openOrders);
    const [asset, amount] = needOf(request, state.matching.instrument);
    if (!this.accounts.lock(holder, asset, amount)) return refuse(refusals.funds);
    const order: SimOrder = {
      ...request,
      orderId: orderIdOf(++this.orderCount),
      uid,
      account,
      holder,
      createdAt: this.#now,
      updatedAt: this.#now,
      status: 'NEW',
      executed: noLots,
      spent: noUnits,
      locked: amount,
      queueAhead: noLots,
    };
    if (this.#madeBy !== undefined) order.madeBy = this.#madeBy;
    this.orders.add(order);
    this.#changes.orders.add(order);
    if (order.type === 'MARKET') this.#placeMarket(order, state.matching);
    else {
      state.matching.take(order);
      if (order.executed < order.quantity) state.matching.rest(order);
    }
    this.#changes.books.add(order.symbol);
    return done(order);
  }

  /** Marks the orders that come into being meanwhile as none that a client sent. */
  madeBy<T>(whom: 'hand' | 'fault', act: () => T): T {
    this.#madeBy = whom;
    try {
      return act();
    } finally {
      this.#madeBy = undefined;
    }
  }

  /** Whether a holder may have this many more open orders. */
  hasRoomFor(holder: string, count: number): boolean {
    return this.orders.open(holder).size + count <= openOrderLimit;
  }

  /** Ends an order, at once or after the delay of the observed profile; refuses one that has ended, except there. */
  cancel(order: SimOrder): Refusal | undefined {
    const delay = this.#setup.cancelDelayMs;
    if (!isOpen(order)) return delay === undefined ? refusals.notCancellable : undefined;
    if (delay === undefined) this.#finish(order, 'CANCELED');
    else if (order.status !== 'CANCELING') {
      order.status = 'CANCELING';
      this.#changes.orders.add(order);
      this.#schedule.at(this.#now + delay, () => {
        if (isOpen(order)) this.#finish(order, 'CANCELED');
      });
    }
    return undefined;
  }

  /** Ends trading in a symbol: its open orders end at once, and no more are taken. */
  delist(symbol: string): void {
    this.delisted.add(symbol);
    this.#changes.delisted.add(symbol);
    for (const order of [...this.orders.all()])
      if (order.symbol === symbol && isOpen(order)) this.#finish(order, 'CANCELED');
  }

  /** Lists a symbol under other terms from now on. */
  list(at: Listed): void {
    this.#instruments.set(at.symbol, at);
    this.#changes.terms.add(at.symbol);
  }

  /** Undoes a trade: money and fees go back, lists no longer show it, and its orders stay unchanged. False when the money is spent. */
  bust(trade: SimTrade): boolean {
    if (!unclear(trade, this.#symbol(trade.symbol).matching.instrument, this.accounts)) return false;
    this.orders.removeTrade(trade);
    this.#changes.busted.push(trade);
    return true;
  }

  /** The instruments that are traded. */
  listed(): Listed[] {
    return [...this.instruments.values()].filter(({ symbol }) => !this.delisted.has(symbol));
  }

  /** The newest public prints, the newest first. */
  recentPrints(symbol: string, count: number): NumberedPrint[] {
    return this.#symbol(symbol).prints.slice(-count).reverse();
  }

  market(symbol: string): Market {
    return this.#symbol(symbol).market;
  }

  matching(symbol: string): Matching {
    return this.#symbol(symbol).matching;
  }

  /** What changed since this was last called. */
  takeChanges(): Changes {
    const changes = this.#changes;
    this.#changes = noChanges();
    return changes;
  }

  /** Puts back a saved order; a cancel that was under way when the process died is finished. */
  restoreOrder(order: SimOrder): void {
    this.orders.add(order);
    if (!isOpen(order)) return;
    const { matching } = this.#symbol(order.symbol);
    const { queueAhead } = order;
    matching.rest(order);
    order.queueAhead = queueAhead;
    if (order.status === 'CANCELING') this.#finish(order, 'CANCELED');
  }

  /** Throws when the money or a book is not as it must be. */
  checkLedger(): void {
    checkLedger(this);
  }

  #placeMarket(order: SimOrder, matching: Matching): void {
    if (!matching.hasCounterSide(order.side)) {
      this.#finish(order, 'REJECTED');
      return;
    }
    matching.take(order);
    if (order.status === 'FILLED') return;
    const satisfied = order.side === 'BUY' && order.executed > 0n && !matching.couldBuyMore(order);
    this.#finish(order, satisfied ? 'FILLED' : 'CANCELED');
  }

  #finish(order: SimOrder, status: 'FILLED' | 'CANCELED' | 'REJECTED'): void {
    const { matching } = this.#symbol(order.symbol);
    const { base, quote } = matching.instrument;
    matching.remove(order);
    this.accounts.unlock(order.holder, order.side === 'BUY' ? quote : base, order.locked);
    order.locked = noUnits;
    order.status = status;
    order.updatedAt = this.#now;
    this.orders.ended(order);
    this.#changes.orders.add(order);
    this.#changes.books.add(order.symbol);
  }

  #clear(match: Match, at: Instrument): void {
    const trade = clear(match, at, this.#now, {
      accounts: this.accounts,
      fees: this.#setup.fees,
      nextTradeId: () => (++this.tradeCount).toString(),
    });
    this.orders.addTrade(trade);
    this.#changes.trades.push(trade);
    this.#changes.books.add(at.symbol);
    for (const order of [match.taker, match.maker]) {
      if (order === undefined) continue;
      this.#changes.orders.add(order);
      if (order.status === 'FILLED') this.orders.ended(order);
    }
    // A recorded print that fills a resting order is public already; everything else that trades becomes a print.
    if (match.taker !== undefined) this.#publish(this.#symbol(at.symbol), printOf(trade), true);
  }

  #marketEvent(state: SymbolState): void {
    const { symbol } = state.market;
    const { print, book, looped } = state.market.next();
    if (looped !== undefined) this.#setup.onLooped(symbol, looped);
    if (print !== undefined) {
      state.matching.print(print);
      this.#publish(state, print, false);
    }
    if (book !== undefined) {
      state.matching.show(book);
      this.#changes.books.add(symbol);
    }
  }

  #publish(state: SymbolState, print: Print, byUsers: boolean): void {
    const { prints, market } = state;
    const numbered = this.#numbered(print);
    prints.push(numbered);
    if (prints.length > 2 * printLimit) prints.splice(0, prints.length - printLimit);
    if (byUsers) market.traded(print);
    const fresh = this.#changes.prints.get(market.symbol);
    if (fresh === undefined) this.#changes.prints.set(market.symbol, [numbered]);
    else if (fresh.push(numbered) > printLimit) fresh.shift();
  }

  #numbered(print: Print): NumberedPrint {
    const { time, price, quantity, side } = print;
    return { id: ++this.printCount, time, price, quantity, side };
  }

  #symbol(symbol: string): SymbolState {
    const state = this.#symbols.get(symbol);
    if (state === undefined) throw new Error(`no market for ${symbol}`);
    return state;
  }
}

const noChanges = (): Changes => ({
  orders: new Set(),
  queues: new Set(),
  trades: [],
  busted: [],
  delisted: new Set(),
  terms: new Set(),
  withdrawals: new Set(),
  prints: new Map(),
  books: new Set(),
});

const printOf = ({ time, price, quantity, side }: SimTrade): Print => ({ time, price, quantity, side });
