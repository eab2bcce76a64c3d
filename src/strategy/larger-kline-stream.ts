/** Klines of a larger interval as a stream. Apart from `larger-klines.ts`, so that a command's help does not load RxJS. */
import { Observable } from 'rxjs';
import { klineAggregator } from '../domain/aggregator.ts';
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';

/** A stream of the larger klines that `klines` make, after those of `before`; each is emitted with the kline that closed it. */
export const aggregatedKlines = (
  klines: Observable<Kline>,
  own: Interval,
  larger: Interval,
  before: readonly Kline[] = [],
): Observable<Kline> =>
  new Observable((out) => {
    let isPast = true;
    const take = klineAggregator(own, larger, (kline) => {
      if (!isPast) out.next(kline);
    });
    for (const kline of before) take(kline);
    isPast = false;
    return klines.subscribe({
      next(kline) {
        if (own === larger) out.next(kline);
        else take(kline);
      },
      error: (error: unknown) => out.error(error),
      complete: () => out.complete(),
    });
  });
