/**
 * Klines of a larger interval, made from smaller ones one after another. Days, weeks and months are those of UTC, whatever time zone the
 * exchange uses.
 */
import { closeTime, type Interval, isWithin, openTimeOf } from './interval.ts';
import type { Kline } from './market.ts';
import { plusVolume } from './volumes.ts';

type Prices = Pick<Kline, 'openTime' | 'open' | 'high' | 'low' | 'close' | 'volume'>;

/** Why klines of `larger` cannot be made from klines of `own`, or undefined. */
export const aggregationFault = (own: Interval, larger: Interval): string | undefined =>
  own === larger || isWithin(own, larger)
    ? undefined
    : `klines of ${larger} cannot be made from klines of ${own}: give the strategy a smaller interval`;

/**
 * Takes klines of `own` one after another and calls `closed` for each of `larger`: with the last kline inside it, or before the next kline
 * where the last one is missing. A larger kline whose first klines are missing at the start is left out.
 */
export function aggregator(own: Interval, larger: Interval, closed: (kline: Prices) => void): (kline: Prices) => void {
  const fault = aggregationFault(own, larger);
  if (fault !== undefined) throw new Error(fault);
  let growing: { -readonly [Name in keyof Prices]: Prices[Name] } | undefined;
  let closesAt = Number.NEGATIVE_INFINITY;
  const end = (): void => {
    if (growing !== undefined) closed(growing);
    growing = undefined;
  };
  return ({ openTime, open, high, low, close, volume }) => {
    if (openTime >= closesAt) {
      end();
      const opensAt = openTimeOf(larger, openTime);
      const isFirst = closesAt === Number.NEGATIVE_INFINITY;
      closesAt = closeTime(larger, opensAt);
      if (!isFirst || opensAt === openTime) growing = { openTime: opensAt, open, high, low, close, volume: 0 };
    }
    if (growing !== undefined) {
      if (high > growing.high) growing.high = high;
      if (low < growing.low) growing.low = low;
      growing.close = close;
      growing.volume = plusVolume(growing.volume, volume);
    }
    if (closeTime(own, openTime) >= closesAt) end();
  };
}

/** The same for whole klines. A larger one was seen when the kline that closed it was. */
export function klineAggregator(
  own: Interval,
  larger: Interval,
  closed: (kline: Kline) => void,
): (kline: Kline) => void {
  let last: Kline;
  const take = aggregator(own, larger, (prices) =>
    closed({ symbol: last.symbol, interval: larger, ...prices, seenAt: last.seenAt }),
  );
  return (kline) => {
    last = kline;
    take(kline);
  };
}
