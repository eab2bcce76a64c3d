/** The command lines of `sluice runs`, `report` and `compare`. What carries them out is loaded by the command that needs it. */
import { join } from 'node:path';
import { type Command, Option } from 'commander';

export interface RunsIo {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

export const runsOption = (): Option =>
  new Option('--runs <DIR>', 'folder of saved runs and counted trials').default(join('var', 'runs'));

/** Adds what is done with kept runs. */
export function addRuns(program: Command, io: RunsIo): void {
  const json = (): Option =>
    new Option('--json', 'machine output on stdout; everything else goes to stderr').default(false);
  const command = (name: string, about: string): Command =>
    program.command(name).description(about).addOption(runsOption()).addOption(json());
  command('runs', 'list saved backtests, newest first')
    .option('--remove <RUN...>', 'delete these; their trials still count')
    .action(async (given) => (await import('./show.ts')).showRuns({ ...given, ...io }));
  command('report', 'show every figure of a saved run, or write an HTML report')
    .argument('<RUN>', 'its id, the beginning or end of the id, last, or its folder')
    .option('-o, --output <FILE>', 'write an HTML report to this file')
    .option('--csv <DIR>', 'copy fills, equity, orders and stops to this folder')
    .action(async (run: string, given) => {
      (await import('../writable.ts')).refuseUnwritable({ output: given.output, csv: given.csv });
      return (await import('./show.ts')).showReport(run, { ...given, ...io });
    });
  command('compare', 'compare saved runs')
    .argument('<RUN...>', 'as in report')
    .option('-o, --output <FILE>', 'write the comparison to an HTML file')
    .action(async (runs: readonly string[], given) => {
      (await import('../writable.ts')).refuseUnwritable({ output: given.output });
      return (await import('./compare.ts')).compare(runs, { ...given, ...io });
    });
}
