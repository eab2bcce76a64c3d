/** The command line of `sluice dashboard`. */
import type { Command } from 'commander';
import { collect, type Io, jsonOption, run, runsOption, stateOption, wholeNumber } from '../../terminal/options.ts';

export function addDashboard(program: Command, io: Io): void {
  const dashboard = program
    .command('dashboard')
    .description('one page for all daemons and saved backtests of this machine')
    .addOption(stateOption().argParser(collect).default([], 'all in var/'))
    .addOption(runsOption())
    .option('--port <N>', 'the port of the page (0: any free one)', wholeNumber(0, 65_535), 0)
    .addOption(jsonOption());
  run(dashboard, io, async () => (await import('./dashboard.ts')).showDashboard);
}
