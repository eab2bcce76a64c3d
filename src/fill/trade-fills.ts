/**
 * The fill engine on public trades (fill-engine §2.3), for one symbol: paper trading on a live feed. Calls come in the order
 * in which things reach the exchange; whoever calls has added the latencies.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Side, Trade } from '../domain/market.ts';
import {
  greatest,
  type Lots,
  least,
  lotsFor,
  lotsOf,
  minus,
  noLots,
  priceFor,
  type Ticks,
  worsened,
} from '../domain/money.ts';
import type { Evidence } from '../domain/order.ts';
import { nothing, type OrderEnd, type SimFill, type SimOrder, type Step } from './orders.ts';
import type { Rules } from './rules.ts';

export interface TradeFillsOptions {
  readonly instrument: Instrument;
  readonly rules: Rules;
  /** Asked before a MARKET BUY in base lots fills, the only order whose cost is not locked; no ends it unfilled. */
  readonly canPay?: (order: SimOrder, price: Ticks, quantity: Lots) => boolean;
}

interface Working {
  readonly order: SimOrder;
  readonly arrivedAt: number;
  /** The last print of its own side before it arrived: a MARKET order fills no better than that. */
  readonly before: Ticks | undefined;
  remaining: Lots;
}

interface Seen {
  readonly price: Ticks;
  readonly at: number;
}

interface Growing {
  readonly fills: SimFill[];
  readonly ends: OrderEnd[];
}

const by = {
  market: { rule: 'trade-next' },
  stale: { rule: 'trade-next-stale' },
  cross: { rule: 'trade-cross' },
  rest: { rule: 'trade-through' },
} as const satisfies Record<string, Evidence>;

export class TradeFills {
  readonly #options: TradeFillsOptions;
  #working: Working[] = [];
  readonly #last: Partial<Record<Side, Seen>> = {};

  constructor(options: TradeFillsOptions) {
    this.#options = options;
  }

  get idle(): boolean {
    return this.#working.length === 0;
  }

  /**
   * An order arrives at UTC ms `at`, `executed` of it already filled in an earlier run. A MARKET order waits for the next
   * print of its side; a LIMIT that crosses what takers of its side paid last takes, whole, at that price made worse.
   */
  submit(order: SimOrder, at: number, executed: Lots = noLots): Step {
    const last = this.#last[order.side];
    const remaining = 'lots' in order.volume ? minus(order.volume.lots, executed) : noLots;
    if (order.type === 'LIMIT' && last !== undefined && at - last.at <= this.#options.rules.staleAfterMs) {
      const price = worsened(order.side, last.price, this.#options.rules.slip);
      const limit = limitOf(order);
      if (order.side === 'BUY' ? price <= limit : price >= limit) {
        const fill = {
          order,
          side: order.side,
          price,
          quantity: remaining,
          maker: false,
          time: at,
          evidence: by.cross,
        };
        return { fills: [fill], ends: [{ order, end: 'filled' }] };
      }
    }
    this.#working.push({ order, arrivedAt: at, before: last?.price, remaining });
    return nothing;
  }

  cancel(clientOrderId: string): Step {
    const found = this.#working.find(({ order }) => order.clientOrderId === clientOrderId);
    if (found === undefined) return nothing;
    this.#working = this.#working.filter((working) => working !== found);
    return { fills: [], ends: [{ order: found.order, end: 'canceled' }] };
  }

  /** A trade of others: MARKET orders of its side fill by it, and LIMITs of the other side whose price it went through. */
  print(trade: Trade): Step {
    const step: Growing = { fills: [], ends: [] };
    if (this.#working.length > 0) {
      let size = lotsOf(trade.quantity, this.#options.instrument, 'down');
      this.#working = this.#working.filter((working) => {
        if (working.order.type === 'MARKET')
          return working.order.side !== trade.side || this.#fillMarket(working, trade, step);
        const filled = this.#fillLimit(working, trade, size, step);
        size = minus(size, filled);
        return working.remaining > 0n;
      });
    }
    this.#last[trade.side] = { price: this.#priceOf(trade, trade.side), at: trade.seenAt };
    return step;
  }

  #fillMarket({ order, arrivedAt, before, remaining }: Working, trade: Trade, step: Growing): false {
    const { rules, instrument, canPay } = this.#options;
    const { side, volume } = order;
    const now = this.#priceOf(trade, side);
    const reference = before === undefined ? now : side === 'BUY' ? greatest(before, now) : least(before, now);
    const price = worsened(side, reference, rules.slip);
    const quantity = 'lots' in volume ? remaining : lotsFor(volume.amount, price, instrument);
    const unpaid = side === 'BUY' && 'lots' in volume && canPay?.(order, price, quantity) === false;
    if (unpaid || quantity === 0n) {
      step.ends.push({ order, end: 'canceled' });
      return false;
    }
    const evidence = trade.seenAt - arrivedAt > rules.staleAfterMs ? by.stale : by.market;
    step.fills.push({ order, side, price, quantity, maker: false, time: trade.time, evidence });
    step.ends.push({ order, end: 'filled' });
    return false;
  }

  /** At the order's own price nothing fills: how many were before it in the queue is not known. */
  #fillLimit(working: Working, trade: Trade, size: Lots, step: Growing): Lots {
    const { order } = working;
    const { side } = order;
    const limit = limitOf(order);
    if (trade.side === side) return noLots;
    const price = this.#priceOf(trade, side);
    const quantity = least(working.remaining, size);
    if ((side === 'BUY' ? price >= limit : price <= limit) || quantity === 0n) return noLots;
    working.remaining = minus(working.remaining, quantity);
    step.fills.push({ order, side, price: limit, quantity, maker: true, time: trade.time, evidence: by.rest });
    if (working.remaining === 0n) step.ends.push({ order, end: 'filled' });
    return quantity;
  }

  /** A print's price in ticks; one between ticks is taken against an order of this side. */
  #priceOf(trade: Trade, side: Side): Ticks {
    return priceFor(side, trade.price, this.#options.instrument);
  }
}

function limitOf(order: SimOrder): Ticks {
  if (order.price === undefined) throw new Error(`LIMIT order ${order.clientOrderId} has no price`);
  return order.price;
}
