/** A feed of every interval: klines that the exchange does not have are made from the largest of its klines that they consist of. */
import { Observable } from 'rxjs';
import type { Clock } from '../../../clock/clock.ts';
import { klineAggregator } from '../../../domain/aggregator.ts';
import {
  closeTime,
  type ExchangeInterval,
  exchangeIntervalOf,
  type Interval,
  intervalMs,
  openTimeOf,
} from '../../../domain/interval.ts';
import type { Kline } from '../../../domain/market.ts';
import { type Answer, type MarketFeed, ok } from '../../venue.ts';

type Klines = (symbol: string, interval: ExchangeInterval) => Observable<Kline>;
type History = (symbol: string, interval: ExchangeInterval, count: number) => Promise<Answer<readonly Kline[]>>;

/** Between two attempts to fetch the klines that a stream begins in the middle of, market ms. */
const againMs = 5_000;

export function withAllIntervals(
  clock: Clock,
  { klines, history }: { readonly klines: Klines; readonly history: History },
): Pick<MarketFeed, 'klines' | 'history'> {
  return {
    klines(symbol, interval) {
      const own = exchangeIntervalOf(interval);
      return own === interval ? klines(symbol, own) : largerKlines(symbol, own, interval);
    },
    async history(symbol, interval, limit) {
      const own = exchangeIntervalOf(interval);
      if (own === interval) return history(symbol, own, limit);
      // One more, because the first is left out where the rows begin inside it.
      const answer = await history(symbol, own, (limit + 1) * timesIn(own, interval));
      return answer.kind === 'ok' ? ok(made(answer.value, own, interval).slice(-limit)) : answer;
    },
  };

  function largerKlines(symbol: string, own: ExchangeInterval, interval: Interval): Observable<Kline> {
    return new Observable((out) => {
      const opened = openTimeOf(interval, clock.now());
      const take = klineAggregator(own, interval, (kline) => {
        if (kline.openTime >= opened) out.next(kline);
      });
      // It begins in the middle of a kline, whose first part has closed already: what comes meanwhile waits.
      let waiting: Kline[] | undefined = [];
      let last = Number.NEGATIVE_INFINITY;
      const next = (kline: Kline): void => {
        if (waiting !== undefined) waiting.push(kline);
        else if (kline.openTime > last) {
          last = kline.openTime;
          take(kline);
        }
      };
      const begin = async (): Promise<void> => {
        while (!out.closed) {
          // One more: a kline before it tells a first part without trades from a market that began later.
          const count = Math.ceil((clock.now() - opened) / intervalMs(own, 0)) + 1;
          const answer = await history(symbol, own, count);
          const isEmpty = answer.kind === 'failed' && answer.isEmpty === true;
          if (answer.kind === 'ok' || isEmpty) {
            const early = [...(answer.kind === 'ok' ? answer.value : []), ...(waiting ?? [])];
            waiting = undefined;
            for (const kline of early) next(kline);
            return;
          }
          await clock.sleep(againMs);
        }
      };
      const subscription = klines(symbol, own).subscribe({
        next,
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      });
      clock.track(begin()).catch((error: unknown) => out.error(error));
      return subscription;
    });
  }
}

const timesIn = (own: Interval, larger: Interval): number => intervalMs(larger, 0) / intervalMs(own, 0);

/** The larger klines that have closed within these. */
function made(klines: readonly Kline[], own: Interval, interval: Interval): readonly Kline[] {
  const out: Kline[] = [];
  const take = klineAggregator(own, interval, (kline) => out.push(kline));
  for (const kline of klines) take(kline);
  return out.filter(({ openTime }) => closeTime(interval, openTime) <= closesAt(klines, own));
}

const closesAt = (klines: readonly Kline[], own: Interval): number => closeTime(own, klines.at(-1)?.openTime ?? 0);
