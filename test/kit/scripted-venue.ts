/** An exchange in memory that answers as a test tells it to. Its own books are the truth that ours are compared with. */
import type { Clock } from '../../src/clock/clock.ts';
import type { Instrument } from '../../src/domain/instrument.ts';
import {
  baseUnits,
  type Lots,
  lots,
  lotsFor,
  min,
  minus,
  noLots,
  notional,
  noUnits,
  plus,
  type Ticks,
  ticks,
  type Units,
  units,
} from '../../src/domain/money.ts';
import type { Intent, OrderReport, Outcome, VenueStatus, VenueTrade } from '../../src/domain/order.ts';
import { movementOf } from '../../src/domain/position.ts';
import {
  type Answer,
  type Balance,
  type BatchCreated,
  type Batches,
  type CancelOutcome,
  failed,
  type OrderEntry,
  type OrderRef,
  ok,
  type Page,
} from '../../src/venue/venue.ts';
import { btc } from './builders.ts';

/** What happens to a create: `lost` answers are unknown to the sender, after the order was accepted or without it. */
export type CreateFate = 'accept' | 'reject' | 'notSent' | 'acceptLost' | 'dropLost';
export type CancelFate = 'apply' | 'ignore' | 'refuse' | 'applyLost' | 'dropLost';
export type Question = 'query' | 'queryByClientId' | 'openOrders' | 'tradesSince' | 'balances';

export interface VenueOrder {
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly intent: Pick<Intent, 'symbol' | 'side' | 'type' | 'volume' | 'price'>;
  status: VenueStatus;
  /** A word for it that nobody has described. */
  oddStatus?: string;
  executed: Lots;
  readonly createdAt: number;
  /** Not shown before, UTC ms. */
  visibleAt: number;
}

interface SeenTrade extends VenueTrade {
  readonly visibleAt: number;
}

/** Rows in a full list. */
const defaultPage = 1_000;

export class ScriptedVenue {
  readonly orders = new Map<string, VenueOrder>();
  readonly trades: SeenTrade[] = [];
  /** What was asked, in order: `create c1`, `cancel 1001`, `query 1001`, `openOrders`, `trades from 7`. */
  readonly log: string[];
  /** What happens to the next creates and cancels; the last one stays. */
  creates: CreateFate[] = ['accept'];
  cancels: CancelFate[] = ['apply'];
  /** Questions that fail. */
  readonly failing = new Set<Question>();
  /** The key was revoked. */
  keyRefused = false;
  /** Called as a create or a cancel arrives, before its fate. */
  onCreate: (intent: Intent) => void = () => {};
  onCancel: (order: VenueOrder) => void = () => {};
  /** Whether weight is given to creates. */
  admits = true;
  /** Whether that is foreseen. */
  isRoom = false;
  /** How long an answer takes, and how much later than its happening a thing is shown, ms. */
  latencyMs = 10;
  lagMs = 0;
  pageSize = defaultPage;
  openLimit = defaultPage;
  /** The price at which MARKET orders fill at once; undefined: they wait. */
  market: Ticks | undefined;
  echoesIds = true;
  /** A trade with ourselves is shown as a row for each side, the second one this much later, ms; undefined: as one row. */
  twinLagMs: number | undefined;
  /** How rows of trades differ from what happened, by trade id. */
  readonly shownAs = new Map<string, Partial<VenueTrade>>();
  /** What each side of a trade costs, in quote. */
  fee: Units = noUnits;
  /** What the account holds, locked included. A test that pays in or out writes to it. */
  readonly holdings = new Map<string, Units>();
  /** Orders whose end the account knows already and the lists do not. */
  readonly unlocked = new Set<string>();
  readonly #clock: Clock;
  readonly #at: Instrument;
  #nextOrder: number;
  #nextTrade: number;

  /** `firstId`: of its trades; its orders are counted from a thousand more. */
  constructor(clock: Clock, log: string[] = [], at: Instrument = btc, firstId = 1) {
    this.#clock = clock;
    this.log = log;
    this.#at = at;
    this.#nextTrade = firstId;
    this.#nextOrder = 1_000 + firstId;
    this.holdings.set(at.quote, units('10000000')).set(at.base, units('1000'));
  }

  /** The order port of one run of the program. After `cut` nothing that it asked for is answered. */
  port(
    options: { readonly byClientId?: boolean; readonly batches?: boolean } = {},
  ): OrderEntry & { readonly cut: () => void; readonly balances: () => Promise<Answer<readonly Balance[]>> } {
    let dead = false;
    const reply = async <T>(words: string, happen: () => T): Promise<T> => {
      if (dead) return new Promise<T>(() => {});
      this.log.push(words);
      const { latencyMs } = this;
      const answer = happen();
      await this.#clock.sleep(latencyMs);
      return dead ? new Promise<T>(() => {}) : answer;
    };
    return {
      cut: () => {
        dead = true;
      },
      admit: () => (dead ? new Promise(() => {}) : Promise.resolve(this.admits)),
      isRoom: () => this.isRoom,
      prepare: (intent) => ({
        signedAt: this.#clock.now(),
        recvWindowMs: 2_000,
        bodyHash: `hash of ${intent.clientOrderId}`,
        send: async (gate) => {
          const against = await gate;
          if (against !== undefined) return { kind: 'notSent', cause: against };
          return reply(`create ${intent.clientOrderId}`, () => this.#create(intent));
        },
      }),
      cancel: (order) => reply(`cancel ${order.orderId}`, () => this.#cancel(order)),
      ...(options.batches === true && {
        batches: {
          admit: () => Promise.resolve(this.admits),
          prepare: (intents) => ({
            signedAt: this.#clock.now(),
            recvWindowMs: 5_000,
            bodyHash: `hash of ${intents.length}`,
            send: async (gate) => {
              const against = await gate;
              if (against !== undefined) return { kind: 'notSent', cause: against };
              return reply(`createMany ${intents.length}`, () => this.#createMany(intents));
            },
          }),
          cancel: (_, orderIds) =>
            reply(
              `cancelMany ${orderIds.join(' ')}`,
              () => new Map(orderIds.map((orderId) => [orderId, this.#cancel({ orderId, symbol: this.#at.symbol })])),
            ),
        } satisfies Batches,
      }),
      query: (order) => reply(`query ${order.orderId}`, () => this.#query(order)),
      openOrders: (symbol) => reply('openOrders', () => this.#open(symbol)),
      tradesSince: (symbol, fromId) =>
        reply(`trades from ${fromId ?? 'newest'}`, () => this.#tradesSince(symbol, fromId)),
      balances: () => reply('account', () => this.#balances()),
      ...(options.byClientId === true
        ? { queryByClientId: (_: string, id: string) => reply(`queryByClientId ${id}`, () => this.#byClientId(id)) }
        : {}),
    };
  }

  /** Trades a part of an order, or all that is left of it. */
  fill(orderId: string, quantity?: string, price?: string): VenueTrade {
    const order = this.order(orderId);
    const left = minus(this.#wanted(order), order.executed);
    return this.#trade([order], quantity === undefined ? left : lots(quantity, this.#at), price);
  }

  /** Two of the account's orders trade with each other. */
  selfTrade(taker: string, maker: string, quantity: string, price: string): VenueTrade {
    return this.#trade([this.order(taker), this.order(maker)], lots(quantity, this.#at), price);
  }

  /** Somebody else places an order on the account. */
  place(
    text: {
      readonly clientOrderId?: string;
      readonly side?: 'BUY' | 'SELL';
      readonly price?: string;
      readonly quantity?: string;
    } = {},
  ): VenueOrder {
    return this.#add(text.clientOrderId ?? '', {
      symbol: this.#at.symbol,
      side: text.side ?? 'BUY',
      type: 'LIMIT',
      volume: { lots: lots(text.quantity ?? '1', this.#at) },
      price: ticks(text.price ?? '100', this.#at),
    });
  }

  /** Ends an order from the other side. */
  end(orderId: string, status: VenueStatus = 'CANCELED'): void {
    this.order(orderId).status = status;
  }

  order(orderId: string): VenueOrder {
    const order = this.orders.get(orderId);
    if (order === undefined) throw new Error(`the venue has no order ${orderId}`);
    return order;
  }

  /** The order with this client id; undefined when none arrived. */
  find(clientOrderId: string): VenueOrder | undefined {
    return [...this.orders.values()].find((order) => order.clientOrderId === clientOrderId);
  }

  #create(intent: Intent): Outcome {
    this.onCreate(intent);
    const fate = this.creates.length > 1 ? this.creates.shift() : this.creates[0];
    const unknown: Outcome = { kind: 'unknown', cause: '504', signedAt: this.#clock.now() };
    if (fate === 'reject') return { kind: 'rejected', code: '-2017', message: 'Insufficient balance' };
    if (fate === 'notSent') return { kind: 'notSent', cause: 'connection refused' };
    if (fate === 'dropLost') return unknown;
    const order = this.#add(intent.clientOrderId, intent);
    const report = this.#report(order);
    if (intent.type === 'MARKET' && this.market !== undefined) this.fill(order.orderId);
    return fate === 'acceptLost' ? unknown : { kind: 'accepted', report };
  }

  /** Each order by its fate; the answer's ids come in no order that means anything. */
  #createMany(intents: readonly Intent[]): BatchCreated {
    const fates = intents.map(() => (this.creates.length > 1 ? this.creates.shift() : this.creates[0]));
    const placed = intents.flatMap((intent, index) =>
      fates[index] === 'accept' || fates[index] === 'acceptLost' ? [this.#add('', intent).orderId] : [],
    );
    if (fates.includes('notSent')) return { kind: 'notSent', cause: 'connection refused' };
    if (fates.every((fate) => fate === 'reject'))
      return { kind: 'rejected', code: '-2015', message: 'no permission to trade' };
    if (fates.includes('acceptLost') || fates.includes('dropLost')) return { kind: 'unknown', cause: '504' };
    return { kind: 'answered', orderIds: placed.reverse() };
  }

  #add(clientOrderId: string, intent: VenueOrder['intent']): VenueOrder {
    const order: VenueOrder = {
      orderId: String(this.#nextOrder++),
      clientOrderId,
      intent,
      status: 'NEW',
      executed: noLots,
      createdAt: this.#clock.now(),
      visibleAt: this.#clock.now() + this.lagMs,
    };
    this.orders.set(order.orderId, order);
    return order;
  }

  #cancel({ orderId }: OrderRef): CancelOutcome {
    const order = this.order(orderId);
    this.onCancel(order);
    const fate = this.cancels.length > 1 ? this.cancels.shift() : this.cancels[0];
    if (fate === 'apply' || fate === 'applyLost') {
      if (order.status === 'NEW' || order.status === 'PARTIALLY_FILLED') order.status = 'CANCELED';
    }
    if (fate === 'refuse') return { kind: 'refused', code: '-2011', message: 'state disallows' };
    return fate === 'applyLost' || fate === 'dropLost' ? { kind: 'unknown', cause: '504' } : { kind: 'requested' };
  }

  #query({ orderId }: OrderRef): Answer<OrderReport> {
    if (this.failing.has('query')) return failed('query failed');
    const order = this.orders.get(orderId);
    return order === undefined ? failed('Order does not exist.', '-2013') : ok(this.#report(order));
  }

  #byClientId(id: string): Answer<OrderReport> {
    if (this.failing.has('queryByClientId')) return failed('query failed');
    const order = this.find(id);
    return order === undefined || order.visibleAt > this.#clock.now()
      ? failed('Order does not exist.', '-2013')
      : ok(this.#report(order));
  }

  #open(symbol: string): Answer<Page<OrderReport>> {
    if (this.keyRefused) return failed('Invalid API-key, IP, or permissions for action.', '-2015');
    if (this.failing.has('openOrders')) return failed('openOrders failed');
    const rows = [...this.orders.values()].filter(
      ({ intent, status, visibleAt }) =>
        intent.symbol === symbol &&
        (status === 'NEW' || status === 'PARTIALLY_FILLED') &&
        visibleAt <= this.#clock.now(),
    );
    return ok({
      rows: rows.slice(0, this.openLimit).map((order) => this.#report(order)),
      full: rows.length >= this.openLimit,
    });
  }

  #balances(): Answer<readonly Balance[]> {
    if (this.failing.has('balances')) return failed('account failed');
    const locked = new Map<string, Units>();
    for (const { orderId, intent, status, executed } of this.orders.values()) {
      if (this.unlocked.has(orderId)) continue;
      if ((status !== 'NEW' && status !== 'PARTIALLY_FILLED') || intent.price === undefined) continue;
      const left = minus('lots' in intent.volume ? intent.volume.lots : noLots, executed);
      const [asset, amount] =
        intent.side === 'BUY'
          ? [this.#at.quote, notional(intent.price, left, this.#at)]
          : [this.#at.base, baseUnits(left, this.#at)];
      locked.set(asset, plus(locked.get(asset) ?? noUnits, amount));
    }
    return ok(
      [...this.holdings].map(([asset, amount]) => {
        const kept = locked.get(asset) ?? noUnits;
        return { asset, free: minus(amount, kept), locked: kept };
      }),
    );
  }

  /** Pays in or, negative, out. */
  pay(asset: string, amount: Units): void {
    this.holdings.set(asset, plus(this.holdings.get(asset) ?? noUnits, amount));
  }

  #tradesSince(symbol: string, fromId: string | undefined): Answer<Page<VenueTrade>> {
    if (this.failing.has('tradesSince')) return failed('tradesSince failed');
    const shown = this.trades.filter((trade) => trade.symbol === symbol && trade.visibleAt <= this.#clock.now());
    const rows =
      fromId === undefined
        ? shown.slice(-this.pageSize)
        : shown.filter(({ tradeId }) => BigInt(tradeId) >= BigInt(fromId)).slice(0, this.pageSize);
    const { shownAs } = this;
    const shownRows = shownAs.size === 0 ? rows : rows.map((row) => ({ ...row, ...shownAs.get(row.tradeId) }));
    return ok({ rows: shownRows, full: rows.length >= this.pageSize });
  }

  /** How much an order asks for; an amount buys at the market price. */
  #wanted({ intent: { volume } }: VenueOrder): Lots {
    return 'lots' in volume ? volume.lots : lotsFor(volume.amount, this.market ?? ticks('100', this.#at), this.#at);
  }

  #trade(orders: readonly VenueOrder[], quantity: Lots, price: string | undefined): VenueTrade {
    const taker = orders[0] as VenueOrder;
    for (const order of orders) {
      order.executed = plus(order.executed, min(quantity, minus(this.#wanted(order), order.executed)));
      if (order.status === 'CANCELED') continue;
      order.status = order.executed === this.#wanted(order) ? 'FILLED' : 'PARTIALLY_FILLED';
    }
    const trade: SeenTrade = {
      tradeId: String(this.#nextTrade++),
      symbol: taker.intent.symbol,
      price:
        price === undefined ? (taker.intent.price ?? this.market ?? ticks('100', this.#at)) : ticks(price, this.#at),
      quantity,
      // The buyer's first.
      orderIds: orders.toSorted((a, b) => a.intent.side.localeCompare(b.intent.side)).map(({ orderId }) => orderId),
      side: taker.intent.side,
      maker: taker.intent.type === 'LIMIT' && orders.length === 1,
      fee: this.fee,
      feeAsset: this.#at.quote,
      time: this.#clock.now(),
      visibleAt: this.#clock.now() + this.lagMs,
    };
    this.trades.push(trade);
    const [, other] = orders;
    if (other !== undefined && this.twinLagMs !== undefined)
      this.trades.push({
        ...trade,
        side: other.intent.side,
        maker: true,
        visibleAt: trade.visibleAt + this.twinLagMs,
      });
    for (const { intent } of orders) {
      const moved = movementOf({ ...trade, side: intent.side }, this.#at);
      this.pay(this.#at.base, moved.base);
      this.pay(this.#at.quote, moved.quote);
    }
    return trade;
  }

  #report({ orderId, clientOrderId, intent, status, oddStatus, executed, createdAt }: VenueOrder): OrderReport {
    return {
      orderId,
      clientOrderId: this.echoesIds && clientOrderId !== '' ? clientOrderId : undefined,
      symbol: intent.symbol,
      side: intent.side,
      type: intent.type,
      status,
      ...(oddStatus === undefined ? {} : { oddStatus }),
      executed,
      ...(intent.price === undefined ? {} : { price: intent.price }),
      ...('lots' in intent.volume ? { quantity: intent.volume.lots } : { amount: intent.volume.amount }),
      createdAt,
    };
  }
}
