/** Larger klines as a stream; `frames.ts` makes them. */
import { Observable } from 'rxjs';
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import { framing } from './larger-klines.ts';

/** A stream of the larger klines that a stream of klines makes, after those `before`; each is known with the kline that closed it. */
export const framedKlines = (
  klines: Observable<Kline>,
  own: Interval,
  larger: Interval,
  before: readonly Kline[] = [],
): Observable<Kline> =>
  new Observable((out) => {
    let last: Kline | undefined;
    const take = framing(own, larger, ({ openTime, open, high, low, close, volume }) => {
      if (last === undefined) return;
      const { symbol, seenAt } = last;
      out.next({ symbol, interval: larger, openTime, open, high, low, close, volume, seenAt });
    });
    for (const kline of before) take(kline);
    return klines.subscribe({
      next(kline) {
        last = kline;
        if (own === larger) out.next(kline);
        else take(kline);
      },
      error: (error: unknown) => out.error(error),
      complete: () => out.complete(),
    });
  });
