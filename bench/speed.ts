/**
 * Backtests of strategies that people run, next to the bare loop of `market.ts`, in one process: over the 2.77 million recorded minute
 * klines where they lie beside this checkout, else over the bundled ones. Loading is not timed. Prints one line a case; `--json` the figures.
 *
 *     node bench/speed.ts [--only TEXT] [--rounds N] [--json]
 */
import { parseArgs } from 'node:util';
import { runBacktest } from '../src/backtest/engines.ts';
import { summarise } from '../src/backtest/result/summary.ts';
import type { RunInput } from '../src/backtest/run.ts';
import { loadKlines } from '../src/data/klines.ts';
import { rate } from '../src/domain/money.ts';
import { feesFrom, rulesets } from '../src/fill/rules.ts';

import { defineStrategy, flat, hold, type Strategy } from '../src/strategy/contract.ts';
import { atr, sma } from '../src/strategy/indicators.ts';
import { readParams } from '../src/strategy/params.ts';
import { registry } from '../strategies/registry.ts';
import { bareLoop, configFor, inputFor, market } from './market.ts';

const { default: grid } = await registry.grid();
const { default: smaCross } = await registry['sma-cross']();

const { values: args } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean' },
  },
});

const { path, close } = market();
const { columns: klines } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();

interface Case {
  readonly name: string;
  readonly input: () => RunInput;
  /** M klines/s on a machine whose bare loop makes 280: of the run, and with its summary. */
  readonly goal?: readonly [run: number, withSummary: number];
}

type Changes = Partial<Pick<RunInput, 'rules' | 'limits' | 'fees' | 'margin'>>;

/** `strategy` with these parameters over the minute klines. */
function run(strategy: Strategy, given: Readonly<Record<string, unknown>>, changes: Changes = {}): RunInput {
  const base = inputFor(klines, 10, 50);
  const { values, problems } = readParams(strategy.params, given);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const [hosted] = base.hosted;
  if (hosted === undefined) throw new Error('there is no strategy');
  return { ...base, ...changes, hosted: [{ ...hosted, strategy, params: values }] };
}

/** Averages of 500 and 2,500 klines, `share` 0.5, and whatever `exits` gives at a close. */
const slowCross = (exits: (close: number, range: number) => object) =>
  defineStrategy({
    name: 'slow-cross',
    about: 'Averages of 500 and 2,500 klines',
    params: {},
    indicators: () => ({ fast: sma('close', 500), slow: sma('close', 2_500), range: atr(14) }),
    decide: ({ fast, slow, range }, { kline, holding }) =>
      fast <= slow
        ? flat('below')
        : holding.quantity > 0
          ? undefined
          : hold({ share: 0.5 }, 'above', exits(kline.close, range)),
  });

const sluice = { rules: rulesets.sluice, fees: feesFrom({ maker: rate('0.001'), taker: rate('0.002') }) };
const cross = { fast: 10, slow: 50 };
const slow = { fast: 500, slow: 2_500 };
const cases: readonly Case[] = [
  { name: 'SMA 10/50, fixed quantity', goal: [15, 8], input: () => run(smaCross, { ...cross, quantity: 1 }) },
  { name: 'SMA 10/50, share', goal: [12, 7], input: () => run(smaCross, { ...cross, share: 0.9 }) },
  {
    name: 'SMA 10/50, trailing stop never hit',
    goal: [10, 6],
    input: () => run(smaCross, { ...cross, quantity: 1, stop: 0.5 }),
  },
  {
    name: 'SMA 500/2500, share, trailing 5 %',
    goal: [30, 30],
    input: () => run(smaCross, { ...slow, share: 0.5, stop: 0.05 }),
  },
  {
    name: 'SMA 500/2500, stop and target 5 %',
    input: () =>
      run(
        slowCross((close) => ({ stop: close * 0.95, takeProfit: close * 1.05 })),
        {},
      ),
  },
  {
    name: 'SMA 500/2500, LIMIT entry, stop, target',
    input: () =>
      run(
        slowCross((close) => ({ limit: close * 0.999, stop: close * 0.95, takeProfit: close * 1.05 })),
        {},
      ),
  },
  {
    name: 'SMA 500/2500, time exit',
    input: () =>
      run(
        slowCross(() => ({ exitAfterMs: 6 * 3_600_000 })),
        {},
      ),
  },
  { name: 'shipped grid', input: () => run(grid, {}, sluice) },
  {
    name: 'SMA 10/50, share and stop, rules sluice',
    input: () => run(smaCross, { ...cross, share: 0.9, stop: 0.02 }, sluice),
  },
  {
    name: 'stop that moves with each kline',
    input: () =>
      run(
        defineStrategy({
          name: 'atr-stop',
          about: '',
          params: {},
          indicators: () => ({ fast: sma('close', 100), slow: sma('close', 400), range: atr(14) }),
          decide: ({ fast, slow, range }, { kline }) =>
            fast <= slow ? flat('below') : hold({ quantity: 1 }, 'above', { stop: kline.close - 8 * range }),
        }),
        {},
      ),
  },
];

const rounds = Number(args.rounds);
const best = (values: readonly number[]): number => Math.min(...values);
const results = [];
for (const { name, input, goal } of cases) {
  if (!name.includes(args.only)) continue;
  const [ms, saidMs, bareMs]: [number[], number[], number[]] = [[], [], []];
  let fills = 0;
  for (let round = 0; round < rounds; round++) {
    const bareAt = performance.now();
    bareLoop(klines.close, 10, 50);
    bareMs.push(performance.now() - bareAt);
    const given = input();
    const startedAt = performance.now();
    const result = await runBacktest(given);
    ms.push(performance.now() - startedAt);
    fills = summarise({ input: given, warnings: [], dataHashes: {} }, result, configFor()).summary.fillCount;
    saidMs.push(performance.now() - startedAt);
  }
  const speed = (taken: readonly number[]): number => klines.close.length / best(taken) / 1_000;
  const figures = { name, goal, fills, run: speed(ms), withSummary: speed(saidMs), bare: speed(bareMs) };
  results.push(figures);
  if (args.json !== true)
    console.log(
      `${name.padEnd(34)} ${String(fills).padStart(7)} fills ${figures.run.toFixed(2).padStart(7)} M/s, with summary ${figures.withSummary.toFixed(2).padStart(6)}, bare ${figures.bare.toFixed(0)}`,
    );
}
if (args.json === true) console.log(JSON.stringify(results));
