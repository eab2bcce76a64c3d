/** Prices that no ordinary market makes from one kline to the next: a wrong print, or prices of something else. */

/** No asset costs as much in any currency: a power of ten in the wrong place, or a number of something else. */
export const maxPrice = 1e15;

/** No kline and no trade turns over as much, in any currency: the quantity is a number of something else. */
export const maxTurnover = 1e15;

/** A close this far from both neighbours, which agree within a quarter of it, is an outlier. */
export const outlierShare = 0.2;
/**
 * An open, low or high further than that from the close, and from all of the kline before: a wrong print sets off stops, and fills what
 * waits for the open, as well as a true flash does.
 */
export const isWick = (high: number, low: number, close: number, highBefore: number, lowBefore: number) =>
  (low < close * (1 - outlierShare) && low < lowBefore * (1 - outlierShare)) ||
  (high > close * (1 + outlierShare) && high > highBefore * (1 + outlierShare));
/** A price that jumps to this multiple from one row to the next, and stays there, suggests another symbol or unit. */
export const scaleTimes = 3;

/** Within this time, ms, such a jump proves another symbol or unit. Over a longer time a market may move any distance. */
export const sameMarketMs = 86_400_000;

/** Whether a market can have made it. An open outside [low, high] is a habit of feeds that open at the close before. */
export const isPossible = (open: number, high: number, low: number, close: number, volume: number): boolean =>
  high >= low &&
  close >= low &&
  close <= high &&
  low > 0 &&
  open > 0 &&
  high < maxPrice &&
  open < maxPrice &&
  volume >= 0 &&
  volume < 1e300;
