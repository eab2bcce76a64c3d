/**
 * What the requests of a run would have weighed live: each order and what is asked about it, looks while orders
 * work, and idle sweeps by arithmetic, for no timer runs at each kline for nothing.
 */
import type { Account } from '../../domain/order.ts';
import { grouped } from '../../domain/words.ts';
import { tradeEndpoints } from '../../venue/exchange/rest/endpoints.ts';

/** When an order was at the exchange, UTC ms. */
export interface Sent {
  readonly symbol: string;
  readonly from: number;
  readonly to: number;
  readonly isCanceled: boolean;
}

/** What a run sent: how many orders and cancels, and for how long at least one order of a symbol worked, ms. */
export interface Asked {
  readonly orders: number;
  readonly cancels: number;
  readonly workedMs: number;
}

/** Weight by what it was spent on. */
export interface SpentWeight {
  readonly orders: number;
  readonly polls: number;
  readonly sweeps: number;
  readonly perMinute: number;
}

/** For how long at least one order of each symbol worked, all symbols together, ms. */
function workedMs(sent: readonly Sent[]): number {
  let sum = 0;
  for (const some of Map.groupBy(sent, ({ symbol }) => symbol).values()) {
    let until = Number.NEGATIVE_INFINITY;
    for (const { from, to } of some.toSorted((a, b) => a.from - b.from)) {
      if (to > until) sum += to - Math.max(from, until);
      until = Math.max(until, to);
    }
  }
  return sum;
}

export const askedOf = (sent: readonly Sent[]): Asked => ({
  orders: sent.length,
  cancels: sent.filter(({ isCanceled }) => isCanceled).length,
  workedMs: workedMs(sent),
});

/** What several runs sent. */
export const askedTogether = (all: readonly Asked[]): Asked =>
  all.reduce(
    (sum, one) => ({
      orders: sum.orders + one.orders,
      cancels: sum.cancels + one.cancels,
      workedMs: sum.workedMs + one.workedMs,
    }),
    { orders: 0, cancels: 0, workedMs: 0 },
  );

/** How often a daemon looks unless its configuration says otherwise (`execution.pollMs`, `execution.sweepMs`). */
export const liveTiming = { pollMs: 1_000, sweepMs: 5_000 };

/** Over `spanMs` of so many symbols. */
export function spentWeight(
  { orders: sent, cancels, workedMs: worked }: Asked,
  { account, symbols, spanMs }: { readonly account: Account; readonly symbols: number; readonly spanMs: number },
): SpentWeight {
  const { create, query, cancel, openOrders, myTrades } = tradeEndpoints[account];
  const look = openOrders.weight + myTrades.weight;
  // Each order is asked about and looked after once, whatever its life.
  const orders = sent * (create.weight + query.weight + look) + cancels * cancel.weight;
  const looks = Math.floor(worked / liveTiming.pollMs) * look;
  const idle = Math.floor(Math.max(0, symbols * spanMs - worked) / liveTiming.sweepMs) * look;
  return { orders, polls: looks, sweeps: idle, perMinute: ((orders + looks + idle) * 60_000) / spanMs };
}

/** `1,234, 0.8 a minute: orders 210, polls 24, idle sweeps 1,000`. */
export const weightText = ({ orders, polls: looks, sweeps: idle, perMinute }: SpentWeight): string =>
  `${grouped(orders + looks + idle)}, ${perMinute.toFixed(1)} a minute: orders ${grouped(orders)}, polls ${grouped(looks)}, idle sweeps ${grouped(idle)}`;
