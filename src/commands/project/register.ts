/** The command lines of `sluice init`, `new` and `test`: a folder of your own strategies. */
import type { Command } from 'commander';
import { type Io, jsonOption, run } from '../../terminal/options.ts';

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
  const test = program
    .command('test')
    .description('run unit tests of strategies')
    .argument('[FILE...]', 'test files; all below this folder when left out');
  run(test, io, async () => (await import('./run-tests.ts')).test);
}
