/** Prices that no ordinary market makes from one kline to the next: a wrong print, or prices of something else. */
import type { Columns } from '../domain/market.ts';

/** A close this far from both neighbours, which agree within a quarter of it, is an outlier. */
export const outlierShare = 0.2;
/**
 * An open, low or high further than that from the close, and from all of the kline before: a wrong print sets off stops, and fills what
 * waits for the open, as well as a true flash does.
 */
export const isWick = (high: number, low: number, close: number, highBefore: number, lowBefore: number) =>
  (low < close * (1 - outlierShare) && low < lowBefore * (1 - outlierShare)) ||
  (high > close * (1 + outlierShare) && high > highBefore * (1 + outlierShare));
/** A price that goes to this multiple from one row to the next, and stays, is another scale. */
export const scaleTimes = 3;

/** Over so much time a price may have gone anywhere; closer together hardly a market did. */
export const surelyOneMarketMs = 86_400_000;

/** What there is of them, with the time of the first, in words; any alone can make a whole result. */
export function leapsOf({ openTime, high, low, close }: Omit<Columns, 'open' | 'volume'>): readonly string[] {
  const outliers = { count: 0, first: 0 };
  const wicks = { count: 0, first: 0 };
  const scales = { count: 0, first: 0 };
  for (let row = 1; row < close.length; row++) {
    const before = close[row - 1] as number;
    const now = close[row] as number;
    const [top, bottom] = [high[row] as number, low[row] as number];
    if (isWick(top, bottom, now, high[row - 1] as number, low[row - 1] as number)) note(wicks, openTime[row] as number);
    if (now <= before * (1 + outlierShare) && now >= before * (1 - outlierShare)) continue;
    const earlier = row > 1 ? (close[row - 2] as number) : Number.NaN;
    const isBack = Math.abs(now / earlier - 1) < outlierShare / 4;
    if (isBack) note(outliers, openTime[row - 1] as number);
    const next = close[row + 1];
    const goesBack = next !== undefined && Math.abs(next / before - 1) < outlierShare / 4;
    const isFar = now > before * scaleTimes || now < before / scaleTimes;
    if (isFar && !isBack && !goesBack) note(scales, openTime[row] as number);
  }
  const from = (first: number): string => `the first at ${new Date(first).toISOString().slice(0, 16)}Z`;
  return [
    ...(outliers.count > 0
      ? [`${outliers.count} closes 20 % and more from both neighbours, ${from(outliers.first)}: wrong prints?`]
      : []),
    ...(wicks.count > 0
      ? [
          `${wicks.count} opens, lows or highs 20 % and more beyond their close and the kline before, ${from(wicks.first)}: a flash, or wrong prints?`,
        ]
      : []),
    ...(scales.count > 0
      ? [
          `${scales.count} jumps to more than ${scaleTimes} times or less than a third of the price, ${from(scales.first)}: rows of another symbol or unit, or a hole?`,
        ]
      : []),
  ];
}

function note(found: { count: number; first: number }, time: number): void {
  if (found.count++ === 0) found.first = time;
}
