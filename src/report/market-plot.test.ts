/** The chart of profit by market: few enough lines to tell apart, and none is lost. */
import { expect, test } from 'vitest';
import { drawnMarkets, marketPlot } from './market-plot.ts';

const markets = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    symbol: `M${at}`,
    profit: Float64Array.of(0, at, at % 2 === 0 ? at : -at),
  }));

test('up to twenty markets each have a line, the greatest profit first', () => {
  expect(drawnMarkets(markets(5)).map(({ symbol }) => symbol)).toEqual(['M4', 'M2', 'M0', 'M1', 'M3']);
  expect(drawnMarkets(markets(20))).toHaveLength(20);
});

test('of more markets those that moved least are one line, which is their sum', () => {
  const drawn = drawnMarkets(markets(200));
  expect(drawn).toHaveLength(20);
  expect(drawn.at(-1)?.symbol).toBe('181 others');
  const sumOf = (some: readonly { readonly profit: Float64Array }[], point: number): number =>
    some.reduce((sum, { profit }) => sum + (profit[point] ?? 0), 0);
  for (const point of [0, 1, 2]) expect(sumOf(drawn, point)).toBe(sumOf(markets(200), point));
});

test('one market is the account already', () => {
  const time = Float64Array.of(0, 1, 2);
  expect(marketPlot({ time, markets: markets(1) }, 'USDT')).toBeUndefined();
  expect(JSON.stringify(marketPlot({ time, markets: markets(2) }, 'USDT'))).toMatch(/label class=.{2}m1/);
});
