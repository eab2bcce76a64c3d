/** What the strategy wants after each kline has closed. */
import type { Facts, Kline, Signal, Strategy } from './types.ts';

/**
 * sma-cross: once both averages exist, long while fast - slow > 1e-11 slow, else flat. Closes are counted in ticks, which makes
 * their sums exact; the averages are compared over their common denominator.
 */
export function signalAfter(
  strategy: Strategy,
  klines: readonly Kline[],
  row: number,
  pricePrecision: number,
  facts: () => Facts,
): Signal | undefined {
  if (strategy.kind === 'script') return strategy.signal(row, facts);
  const { fast, slow, size } = strategy;
  if (row + 1 < slow) return undefined;
  let sumFast = 0;
  let sumSlow = 0;
  for (let back = 0; back < slow; back++) {
    const ticks = Math.round((klines[row - back] as Kline).close * 10 ** pricePrecision);
    sumSlow += ticks;
    if (back < fast) sumFast += ticks;
  }
  const difference = sumFast * slow - sumSlow * fast;
  return difference > 1e-11 * sumSlow * fast ? size : { quantity: '0' };
}
