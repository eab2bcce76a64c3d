/**
 * Backtests of strategies that people run (`cases.ts`), each in a process of its own, as people run them, next to the bare loop of `market.ts`:
 * over the 2.77 million recorded minute klines where they lie beside this checkout, else over the bundled ones. Loading is not timed. Prints
 * one line a case; `--json` the figures; `--cpu` counts the time of one thread alone, which is steadier on a busy machine.
 *
 *     node bench/speed.ts [--only TEXT] [--rounds N] [--cpu] [--json]
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { runBacktest } from '../src/backtest/engines.ts';
import { summarise } from '../src/backtest/result/summary.ts';
import { loadKlines } from '../src/data/klines.ts';
import { type Case, cases } from './cases.ts';
import { bareLoop, configFor, market } from './market.ts';

const { values: args } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    cpu: { type: 'boolean' },
    json: { type: 'boolean' },
    /** The case that this process is to run, and its klines. */
    one: { type: 'string' },
    klines: { type: 'string', default: '' },
  },
});

const rounds = Number(args.rounds);
/** Ms. */
function now(): number {
  if (args.cpu !== true) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const best = (values: readonly number[]): number => Math.min(...values);

async function measured({ name, input, goal }: Case, path: string) {
  const { columns: klines } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
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
  return { name, goal, fills, run: speed(ms), withSummary: speed(summaryMs), bare: speed(bareMs) };
}

const only = cases.find(({ name }) => name === args.one);
if (only !== undefined) console.log(JSON.stringify(await measured(only, args.klines)));
else {
  const { path, close } = market();
  const results = [];
  for (const { name } of cases.filter((one) => one.name.includes(args.only))) {
    const options = ['--rounds', args.rounds, '--klines', path, ...(args.cpu === true ? ['--cpu'] : [])];
    const out = execFileSync(process.execPath, [import.meta.filename, '--one', name, ...options], { encoding: 'utf8' });
    const one = JSON.parse(out) as Awaited<ReturnType<typeof measured>>;
    results.push(one);
    if (args.json !== true)
      console.log(
        `${name.padEnd(42)} ${String(one.fills).padStart(7)} fills ${one.run.toFixed(2).padStart(7)} M/s, with summary ${one.withSummary.toFixed(2).padStart(6)}, bare ${one.bare.toFixed(0)}`,
      );
  }
  close();
  if (args.json === true) console.log(JSON.stringify(results));
}
