/** Ten strategies on twenty symbols, and an exchange that has them. Parameters let them trade often. */
import { seededRng } from '../../src/clock/clock.ts';
import type { MarketOptions, MinuteColumns, SimulatorOptions } from '../../src/simulator/simulator.ts';

const symbols = Array.from({ length: 20 }, (_, index) => `S${index}USDT`);
const of = (index: number): string => symbols[index] as string;
const [historyMinutes, minutes] = [3_000, 20_000];

/** Minutes of a random walk that is drawn back to 100. */
function walk(seed: number, first: number): MinuteColumns {
  const rng = seededRng(seed);
  const closes = new Float64Array(minutes);
  let price = 100;
  for (let index = 0; index < minutes; index++) {
    price += 0.3 * (rng() - 0.5) + 0.002 * (100 - price);
    closes[index] = price;
  }
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: minutes }, (_, index) => value(index));
  const open = (index: number): number => closes[Math.max(0, index - 1)] as number;
  return {
    openTime: column((index) => first + index * 60_000),
    open: column(open),
    high: column((index) => Math.max(open(index), closes[index] as number) + 0.02),
    low: column((index) => Math.min(open(index), closes[index] as number) - 0.02),
    close: closes,
    volume: column(() => 5_000),
  };
}

/** At real time the depth changes about once a second, as real exchanges push it. Faster, replayed klines cost the exchange less. */
const marketOf = (symbol: string, index: number, speed: number, now: number): MarketOptions =>
  speed === 1
    ? { kind: 'synthetic', symbol, price: '100', takersPerSecond: 1, historyMinutes }
    : { kind: 'klines', symbol, klines: walk(index + 1, now - historyMinutes * 60_000), startIndex: historyMinutes };

/** `now`: UTC ms of a whole minute. */
export const exchangeAt = (speed: number, now: number): Omit<SimulatorOptions, 'users'> => ({
  speed,
  instruments: symbols.map((symbol) => ({
    ...{ symbol, base: symbol.slice(0, -4), quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 },
    ...{ minQuantity: '0.0001', minNotional: '1' },
  })),
  markets: symbols.map((symbol, index) => marketOf(symbol, index, speed, now)),
});

const rest = { interval: '1min', allocation: '100000' };
export const strategies = [
  { id: 'cross-fast', use: 'sma-cross', symbol: of(0), params: { fast: 3, slow: 9, share: 0.4, stop: 0.02 }, ...rest },
  { id: 'cross', use: 'sma-cross', symbol: of(1), params: { fast: 5, slow: 20, share: 0.4 }, ...rest },
  { id: 'cross-slow', use: 'sma-cross', symbol: of(2), params: { fast: 10, slow: 50, share: 0.4 }, ...rest },
  { id: 'breakout', use: 'donchian', symbol: of(3), params: { entry: 20, exit: 10, period: 20 }, ...rest },
  { id: 'reversion', use: 'mean-reversion', symbol: of(4), params: { trend: 1, low: 45, share: 0.4 }, ...rest },
  { id: 'ladder', use: 'dca', symbol: of(5), params: { amount: 1_000, step: 0.002, gain: 0.002 }, ...rest },
  {
    ...{ id: 'grid', use: 'grid', symbol: of(6), ...rest },
    params: { levels: 3, quantity: 5, maxPosition: 60, minSpacing: 0.001, spacing: 0 },
  },
  {
    ...{ id: 'maker', use: 'maker', symbol: of(7), ...rest },
    params: { offset: 0.0005, refresh: 0.0005, quantity: 5, maxPosition: 50 },
  },
  {
    ...{ id: 'pair', use: 'pair', markets: { first: { symbol: of(8) }, second: { symbol: of(9) } }, ...rest },
    params: { period: 30, enter: 1 },
  },
  { id: 'rotation', use: 'rotation', symbols: symbols.slice(10), ...rest },
];
