/**
 * The request weight that a run would spend live: orders and queries about them, polls while orders work, and sweeps without a working
 * order. Polls and sweeps are calculated, since a timer at each kline would cost time.
 */
import type { Account } from '../../domain/order.ts';
import { grouped } from '../../domain/words.ts';
import type { SpentWeight } from '../../research/summary.ts';
import { tradeEndpoints } from '../../venue/exchange/rest/endpoints.ts';

/** When an order was at the exchange, UTC ms. */
export interface Sent {
  readonly symbol: string;
  readonly from: number;
  readonly to: number;
  readonly isCanceled: boolean;
}

/** Orders and cancels of a run, and for how long at least one order of a symbol worked, ms. */
export interface Asked {
  readonly orders: number;
  readonly cancels: number;
  readonly workedMs: number;
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

/** The defaults of `execution.pollMs` and `execution.sweepMs`. */
export const liveTiming = { pollMs: 1_000, sweepMs: 5_000 };

/** Over `spanMs` of so many symbols. */
export function spentWeight(
  { orders: sent, cancels, workedMs: worked }: Asked,
  { account, symbols, spanMs }: { readonly account: Account; readonly symbols: number; readonly spanMs: number },
): SpentWeight {
  const { create, query, cancel, openOrders, myTrades } = tradeEndpoints[account];
  const poll = openOrders.weight + myTrades.weight;
  // Each order is queried and polled at least once.
  const orders = sent * (create.weight + query.weight + poll) + cancels * cancel.weight;
  const polls = Math.floor(worked / liveTiming.pollMs) * poll;
  const sweeps = Math.floor(Math.max(0, symbols * spanMs - worked) / liveTiming.sweepMs) * poll;
  return { orders, polls, sweeps, perMinute: ((orders + polls + sweeps) * 60_000) / spanMs };
}

/** `1,234, 0.8 a minute: orders 210, polls 24, idle sweeps 1,000`. */
export const weightText = ({ orders, polls, sweeps, perMinute }: SpentWeight): string =>
  `${grouped(orders + polls + sweeps)}, ${perMinute.toFixed(1)} a minute: orders ${grouped(orders)}, polls ${grouped(polls)}, idle sweeps ${grouped(sweeps)}`;
