/** The command lines of `sluice runs`, `report` and `compare`. What carries them out is loaded by the command that needs it. */
import { join } from 'node:path';
import { type Command, Option } from 'commander';

export interface RunsIo {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

export const runsOption = (): Option =>
  new Option('--runs <DIR>', 'where runs are kept and trials are counted').default(join('var', 'runs'));

/** Adds what is done with kept runs. */
export function addRuns(program: Command, io: RunsIo): void {
  const json = (): Option =>
    new Option('--json', 'machine output on stdout; everything else goes to stderr').default(false);
  const command = (name: string, about: string): Command =>
    program.command(name).description(about).addOption(runsOption()).addOption(json());
  command('runs', 'backtests that were kept, newest first')
    .option('--remove <RUN...>', 'delete these; their trials still count')
    .action(async (given) => (await import('./show.ts')).showRuns({ ...given, ...io }));
  command('report', 'a kept run: every figure with its meaning, or one HTML file')
    .argument('<RUN>', 'its id, the beginning or end of the id, last, or its folder')
    .option('-o, --output <FILE>', 'write the report there, one HTML file that needs nothing else')
    .option('--csv <DIR>', 'copy its fills, equity, orders and stops there')
    .action(async (run: string, given) => {
      (await import('../writable.ts')).refuseUnwritable({ output: given.output, csv: given.csv });
      return (await import('./show.ts')).showReport(run, { ...given, ...io });
    });
  command('compare', 'kept runs side by side')
    .argument('<RUN...>', 'as for report')
    .option('-o, --output <FILE>', 'write them into one HTML file')
    .action(async (runs: readonly string[], given) => {
      (await import('../writable.ts')).refuseUnwritable({ output: given.output });
      return (await import('./compare.ts')).compare(runs, { ...given, ...io });
    });
}
