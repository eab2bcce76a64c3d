/** What the exchange itself knows of our account: the truth that the journal is measured against. */

import { type ClientOrderIdParts, readClientOrderId } from '../../src/domain/ids.ts';
import type { Instrument } from '../../src/domain/instrument.ts';
import type { Side } from '../../src/domain/market.ts';
import { baseUnits, minus, notional, noUnits, plus, type Units } from '../../src/domain/money.ts';
import { isOpen, type Leg, remaining, type SimOrder, type SimTrade } from '../../src/simulator/core/order.ts';
import { instruments } from '../kit/builders.ts';
import { idKey } from './process.ts';
import { type StrategyId, strategyIds } from './strategies.ts';
import { ourUid } from './venue.ts';

/** One side of a trade that is an order of our account. */
export interface OwnLeg {
  readonly trade: SimTrade;
  readonly leg: Leg;
  readonly isBuyer: boolean;
  readonly order: SimOrder;
}

export class Truth {
  /** Orders with an id that we made, by that id in lower case. */
  readonly ours = new Map<string, SimOrder[]>();
  /** Legs of orders that we made, and of others on our account. */
  readonly legs: OwnLeg[] = [];
  readonly foreignLegs: OwnLeg[] = [];
  readonly #byId = new Map<string, SimOrder>();
  /** Legs of our orders by `tradeId orderId`. */
  readonly #byFill = new Map<string, OwnLeg>();

  /**
   * Takes note of what changed; gives the orders of ours that are new. `named` says of an order without an id whose intent it is, where
   * it can only be one of a batch.
   */
  see(
    orders: readonly SimOrder[],
    trades: readonly SimTrade[],
    named: (order: SimOrder) => string | undefined = () => undefined,
  ): readonly SimOrder[] {
    const fresh: SimOrder[] = [];
    for (const order of orders) {
      if (this.#byId.has(order.orderId)) continue;
      this.#byId.set(order.orderId, order);
      const name = order.clientOrderId === '' ? named(order) : undefined;
      if (name !== undefined) names.set(order, name);
      if (partsOf(order) === undefined) continue;
      const id = idOf(order);
      this.ours.set(id, [...(this.ours.get(id) ?? []), order]);
      fresh.push(order);
    }
    for (const trade of trades) {
      for (const [leg, isBuyer] of [[trade.buyer, true] as const, [trade.seller, false] as const]) {
        const order = leg === undefined || leg.uid !== ourUid ? undefined : this.#byId.get(leg.orderId);
        if (leg === undefined || order === undefined) continue;
        const own: OwnLeg = { trade, leg, isBuyer, order };
        (partsOf(order) === undefined ? this.foreignLegs : this.legs).push(own);
        if (partsOf(order) !== undefined) this.#byFill.set(`${trade.tradeId} ${leg.orderId}`, own);
      }
    }
    return fresh;
  }

  byId(orderId: string): SimOrder | undefined {
    return this.#byId.get(orderId);
  }

  /** The leg of our order that a fill with these ids is. */
  leg(tradeId: string, orderId: string): OwnLeg | undefined {
    return this.#byFill.get(`${tradeId} ${orderId}`);
  }

  /** The order that a client id of ours named; the first where there are several. */
  order(clientOrderId: string): SimOrder | undefined {
    return this.ours.get(clientOrderId)?.[0];
  }

  /** What a strategy holds of a symbol by the exchange's books. */
  position(strategy: string, symbol: string): Units {
    let base = noUnits;
    for (const own of this.legs) {
      if (own.trade.symbol !== symbol || strategyOf(own.order) !== strategy) continue;
      base = plus(base, baseMoved(own, instrumentOf(symbol)));
    }
    return base;
  }

  /** What a strategy's trades have moved of the quote asset: below zero while it holds what it bought. */
  quoteMoved(strategy: StrategyId): Units {
    let quote = noUnits;
    for (const own of this.legs)
      if (strategyOf(own.order) === strategy) quote = plus(quote, quoteMoved(own, instrumentOf(own.trade.symbol)));
    return quote;
  }

  /** What rests or waits of a strategy's purchases of a symbol, in the base asset. */
  openBuys(strategy: StrategyId | undefined, symbol: string): Units {
    return this.open('BUY', strategy, symbol);
  }

  /** What rests or waits of one side, in the base asset. */
  open(side: Side, strategy: string | undefined, symbol: string): Units {
    let base = noUnits;
    for (const orders of this.ours.values())
      for (const order of orders)
        if (
          order.symbol === symbol &&
          order.side === side &&
          order.type === 'LIMIT' &&
          isOpen(order) &&
          (strategy === undefined || strategyOf(order) === strategy)
        )
          base = plus(base, baseUnits(remaining(order), instrumentOf(symbol)));
    return base;
  }
}

export function instrumentOf(symbol: string): Instrument {
  const at = instruments.get(symbol);
  if (at === undefined) throw new Error(`no instrument ${symbol}`);
  return at;
}

/** Whose intents the orders of batches are: the exchange has no client id of them. */
const names = new WeakMap<SimOrder, string>();

/** The client id of an order, in lower case as we write it. */
export const idOf = (order: SimOrder): string => names.get(order) ?? order.clientOrderId.toLowerCase();

/** What orders' ids were found to say: each mac is worked out once. */
const known = new WeakMap<SimOrder, ClientOrderIdParts | 'foreign'>();

/** The parts of an order's client id when we made it. */
export function partsOf(order: SimOrder): ClientOrderIdParts | undefined {
  let parts = known.get(order);
  if (parts === undefined) {
    const clientOrderId = idOf(order);
    parts = (clientOrderId.length === 29 ? readClientOrderId(clientOrderId, idKey) : undefined) ?? 'foreign';
    known.set(order, parts);
  }
  return parts === 'foreign' ? undefined : parts;
}

export function strategyOf(order: SimOrder): StrategyId | undefined {
  const parts = partsOf(order);
  return parts === undefined ? undefined : strategyIds[parts.strategy - 1];
}

/** What a leg moves of the base asset: bought less the fee on it, or sold. */
export function baseMoved({ trade, leg, isBuyer }: OwnLeg, at: Instrument): Units {
  const quantity = baseUnits(trade.quantity, at);
  return isBuyer ? minus(quantity, leg.fee) : minus(noUnits, quantity);
}

/** The same of the quote asset. */
export function quoteMoved({ trade, leg, isBuyer }: OwnLeg, at: Instrument): Units {
  const amount = notional(trade.price, trade.quantity, at);
  return isBuyer ? minus(noUnits, amount) : minus(amount, leg.fee);
}
