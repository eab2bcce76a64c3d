/**
 * Backtests of strategies that people run (`cases.ts`), next to the bare loop of `market.ts`, in one process: over the 2.77 million recorded
 * minute klines where they lie beside this checkout, else over the bundled ones. Loading is not timed. Prints one line a case; `--json` the
 * figures; `--cpu` counts the time of this thread alone, which is steadier on a busy machine.
 *
 *     node bench/speed.ts [--only TEXT] [--rounds N] [--cpu] [--json]
 */
import { parseArgs } from 'node:util';
import { runBacktest } from '../src/backtest/engines.ts';
import { summarise } from '../src/backtest/result/summary.ts';
import { loadKlines } from '../src/data/klines.ts';
import { cases } from './cases.ts';
import { bareLoop, configFor, market } from './market.ts';

const { values: args } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    cpu: { type: 'boolean' },
    json: { type: 'boolean' },
  },
});

const { path, close } = market();
const { columns: klines } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();

/** Ms. */
function now(): number {
  if (args.cpu !== true) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const rounds = Number(args.rounds);
const best = (values: readonly number[]): number => Math.min(...values);
const results = [];
for (const { name, input, goal } of cases) {
  if (!name.includes(args.only)) continue;
  const [ms, summaryMs, bareMs]: [number[], number[], number[]] = [[], [], []];
  let fills = 0;
  for (let round = 0; round < rounds; round++) {
    const bareAt = now();
    bareLoop(klines.close, 10, 50);
    bareMs.push(now() - bareAt);
    const given = input(klines);
    const startedAt = now();
    const result = await runBacktest(given);
    ms.push(now() - startedAt);
    fills = summarise({ input: given, warnings: [], dataHashes: {} }, result, configFor()).summary.fillCount;
    summaryMs.push(now() - startedAt);
  }
  const speed = (taken: readonly number[]): number => klines.close.length / best(taken) / 1_000;
  const figures = { name, goal, fills, run: speed(ms), withSummary: speed(summaryMs), bare: speed(bareMs) };
  results.push(figures);
  if (args.json !== true)
    console.log(
      `${name.padEnd(42)} ${String(fills).padStart(7)} fills ${figures.run.toFixed(2).padStart(7)} M/s, with summary ${figures.withSummary.toFixed(2).padStart(6)}, bare ${figures.bare.toFixed(0)}`,
    );
}
if (args.json === true) console.log(JSON.stringify(results));
