/** `backtest()` of the package with strategies of several markets: the same as the command, and one message for what cannot be. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BacktestResult, backtest, defineStrategy, flat, hold, of, roc, sma, weights } from 'sluice';
import { klines } from 'sluice/testing';
import { afterAll, expect, test } from 'vitest';
import pair from '../../strategies/pair/index.ts';
import { desk } from '../kit/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fileOf = (symbol: string): string => join(root, 'backtests', 'data', `${symbol}-15m-2025-10_2026-03.csv.gz`);
const at = desk();
afterAll(() => at.remove());

test('a pair runs as the command runs it', async () => {
  const [from, to, cash, fees] = ['2025-10-15', '2025-11-15', '20000', { maker: '0.001', taker: '0.002' }];
  const params = { period: 50, enter: 1 };
  const markets = { first: { symbol: 'BTCUSDT' }, second: { symbol: 'ETHUSDT' } };
  const strategy = { id: 'pair', use: 'pair', markets, interval: '60min', params };
  at.write(
    'run.yaml',
    JSON.stringify({
      ...{ strategies: [strategy], from, to, cash, fees },
      data: { BTCUSDT: fileOf('BTCUSDT'), ETHUSDT: fileOf('ETHUSDT') },
      dataIntervals: { BTCUSDT: '15min', ETHUSDT: '15min' },
      risk: { maxOrderValue: '1000000000', maxPosition: '1000000000' },
    }),
  );
  const { code, out, err } = await at.sluice(['backtest', '--config', 'run.yaml', '--json']);
  expect(code, err).toBe(0);
  const { fills } = await backtest({
    strategy: pair,
    params,
    data: { first: fileOf('BTCUSDT'), second: fileOf('ETHUSDT') },
    markets,
    interval: '60min',
    dataInterval: '15min',
    ...{ from, to, cash, fees },
  });
  expect(fills.length).toBeGreaterThan(4);
  expect(fills).toEqual((JSON.parse(out) as Pick<BacktestResult, 'fills'>).fills);
});

const filtered = defineStrategy({
  name: 'filtered',
  about: 'Holds a coin while another market rises',
  params: {},
  markets: { coin: 'traded', trend: 'data' },
  indicators: () => ({ last: of('trend', 'close'), average: of('trend', sma('close', 5)) }),
  memory: { asked: 0 },
  decide: ({ last, average }, { memory: { asked } }) => ({
    legs: { coin: last > average ? hold({ share: 0.5 }, 'up') : flat('down') },
    memory: { asked: asked + 1 },
  }),
});
const rotation = defineStrategy({
  name: 'rotation',
  about: 'Holds what rose most',
  params: {},
  indicators: () => ({ rise: roc('close', 5) }),
  choose(markets) {
    const [best] = markets.toSorted((a, b) => b.values.rise - a.values.rise);
    return weights(best === undefined ? {} : { [best.symbol]: 0.9 }, 'it rose most', { threshold: 0.3 });
  },
});
const coin = klines({ interval: '60min', from: 100 }).flat(40);
const trend = klines({ interval: '60min', from: 10, symbol: 'ETHUSDT' }).rise(20).fall(20);
const rest = { cash: '10000', rules: 'plain', risk: { maxDailyLoss: '1' } } as const;
const tradesOf = ({ fills }: BacktestResult): readonly string[] => fills.map(({ side, symbol }) => `${side} ${symbol}`);

test('klines of a unit test are data by role, and by symbol for a list', async () => {
  const result = await backtest({ strategy: filtered, data: { coin, trend }, ...rest });
  expect(tradesOf(result)).toEqual(['BUY BTCUSDT', 'SELL BTCUSDT']);
  const chosen = await backtest({ strategy: rotation, data: { BTCUSDT: coin, ETHUSDT: trend }, ...rest });
  expect(tradesOf(chosen)).toEqual(['BUY ETHUSDT', 'SELL ETHUSDT', 'BUY BTCUSDT']);
  const curves = chosen.profitByMarket();
  expect(curves?.time).toEqual(chosen.equity.time);
  expect(curves?.markets.map(({ symbol }) => symbol)).toEqual(['ETHUSDT', 'BTCUSDT']);
  const profit = curves?.markets.reduce((sum, one) => sum + (one.profit.at(-1) ?? 0), 0) ?? Number.NaN;
  expect(10_000 + profit).toBeCloseTo(Number(chosen.summary.finalEquity), 8);
});

test('a role may read larger klines of a market, and symbols may be of one’s own', async () => {
  const result = await backtest({
    strategy: filtered,
    data: { coin: trend },
    markets: { coin: { symbol: 'XZ' }, trend: { symbol: 'XZ', interval: '120min' } },
    instruments: { XZ: { base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4 } },
    ...rest,
  });
  expect(tradesOf(result)).toEqual(['BUY XZ', 'SELL XZ']);
});

const simple = defineStrategy({
  ...{ name: 'simple', about: 'Holds', params: {}, indicators: () => ({}) },
  decide: () => hold({ share: 0.5 }, 'always'),
});

test.each<[string, object, string]>([
  [
    'klines of one market',
    { strategy: filtered, data: coin },
    'data: filtered has several markets: give klines by role',
  ],
  [
    'a list for klines of one',
    { strategy: rotation, data: coin },
    'data: rotation chooses among symbols: give klines by',
  ],
  [
    'a misspelt role',
    { strategy: filtered, data: { coins: coin } },
    'data.coins: is not a market of filtered (did you mean "coin"?)',
  ],
  [
    'a role without klines and symbol',
    { strategy: filtered, data: { coin } },
    'markets.trend: is missing: filtered has the markets coin, trend',
  ],
  [
    'one symbol',
    { strategy: filtered, symbol: 'BTCUSDT', interval: '60min' },
    'markets: is missing: filtered has the markets coin, trend',
  ],
  ['neither klines nor markets', { strategy: filtered, interval: '60min' }, 'is missing'],
  [
    'two roles of one symbol',
    { strategy: filtered, data: { coin, trend: coin } },
    'data.trend: its klines are of BTCUSDT, as those of coin are',
  ],
  [
    'a role that is no klines',
    { strategy: filtered, data: { coin, trend: 5 } },
    'data.trend is 5: give the path of a file',
  ],
  [
    'columns without a price',
    { strategy: filtered, data: { coin, trend: { openTime: [1] } } },
    'data.trend has no open',
  ],
  [
    'markets for a list',
    { strategy: rotation, markets: { a: { symbol: 'BTCUSDT' } }, interval: '60min' },
    'symbols: is missing: rotation chooses among a list',
  ],
  [
    'klines that are not in its list',
    { strategy: rotation, symbols: ['BTCUSDT'], data: { BTCUSDT: coin, ETHUSDT: trend } },
    'data.ETHUSDT: is not in symbols',
  ],
  [
    'a list without symbols',
    { strategy: rotation, interval: '60min' },
    'symbols: is missing: rotation chooses among a list',
  ],
  [
    'one instrument',
    { strategy: filtered, data: { coin, trend }, instrument: { base: 'X' } },
    'instrument: filtered has several markets: say instruments',
  ],
  [
    'roles for one market',
    { strategy: simple, data: { coin, trend } },
    'data: simple has one market: give its klines alone',
  ],
  [
    'markets for one market',
    { strategy: simple, markets: { coin: { symbol: 'BTCUSDT' } }, interval: '60min' },
    'markets: simple has one market: give it symbol',
  ],
])('backtest() refuses %s', async (_, wrong, message) => {
  await expect(backtest({ ...rest, ...(wrong as { strategy: typeof simple }) })).rejects.toThrow(message);
});
