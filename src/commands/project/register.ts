/** The command lines of `sluice init`, `new`, `dev`, `test` and `run`: a folder of your own strategies. */
import type { Command } from 'commander';
import { type Io, jsonOption, run, wholeNumber } from '../../terminal/options.ts';

export function addProject(program: Command, io: Io): void {
  const init = program
    .command('init')
    .description('make a folder with a strategy, its test and configurations')
    .argument('<NAME>', 'the folder to make, such as ../my-trading')
    .addOption(jsonOption());
  run(init, io, async () => (await import('./init.ts')).init);
  const made = program.command('new').description('add files to a folder that sluice init made');
  const strategy = made
    .command('strategy')
    .description('add a strategy and its test')
    .argument('<NAME>', 'lower-case letters, digits and dashes')
    .option('--from <STRATEGY>', 'copy this shipped strategy instead of the first one')
    .addOption(jsonOption());
  run(strategy, io, async () => (await import('./new-strategy.ts')).newStrategy);
  const dev = program
    .command('dev')
    .description('watch a strategy: check, test and backtest it at each save, with a report that refreshes itself')
    .argument('<STRATEGY>', 'its file')
    .option('--config <FILE>', 'the backtest that runs it', 'backtest.yaml')
    .option('--port <N>', "the report's port (0: any free one)", wholeNumber(0, 65_535), 0);
  run(dev, io, async () => (await import('./dev.ts')).dev);
  const test = program
    .command('test')
    .description('run unit tests of strategies')
    .argument('[FILE...]', 'test files; all below this folder when left out');
  run(test, io, async () => (await import('./run-tests.ts')).test);
  const script = program
    .command('run')
    .description('run a script of yours, such as a backtest from code')
    .argument('<FILE>', 'TypeScript or JavaScript')
    .argument('[ARG...]', 'its arguments');
  run(script, io, async () => (await import('./run-tests.ts')).runScript);
}
