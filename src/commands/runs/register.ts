/** The command lines of `sluice runs`, `report` and `compare`. */
import type { Command } from 'commander';
import { type Io, jsonOption, run, runsOption } from '../../terminal/options.ts';

export function addRuns(program: Command, io: Io): void {
  const command = (name: string, about: string): Command =>
    program.command(name).description(about).addOption(runsOption()).addOption(jsonOption());
  const runs = command('runs', 'list saved backtests, newest first').option(
    '--remove <RUN...>',
    'delete these; their trials still count',
  );
  run(runs, io, async () => (await import('./show.ts')).showRuns);
  const report = command('report', 'show every figure of a saved run, or write an HTML report')
    .argument('<RUN>', 'its id, the beginning or end of the id, last, or its folder')
    .option('-o, --output <FILE>', 'write an HTML report to this file')
    .option('--csv <DIR>', 'copy fills, equity, orders and stops to this folder');
  run(report, io, async () => (await import('./show.ts')).showReport);
  const compare = command('compare', 'compare saved runs')
    .argument('<RUN...>', 'as in report')
    .option('-o, --output <FILE>', 'write the comparison to an HTML file');
  run(compare, io, async () => (await import('./compare.ts')).compare);
}
