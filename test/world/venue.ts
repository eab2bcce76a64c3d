/** The exchange of a simulated world: the real simulator core, its replicas, and what of it is the truth about our orders. */

import type { Clock } from '../../src/clock/clock.ts';
import type { Instrument } from '../../src/domain/instrument.ts';
import type { Depth, Level, Side } from '../../src/domain/market.ts';
import { negate, priceNumber, quantityNumber, rate, type Units, units } from '../../src/domain/money.ts';
import type { Account } from '../../src/domain/order.ts';
import { type Changes, Exchange } from '../../src/simulator/core/exchange.ts';
import { Limits } from '../../src/simulator/core/limits.ts';
import { holderOf, type SimOrder, type SimTrade } from '../../src/simulator/core/order.ts';
import { type Quirks, quirksOf } from '../../src/simulator/core/quirks.ts';
import { Replicas } from '../../src/simulator/faults/replica.ts';
import { type ApiReply, type ApiRequest, createApi } from '../../src/simulator/http/api.ts';
import { emptyMarket } from '../../src/simulator/market/empty-market.ts';
import { Feed } from '../../src/simulator/ws/feed.ts';
import { startTime } from '../kit/builders.ts';
import { stored } from './frames.ts';
import type { Time } from './life.ts';

/** The account that our process and the human share, and the other participants. */
export const ourUid = '7';
export const crowdUid = '9';
export const key = 'key';
export const secret = 'secret';
const ip = '10.0.0.1';

/** What the account begins with. Much of it belongs to the human. */
export const baseline: Readonly<Record<string, string>> = { USDT: '1000000', BTC: '1000', ETH: '1000' };
/** How many levels of a book are shown. */
const shownLevels = 10;
const fees = { maker: rate('0.001'), taker: rate('0.002') };

type Api = (request: ApiRequest) => ApiReply;

export interface VenueOptions {
  readonly time: Time;
  readonly instruments: readonly Instrument[];
  readonly quirks: Partial<Quirks>;
  readonly limits: { readonly ipWeightPerMinute: number; readonly uidWeightPerMinute: number };
  /** How far replicas are behind, ms; undefined: there are none. */
  readonly lagMs: number | undefined;
  readonly account: Account;
  /** Sockets may be opened. */
  readonly sockets: boolean;
  /** Told of every change, of prices too. */
  readonly priced?: ((changes: Changes) => void) | undefined;
  /** Told of everything that changed for our account. */
  readonly changed: (orders: readonly SimOrder[], trades: readonly SimTrade[]) => void;
}

export class Venue {
  readonly exchange: Exchange;
  readonly quirks: Quirks;
  readonly clock: Clock;
  readonly account: Account;
  /** Whose balances the account's are. */
  readonly holder: string;
  /** What sockets are shown; undefined where nobody opens one. */
  readonly feed: Feed | undefined;
  /** How far the exchange's clock has jumped ahead, ms. */
  aheadMs = 0;
  readonly #options: VenueOptions;
  readonly #api: Api;
  readonly #replicas: Replicas<Api> | undefined;

  constructor(options: VenueOptions) {
    const { instruments, lagMs, time } = options;
    this.#options = options;
    const quirks = quirksOf('documented', options.quirks);
    this.quirks = quirks;
    this.account = options.account;
    this.holder = holderOf(ourUid, options.account);
    this.exchange = emptyExchange(instruments, quirks.cancel === 'later' ? 500 : undefined);
    const limits = new Limits(options.limits, () => {});
    const { keys, accounts } = this.exchange;
    keys.configure(key, { uid: ourUid, secret, permissions: ['read', 'trade'] });
    const clock = this.#clockOn(time);
    this.clock = clock;
    const serve = (exchange: Exchange): Api => createApi({ exchange, limits, quirks, clock, keys });
    this.#api = serve(this.exchange);
    this.feed = options.sockets ? new Feed(this.exchange, quirks, () => this.now(), stored) : undefined;
    this.exchange.orders.passing.add(crowdUid);
    for (const [asset, amount] of Object.entries(baseline)) {
      accounts.deposit(this.holder, asset, units(amount));
      accounts.deposit(crowdUid, asset, units('1000000000'));
    }
    if (lagMs === undefined) return;
    this.#replicas = new Replicas({
      exchange: this.exchange,
      users: [ourUid],
      empty: () => emptyExchange(instruments, undefined),
      serve,
      lengthOf: (ms) => ms,
    });
    this.#replicas.open(lagMs);
  }

  /** The exchange's clock on the world's time. */
  #clockOn(time: Time): Clock {
    return {
      now: () => this.now(),
      monotonic: () => time.sim.monotonic(),
      at: (at, fn) => time.at(at - this.aheadMs, fn),
      sleep: (ms) => time.sim.sleep(ms),
      machine: (ms) => ms,
      track: (work) => time.sim.track(work),
    };
  }

  /** Carries a request out now; `behind`: a replica answers it. */
  process(request: Omit<ApiRequest, 'ip'>, behind: boolean): ApiReply {
    this.advance();
    const { lagMs } = this.#options;
    const api =
      behind && request.method === 'GET' && lagMs !== undefined && this.#replicas !== undefined
        ? this.#replicas.ask(lagMs)
        : this.#api;
    const reply = api({ ...request, ip });
    this.look();
    return reply;
  }

  /** An amount is paid in, or out where it is negative, behind our back; false where there is too little. */
  transfer(asset: string, amount: Units): boolean {
    this.advance();
    const { accounts } = this.exchange;
    const out = negate(amount);
    if (amount < 0n && !accounts.lock(this.holder, asset, out)) return false;
    if (amount < 0n) accounts.payOut(this.holder, asset, out);
    else accounts.deposit(this.holder, asset, amount);
    this.look();
    return true;
  }

  /** The book of a symbol now; its time is the world's. */
  book(symbol: string): Depth {
    this.advance();
    const at = this.exchange.instruments.get(symbol);
    if (at === undefined) throw new Error(`no instrument ${symbol}`);
    const now = this.#options.time.now();
    const side = (of: Side): readonly Level[] =>
      this.exchange
        .matching(symbol)
        .depth(of, shownLevels)
        .map(({ price, quantity }) => [priceNumber(price, at), quantityNumber(quantity, at)]);
    return { symbol, time: now, seenAt: now, bids: side('BUY'), asks: side('SELL') };
  }

  /** UTC ms by the exchange. */
  now(): number {
    return this.#options.time.now() + this.aheadMs;
  }

  advance(): void {
    this.exchange.advanceTo(this.now());
  }

  /** Tells of what changed since the last time. */
  look(): void {
    const changes = this.exchange.takeChanges();
    const { orders, trades } = changes;
    this.#options.priced?.(changes);
    this.feed?.publish(changes);
    const { changed } = this.exchange.accounts;
    if (orders.size + trades.length === 0 && changed.size === 0) return;
    const ours: SimOrder[] = [];
    for (const order of orders) if (order.uid === ourUid) ours.push(order);
    const own = trades.filter(({ buyer, seller }) => buyer?.uid === ourUid || seller?.uid === ourUid);
    if (this.#replicas !== undefined && (ours.length > 0 || own.length > 0 || changed.has(this.holder))) {
      const balances = [...this.exchange.accounts.holdings(this.holder)].map(([asset, holding]) => ({
        holder: this.holder,
        asset,
        holding: { ...holding },
      }));
      this.#replicas.record({ orders: new Set(ours), trades: own }, balances);
    }
    changed.clear();
    if (ours.length > 0 || own.length > 0) this.#options.changed(ours, own);
  }
}

const emptyExchange = (instruments: readonly Instrument[], cancelDelayMs: number | undefined): Exchange =>
  new Exchange({
    instruments,
    markets: instruments.map((at) => emptyMarket(at)),
    fees,
    startAt: startTime,
    cancelDelayMs,
    onLooped: () => {},
  });
