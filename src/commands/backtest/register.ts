/** The command lines of `sluice backtest` and `sluice check`. */
import { type Command, Option } from 'commander';
import { type ObjectiveName, objectiveNames } from '../../backtest/search/objective.ts';
import { Refusal } from '../../domain/refusal.ts';
import { rulesetNames } from '../../fill/ruleset-names.ts';
import {
  collect,
  configOption,
  type Io,
  jsonOption,
  requireConfig,
  run,
  runsOption,
  setOption,
  wholeNumber,
} from '../../terminal/options.ts';
import { progress } from '../../terminal/output.ts';
import type { CheckOptions } from '../check/command.ts';
import type { BacktestOptions } from './run-prepared.ts';

interface Given extends Omit<BacktestOptions, 'config' | 'runs' | 'ledger'> {
  readonly config?: string;
  readonly runs: string;
  readonly rules?: string;
  readonly save: boolean;
  readonly grid: readonly string[];
  readonly objective?: ObjectiveName;
  readonly workers?: number;
  readonly all?: string;
  readonly accept: boolean;
}

export function addBacktest(program: Command, io: Io, sluice: string): void {
  const rules = 'ruleset by which orders fill, instead of the configured one';
  const backtest = program
    .command('backtest')
    .description('run strategies over recorded klines')
    .addOption(configOption())
    .addOption(setOption())
    .addOption(new Option('--rules <NAME>', rules).choices([...rulesetNames]))
    .option('--stress', 'also run with doubled fees, tripled latency and signals one kline later', false)
    .option('--report [FILE]', 'write an HTML report; default name: that of the run')
    .option('--csv <DIR>', 'write orders, fills, equity and stops as CSV')
    .option('--no-save', 'neither save this run nor count it as a trial')
    .addOption(
      new Option('--grid <PARAM=VALUES>', 'every combination of values: fast=5..24, slow=30..75:5, mode=a,b')
        .argParser(collect)
        .default([])
        .conflicts(['stress']),
    )
    .addOption(
      new Option('--objective <NAME>', 'what a grid ranks by (return)').choices([...objectiveNames]).conflicts(['all']),
    )
    .option('--workers <N>', 'threads of a grid (the number of cores)', wholeNumber(1, 256))
    .addOption(
      new Option('--all [DIR]', 'compare every configuration of a folder with its expectations')
        .preset('backtests')
        .conflicts(['config', 'grid', 'stress', 'report', 'csv', 'rules']),
    )
    .option('--accept', 'with --all: save the results as expectations', false)
    .addOption(runsOption())
    .addOption(jsonOption());
  run(backtest, io, async () => (given: Given) => runBacktest({ ...given, sluice }));
  const check = program
    .command('check')
    .description('check a strategy for look-ahead and measure its warm-up')
    .argument('<STRATEGY>', 'a shipped strategy, a file, or with --config the id of a configured one')
    .addOption(configOption())
    .addOption(setOption())
    .addOption(jsonOption());
  run(check, io, async () => {
    const load = await import('../check/command.ts');
    return (strategy: string, given: Omit<CheckOptions, 'strategy'>) => load.check({ ...given, strategy });
  });
}

async function runBacktest({ save, runs, rules, all, accept, config: file, ...given }: Given): Promise<void> {
  const set = rules === undefined ? given.set : [...given.set, `rules=${rules}`];
  if (accept && all === undefined) throw new Refusal('--accept is for scenarios: give --all, or leave it out');
  if (all !== undefined) {
    const { checkAll } = await import('./expectations.ts');
    return checkAll({
      ...{ ...given, dir: all, accept },
      async run(config) {
        const printed: string[] = [];
        const { backtest } = await import('./backtest.ts');
        await backtest({ ...given, set, config, json: true, out: (line) => void printed.push(line), say: () => {} });
        return printed.join('');
      },
    });
  }
  const kept = save ? { runs } : { ledger: runs };
  (await import('../writable.ts')).refuseUnwritable({ ...given, ...kept });
  const options = { ...given, ...kept, set, config: requireConfig('backtest', file) };
  if (options.objective !== undefined && given.grid.length === 0)
    throw new Refusal('--objective ranks the parameter sets of a grid: give --grid, or leave it out');
  if (given.grid.length === 0) return (await import('./backtest.ts')).backtest(options);
  const { gridBacktest } = await import('../grid/command.ts');
  return gridBacktest({ ...options, ...(process.stderr.isTTY && { progress }) });
}
