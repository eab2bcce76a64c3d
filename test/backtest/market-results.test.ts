/** The result of each strategy in each of its symbols: together it is the profit of the account, by every engine. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { runBacktest } from '../../src/backtest/engines.ts';
import { equityInput, summarise } from '../../src/backtest/result/summary.ts';
import { tableOf } from '../../src/backtest/result/table.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { closeTime } from '../../src/domain/interval.ts';
import { minus, noUnits, plus, ticksOf, type Units, units, unitsNumber, worth } from '../../src/domain/money.ts';
import { movementOf } from '../../src/domain/position.ts';
import { hold, of, roc, weights } from '../../src/index.ts';
import { marketCurves } from '../../src/research/market-curves.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { klines, minute, severalInput } from '../kit/several-markets.ts';
import { draws, generated } from '../reference/generated.ts';
import { caseOfXz, columnsOf, inputOf, joined, scripted } from './agreement.ts';

const config = backtestSchema.parse({
  cash: '1000',
  strategies: [{ id: 's', use: 'test', symbol: 'XZ', interval: '1min' }],
  risk: { maxOrderValue: '1000', maxPosition: '1000' },
});
const summarised = (input: RunInput, result: RunResult) =>
  summarise({ input, warnings: [], dataHashes: {} }, result, config);
const summaryOf = (input: RunInput, result: RunResult) => summarised(input, result).summary;

const wandering = (seed: number, rows: number) => {
  const chance = draws(seed);
  let price = 50;
  return klines(
    Array.from({ length: rows }, () => {
      price = Math.max(5, price * (1 + (chance() - 0.5) * 0.03));
      return Math.round(price * 100) / 100;
    }),
  );
};

const between = (long: number, short: number) =>
  defineStrategy({
    name: 'opposed',
    about: 'Is long of one market and short of another',
    params: {},
    markets: { first: 'traded', second: 'traded' },
    indicators: () => ({ rise: of('first', roc('close', 5)) }),
    decide: ({ rise }) => ({
      first: hold({ share: rise > 0 ? long : short }, 'by its rise'),
      second: hold({ share: rise > 0 ? short : long }, 'against it'),
    }),
  });
const opposed = between(1.9, -1.9);
const margin =
  'account: margin\nmargin: { maxLeverage: "4", maintenanceRatio: "0.24", liquidationFee: "0.01", interest: { AAA: "0.0001", BBB: "0.0002", USD: "0.0001" }, interestEveryHours: 1 }\n';

const rotation = defineStrategy({
  name: 'rotation',
  about: 'Holds the one that rose the most',
  params: {},
  rebalance: '5min',
  indicators: () => ({ rise: roc('close', 5) }),
  choose(markets) {
    const [best] = markets.toSorted((a, b) => b.values.rise - a.values.rise);
    return weights(best === undefined ? {} : { [best.symbol]: 0.9 }, 'the strongest', { threshold: 0.1 });
  },
});

const cases: readonly (readonly [name: string, strategy: Strategy, binding: string, more: string])[] = [
  ['a pair on margin', opposed, 'markets: { first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }', margin],
  ['a rotation', rotation, 'symbols: [AAAUSD, BBBUSD, CCCUSD]', ''],
];

test.for(cases)('the results by market of %s add up to the account', async ([, strategy, binding, more]) => {
  const symbols = strategy === opposed ? ['AAAUSD', 'BBBUSD'] : ['AAAUSD', 'BBBUSD', 'CCCUSD'];
  const series = Object.fromEntries(symbols.map((symbol, at) => [symbol, wandering(at + 1, 300)]));
  const input = await severalInput(strategy, binding, series, { more, fees: { maker: '0.001', taker: '0.002' } });
  for (const run of [runBacktest, runTape]) {
    const result = await run(input);
    const { markets, fillCount, metrics } = summaryOf(input, result);
    const sum = (key: 'profit' | 'contribution' | 'fills' | 'fees' | 'turnover'): number =>
      markets.reduce((total, one) => total + one[key], 0);
    expect(markets.map(({ symbol }) => symbol).toSorted()).toEqual(symbols);
    expect(10_000 + sum('profit')).toBeCloseTo(unitsNumber(result.finalEquity), 6);
    expect(sum('contribution')).toBeCloseTo(metrics.return, 9);
    expect(sum('fills')).toBe(fillCount);
    expect([sum('fees'), sum('turnover')].map((value) => value.toFixed(4))).toEqual(
      [metrics.fees, metrics.turnover].map((text) => Number(text).toFixed(4)),
    );
    if (more !== '') expect(result.margin?.charges.length).toBeGreaterThan(2);
  }
});

test('the results of two strategies are named by them, and a run that ended early counts up to its end', async () => {
  const runOf = (seed: number, symbol: string): RunInput => {
    const { klines: rows, signals } = generated(seed, 5_000);
    const given = caseOfXz({ columns: columnsOf(rows), rules: 'plain', cash: '1000000', strategy: scripted(signals) });
    return inputOf({ ...given, symbol, instrument: { ...given.instrument, base: symbol.slice(0, 1) } });
  };
  const input = joined(runOf(1, 'XZ'), runOf(2, 'YZ'));
  for (const pace of [undefined, async () => true]) {
    const result = await runBacktest({ ...input, ...(pace !== undefined && { pace }) });
    const summary = summaryOf(input, result);
    const profit = summary.markets.reduce((total, one) => total + one.profit, 0);
    expect(2_000_000 + profit).toBeCloseTo(unitsNumber(result.finalEquity), 4);
    const lines = tableOf(summary, 'Z').filter((line) => /^[XY]Z /.test(line));
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(/^XZ {19}xz: -?[\d,.]+ Z, -?[\d.]+ % of the cash; [\d,]+ fills, fees [\d,.]+/),
      expect.stringMatching(/^YZ {19}yz: /),
    ]);
    if (pace !== undefined) expect(result.endedAt).toBeLessThan(4_500 * minute);
  }
});

/** Cash and positions at a time in exact amounts, without the money paid in or out: what filled before the last close counts, at that close. */
function equityAt(
  { series, instruments, cash }: RunInput,
  { fills, margin }: RunResult,
  time: number,
  isEnd: boolean,
): Units {
  const closed = series.map(({ symbol, interval, columns }) => {
    const rows = columns.openTime.filter((opened) => closeTime(interval, opened) <= time).length;
    const last = rows === 0 ? Number.NEGATIVE_INFINITY : closeTime(interval, columns.openTime[rows - 1] as number);
    return { symbol, last, close: columns.close[rows - 1] ?? 0 };
  });
  const until = Math.max(...closed.map(({ last }) => last));
  let equity = cash;
  for (const { at, amount } of margin?.charges ?? []) if (at <= until) equity = minus(equity, amount);
  for (const { symbol, close } of closed) {
    const at = instruments.get(symbol);
    if (at === undefined) continue;
    let base = noUnits;
    for (const fill of fills) {
      if (fill.symbol !== symbol || !(isEnd || fill.time < until)) continue;
      const moved = movementOf(fill, at);
      equity = plus(equity, moved.quote);
      base = plus(base, moved.base);
    }
    equity = plus(equity, worth(base, ticksOf(close, at, 'exact'), at));
  }
  return equity;
}

const twoOnOne = async (
  second: Strategy,
  run: (strategy: Strategy, binding: string) => Promise<RunInput>,
): Promise<RunInput> =>
  joined(
    await run(rotation, 'symbols: [AAAUSD, BBBUSD, CCCUSD]'),
    await run(second, 'markets: { first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }'),
    ['rotation', 'opposed'],
  );

const marginOfThree = margin.replace('BBB:', 'CCC: "0.0003", BBB:');
test.for([
  ['fees in quote', 'plain', ''],
  ['fees in base', 'sluice', ''],
  ['fees in quote and margin', 'plain', marginOfThree],
  ['fees in base and margin', 'sluice', marginOfThree],
] as const)('the profit of all markets is that of the account at each moment, with %s', async ([, rules, more]) => {
  const symbols = ['AAAUSD', 'BBBUSD', 'CCCUSD'];
  const series = Object.fromEntries(symbols.map((symbol, at) => [symbol, wandering(at + 11, 1_000)]));
  const options = { more, rules, fees: { maker: '0.001', taker: '0.002' } } as const;
  const input = await twoOnOne(more === '' ? between(0.45, 0.1) : opposed, (strategy, binding) =>
    severalInput(strategy, binding, series, options),
  );
  const paid = { time: 700 * minute, asset: 'USD', amount: units('500'), reason: 'saved' };
  const cashFlows = [{ ...paid, shares: [{ strategy: 'rotation', symbol: 'AAAUSD', amount: units('500') }] }];
  const run = more === '' ? { ...input, cashFlows } : input;
  const result = await runBacktest(run);
  const { measured, summary } = summarised(run, result);
  const { time } = measured.walked.chart;
  const of = equityInput(run, measured.fills, result.cashFlows, summary.margin?.charges);
  const curves = marketCurves(of, time);
  if (curves === undefined) throw new Error('no curves');
  expect(result.fills.some(({ feeAsset }) => feeAsset !== 'USD')).toBe(rules === 'sluice');
  expect(new Set(result.fills.map(({ strategy, symbol }) => `${strategy} ${symbol}`)).size).toBe(5);
  if (more !== '') expect(result.margin?.charges.length).toBeGreaterThan(20);
  expect(time.length).toBeGreaterThan(500);
  expect(curves.markets.map(({ profit }) => profit[0])).toEqual([0, 0, 0]);
  for (const [point, at] of time.entries()) {
    const exact = minus(equityAt(run, result, at, point === time.length - 1), run.cash);
    const sum = curves.markets.reduce((total, { profit }) => total + (profit[point] as number), 0);
    expect(Math.abs(sum - unitsNumber(exact))).toBeLessThan(1e-8);
  }
  // What is shown as a line ends at what is shown in the table.
  for (const { symbol, profit } of curves.markets) {
    const rows = summary.markets.filter((one) => one.symbol === symbol);
    expect(profit.at(-1)).toBeCloseTo(
      rows.reduce((sum, one) => sum + one.profit, 0),
      9,
    );
  }
});

test('there is no profit by market where costs name no market, as in runs of earlier versions', async () => {
  const input = await severalInput(rotation, 'symbols: [AAAUSD, BBBUSD]', {
    AAAUSD: wandering(1, 50),
    BBBUSD: wandering(2, 50),
  });
  const { measured } = summarised(input, await runBacktest(input));
  const of = equityInput(input, measured.fills, [], [[5 * minute, '1']]);
  expect(marketCurves(of, measured.walked.chart.time)).toBeUndefined();
});
