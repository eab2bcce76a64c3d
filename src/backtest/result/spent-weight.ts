/**
 * The request weight that a run would spend live: orders and queries about them, polls while orders work, and sweeps without a working
 * order. Polls and sweeps are calculated, since a timer at each kline would cost time.
 */
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Account } from '../../domain/order.ts';
import type { SpentWeight } from '../../research/summary.ts';
import { tradeEndpoints } from '../../venue/exchange/rest/endpoints.ts';

/** Orders and cancels of a run, and for how long at least one order of a symbol worked, ms. */
export interface Asked {
  readonly orders: number;
  readonly cancels: number;
  readonly workedMs: number;
}

/** Counts the orders of a run. */
export class SentOrders {
  #orders = 0;
  #cancels = 0;
  /** When the orders of each symbol came to the exchange and when they were over, UTC ms, pair by pair. */
  readonly #spans = new Map<string, number[]>();

  add(symbol: string, from: number, to: number, isCanceled: boolean): void {
    this.#orders++;
    if (isCanceled) this.#cancels++;
    getOrMake(this.#spans, symbol, () => []).push(from, to);
  }

  get asked(): Asked {
    let workedMs = 0;
    for (const spans of this.#spans.values()) workedMs += coveredMs(spans);
    return { orders: this.#orders, cancels: this.#cancels, workedMs };
  }
}

/** For how long at least one of these spans lasted, ms. */
function coveredMs(spans: readonly number[]): number {
  let [sum, until, last] = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < spans.length; at += 2) {
    const [from, to] = [spans[at] as number, spans[at + 1] as number];
    if (from < last) return coveredMs(inOrder(spans));
    if (to > until) sum += to - Math.max(from, until);
    until = Math.max(until, to);
    last = from;
  }
  return sum;
}

const inOrder = (spans: readonly number[]): readonly number[] =>
  Array.from({ length: spans.length / 2 }, (_, index) => 2 * index)
    .sort((a, b) => (spans[a] as number) - (spans[b] as number))
    .flatMap((at) => spans.slice(at, at + 2));

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

/** `0.8 a minute if traded live, which exchanges limit`. */
export const weightText = ({ perMinute }: Pick<SpentWeight, 'perMinute'>): string =>
  `${perMinute.toFixed(1)} a minute if traded live, which exchanges limit`;
