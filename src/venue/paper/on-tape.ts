/**
 * A simulated venue on recorded trades and books, and on klines where neither is stored. The backtest hands each
 * event over when it reached the exchange. Requests have latency in both directions, and fills are found by polling. While klines
 * decide, latency is counted in whole klines and news is immediate.
 */
import { Subject } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Side } from '../../domain/market.ts';
import type { Intent } from '../../domain/order.ts';
import { travelOf } from '../../fill/latency.ts';
import type { Step } from '../../fill/orders.ts';
import { TradeFills } from '../../fill/trade-fills.ts';
import { type AccountReader, type OrderEntry, ok } from '../venue.ts';
import { PaperAccount } from './account.ts';
import { PaperMarket, type PaperOnKlinesOptions } from './on-klines.ts';
import { PaperMarkets, type PaperWire, paperBalances, paperOrders } from './order-entry.ts';

export interface PaperOnTapeOptions extends PaperOnKlinesOptions {
  readonly clock: Clock;
  /** Called when an order reaches a symbol that fills by trades and depth: from now on fills are worth polling for. */
  readonly works: (symbol: string) => void;
}

/** How many requests of each kind a run has made. */
export interface Requests {
  creates: number;
  cancels: number;
  queries: number;
}

export class PaperOnTape extends PaperMarkets<TapeMarket> {
  readonly orders: OrderEntry;
  readonly account: AccountReader;
  readonly requests: Requests = { creates: 0, cancels: 0, queries: 0 };
  readonly #options: PaperOnTapeOptions;
  #request = 0;
  #hasArrived = false;
  /** By symbol, when a poll arrived whose query of trades is still unanswered, UTC ms. */
  readonly #polledAt = new Map<string, number>();

  constructor(options: PaperOnTapeOptions) {
    const account = new PaperAccount(options);
    const news = new Subject<string>();
    const open = (symbol: string): TapeMarket => new TapeMarket(options, account, symbol, () => news.next(symbol));
    super(account, options.intervals.keys(), open);
    const { requests } = this;
    const wire: PaperWire = {
      submit: (intent) => {
        requests.creates++;
        return this.#travel(intent.symbol, intent.clientOrderId, () => this.submit(intent));
      },
      cancel: (order) => {
        requests.cancels++;
        return this.#travel(order.symbol, order.orderId, () => this.cancel(order));
      },
      ask: (read) => {
        requests.queries++;
        return this.#travel(undefined, '', read);
      },
    };
    this.#options = options;
    const orders = paperOrders(account, wire, options.clock);
    this.orders = {
      ...orders,
      tradesSince: (symbol, fromId) => this.#tradesOfPoll(symbol, fromId) ?? orders.tradesSince(symbol, fromId),
      news,
    };
    this.account = paperBalances(account, wire);
  }

  /**
   * A poll of a symbol has arrived, whose two queries were sent together. The next query of open orders has already waited, and the
   * following query of trades gets the trades of this moment, with the delay of the same answer.
   */
  arrived(symbol: string): void {
    this.#hasArrived = true;
    this.#polledAt.set(symbol, this.#options.clock.now());
  }

  /** The trades of the last poll at its arrival; undefined when they must be queried. */
  #tradesOfPoll(symbol: string, fromId: string | undefined): ReturnType<OrderEntry['tradesSince']> | undefined {
    const at = this.#polledAt.get(symbol);
    if (at === undefined) return undefined;
    this.#polledAt.delete(symbol);
    this.requests.queries++;
    const { rows, full } = this.funds.records.tradesSince(symbol, fromId);
    return Promise.resolve(ok({ rows: rows.filter(({ time }) => time <= at), full }));
  }

  /** A request travels, is acted upon, and its answer travels back; at once where klines speak. */
  async #travel<T>(symbol: string | undefined, id: string, act: () => T): Promise<T> {
    const { clock, rules, intervals } = this.#options;
    const isTape =
      symbol === undefined
        ? [...this.all()].some(({ byTape }) => byTape)
        : intervals.has(symbol) && this.market(symbol).byTape;
    if (!isTape) return act();
    const { entryMs, responseMs } = travelOf(rules, clock.now(), id, this.#request++);
    const hasTravelled = this.#hasArrived && symbol === undefined;
    if (hasTravelled) this.#hasArrived = false;
    else await clock.sleep(entryMs);
    const answer = act();
    await clock.sleep(responseMs);
    return answer;
  }
}

/** One symbol: filled by trades and books, or by klines, as the backtest says. */
export class TapeMarket {
  /** True while trades and depth decide. */
  byTape = false;
  /** The phases of a kline, for the times when klines speak. */
  readonly klines: PaperMarket;
  readonly tape: TradeFills;
  readonly #account: PaperAccount;
  readonly #now: () => number;
  readonly #arrived: () => void;
  #hasNews = false;

  constructor(options: PaperOnTapeOptions, account: PaperAccount, symbol: string, changed: () => void) {
    const instrument = options.instruments.get(symbol);
    if (instrument === undefined) throw new Error(`no instrument ${symbol}`);
    this.#account = account;
    this.#now = () => options.clock.now();
    this.#arrived = () => options.works(symbol);
    this.klines = new PaperMarket(options, account, symbol, changed);
    const liquidity = options.liquidity?.get(symbol);
    this.tape = new TradeFills({
      instrument,
      rules: options.rules,
      canPay: account.canPay.bind(account),
      ...(liquidity !== undefined && { liquidity }),
    });
  }

  /** Changes who speaks, at UTC ms `at`; orders go along with what they have filled and lose their place in a queue. */
  speak(byTape: boolean, at: number): void {
    if (byTape === this.byTape) return;
    this.byTape = byTape;
    if (byTape)
      for (const { order, executed } of this.klines.fills.release()) this.#book(this.tape.submit(order, at, executed));
    else for (const { order, executed } of this.tape.release()) this.klines.fills.submit(order, executed);
  }

  submit(intent: Intent): void {
    if (!this.byTape) {
      this.klines.submit(intent);
      return;
    }
    this.#book(this.tape.submit(intent, this.#now()));
    this.#arrived();
  }

  cancel(clientOrderId: string): void {
    if (this.byTape) this.#book(this.tape.cancel(clientOrderId));
    else this.klines.cancel(clientOrderId);
  }

  /** A trade reaches the exchange's ticker at UTC ms `time`. */
  print(side: Side, price: number, quantity: number, time: number): void {
    const step = this.tape.printed(side, price, quantity, time, time);
    if (step.fills.length > 0 || step.ends.length > 0) this.#book(step);
  }

  /** The sides of the book have been written (`tape.sides`), as they stood at UTC ms `time`. */
  shown(time: number): void {
    const step = this.tape.shown(time, time);
    if (step.fills.length > 0 || step.ends.length > 0) this.#book(step);
  }

  /** Whether something happened to an order since this was last asked. */
  takeNews(): boolean {
    const had = this.#hasNews;
    this.#hasNews = false;
    return had;
  }

  #book(step: Step): void {
    if (this.#account.book(step)) this.#hasNews = true;
  }
}
