/** `backtest()` of the package against the command, which runs the same. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BacktestOptions, type BacktestResult, backtest, defineStrategy, type KlineColumns } from 'sluice';
import { afterAll, describe, expect, test } from 'vitest';
import { loadKlines } from '../../src/data/klines.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { desk } from '../kit/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const data = join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz');
const at = desk();
afterAll(() => at.remove());

const options = {
  strategy: smaCross,
  params: { fast: 240, slow: 1440, share: 0.9, stop: 0.05 },
  ...{ data, symbol: 'XBTUSD', interval: '1min', from: '2020-02-01', to: '2020-03-01', cash: '100000' },
  fees: { maker: '0.001', taker: '0.002' },
  risk: { maxDailyLoss: '0.5' },
} as const satisfies BacktestOptions<typeof smaCross.params>;

describe('backtest() runs what the command runs', () => {
  test('from a file', async () => {
    at.write(
      'run.yaml',
      JSON.stringify({
        strategies: [{ id: 'sma-cross', use: 'sma-cross', symbol: 'XBTUSD', interval: '1min', params: options.params }],
        ...{ data: { XBTUSD: data }, from: options.from, to: options.to, cash: options.cash, fees: options.fees },
        risk: { maxOrderValue: '1000000000', maxPosition: '1000000000', maxDailyLoss: '0.5' },
      }),
    );
    const { code, out, err } = await at.sluice(['backtest', '--config', 'run.yaml', '--json']);
    expect(code, err).toBe(0);
    const printed = JSON.parse(out) as BacktestResult['summary'] & Pick<BacktestResult, 'fills'>;
    const { fills, figures, summary, equity } = await backtest(options);
    expect(fills.length).toBeGreaterThan(10);
    expect(fills).toEqual(printed.fills);
    expect(printed).toMatchObject(JSON.parse(JSON.stringify(summary)));
    expect(figures).toEqual(printed.metrics);
    expect(equity.equity[0]).toBeCloseTo(100_000);
    expect(equity.equity.at(-1)).toBeCloseTo(Number(summary.netLiquidation), 2);
  });

  test('from klines in memory, as columns and as rows', async () => {
    const { columns } = loadKlines({ path: data, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
    const plain = await backtest(options);
    const rows = [...columns.openTime.keys()].map((row) => ({
      ...{ symbol: 'XBTUSD', interval: '1min' as const, openTime: columns.openTime[row] as number },
      ...{ open: columns.open[row] as number, high: columns.high[row] as number },
      ...{
        low: columns.low[row] as number,
        close: columns.close[row] as number,
        volume: columns.volume[row] as number,
      },
    }));
    const { symbol: _, interval: __, ...unnamed } = options;
    for (const given of [
      { ...options, data: columns },
      { ...unnamed, data: rows },
    ])
      expect((await backtest(given)).fills).toEqual(plain.fills);
  });

  test('of a symbol of its own, for a number of cash', async () => {
    const instrument = { base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4 };
    const { fills } = await backtest({ ...options, symbol: 'XZ', instrument, cash: 100_000, fees: { taker: 0.002 } });
    expect(new Set(fills.map(({ symbol, feeAsset }) => `${symbol} ${feeAsset}`))).toEqual(new Set(['XZ X', 'XZ Z']));
  });
});

const row = { openTime: Date.UTC(2020, 1, 1), open: 100, high: 101, low: 99, close: 100, volume: 1 };
function columnsOf({ openTime, open, high, low, close, volume }: typeof row): KlineColumns {
  return { openTime: [openTime], open: [open], high: [high], low: [low], close: [close], volume: [volume] };
}

test.each<[string, object, RegExp | string]>([
  ['no strategy', { strategy: undefined }, 'backtest() has no strategy: pass the result of defineStrategy()'],
  [
    'a parameter too large',
    { params: { fast: 1e9 } },
    /^backtest\(\) has a problem:\n {2}params\.fast: must lie between/,
  ],
  ['parameters that contradict', { params: { fast: 60, slow: 50 } }, 'params: fast (60) must be below slow (50)'],
  ['a misspelt option', { fee: {} }, 'fee: is not a known key (did you mean "fees"?)'],
  ['no cash', { cash: 0 }, 'cash: must be above "0"'],
  ['no symbol', { symbol: undefined }, '\n  symbol: is missing'],
  ['an unknown symbol', { symbol: 'XBTUSDT' }, /symbol: .*has no symbol XBTUSDT \(did you mean "XBTUSD"\?\)/],
  ['an unknown interval', { interval: '1h' }, 'interval: unknown interval 1h (did you mean "60min"?)'],
  ['a time without klines', { from: '2030-01-01', to: undefined }, 'XBTUSD: no klines between from and to'],
  ['a file that is not there', { data: 'nowhere.csv' }, 'nowhere.csv does not exist'],
  ['an instrument without decimals', { instrument: { base: 'X', quote: 'Z' } }, 'XBTUSD.pricePrecision: is missing'],
  ['no klines', { data: [] }, 'data has no klines'],
  ['klines without a column', { data: { openTime: [1] } }, 'data has no open'],
  ['columns of two lengths', { data: { ...columnsOf(row), close: [1, 2] } }, 'data: close has 2 values, openTime 1'],
  [
    'a time in seconds',
    { data: [{ ...row, openTime: 1_580_515_200 }] },
    'data, kline 0: openTime is 1580515200: it must be UTC ms',
  ],
  ['a price too fine', { data: [{ ...row, close: 100.001 }] }, 'the price 100.001 has more than the 2 decimals'],
  ['an impossible kline', { data: [{ ...row, low: 102 }] }, /^data: not used: 1 impossible row/],
])('backtest() refuses %s', async (_, wrong, message) => {
  await expect(backtest({ ...options, ...wrong })).rejects.toThrow(message);
});

test('backtest() rejects with what the strategy throws, and where', async () => {
  const bad = defineStrategy({
    ...{ name: 'bad', about: 'Throws', params: {}, indicators: () => ({}) },
    decide: () => {
      throw new Error('no idea');
    },
  });
  const { params: _, ...rest } = options;
  await expect(backtest({ ...rest, strategy: bad })).rejects.toThrow(
    /^a strategy threw: Error: no idea \(from-code\.test\.ts, line \d+\)$/,
  );
});
