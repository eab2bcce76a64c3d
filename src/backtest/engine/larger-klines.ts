/** Strategies of a larger interval than the klines that a symbol is recorded in: their streams of klines. */
import { type Observable, share } from 'rxjs';
import { klineAggregator } from '../../domain/aggregator.ts';
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import type { Inputs } from '../../strategy/host.ts';
import { aggregatedKlines } from '../../strategy/larger-kline-stream.ts';

/** Klines of a strategy's interval, as its stream emits them, made from those of `own` where they are larger. */
export function strategyKlines(
  history: readonly Kline[],
  klines: Observable<Kline>,
  own: Interval,
  wanted: Interval,
): Pick<Inputs, 'history' | 'klines'> {
  if (own === wanted) return { history, klines };
  const before: Kline[] = [];
  const take = klineAggregator(own, wanted, (kline) => before.push(kline));
  for (const kline of history) take(kline);
  // The one that the history ends inside goes on growing. Made once: each subscriber gets one before any gets the next.
  return { history: before, klines: aggregatedKlines(klines, own, wanted, history).pipe(share()) };
}
