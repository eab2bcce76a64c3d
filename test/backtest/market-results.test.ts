/** The result of each strategy in each of its symbols: together it is the profit of the account, by every engine. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { runBacktest } from '../../src/backtest/engines.ts';
import { summarise } from '../../src/backtest/result/summary.ts';
import { tableOf } from '../../src/backtest/result/table.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { unitsNumber } from '../../src/domain/money.ts';
import { hold, of, roc, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { klines, minute, severalInput } from '../kit/several-markets.ts';
import { draws, generated } from '../reference/generated.ts';
import { caseOfXz, columnsOf, inputOf, joined, scripted } from './agreement.ts';

const config = backtestSchema.parse({
  cash: '1000',
  strategies: [{ id: 's', use: 'test', symbol: 'XZ', interval: '1min' }],
  risk: { maxOrderValue: '1000', maxPosition: '1000' },
});
const summaryOf = (input: RunInput, result: RunResult) =>
  summarise({ input, warnings: [], dataHashes: {} }, result, config).summary;

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

const opposed = defineStrategy({
  name: 'opposed',
  about: 'Is long of one market and short of another',
  params: {},
  markets: { first: 'traded', second: 'traded' },
  indicators: () => ({ rise: of('first', roc('close', 5)) }),
  decide: ({ rise }) => ({
    first: hold({ share: rise > 0 ? 1.9 : -1.9 }, 'by its rise'),
    second: hold({ share: rise > 0 ? -1.9 : 1.9 }, 'against it'),
  }),
});
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
