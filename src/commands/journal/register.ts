/** The command lines of `sluice journal`: they read only. */
import { type Command, Option } from 'commander';
import { collect, dateOption, type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';

export function addJournal(program: Command, io: Io): void {
  const journal = program.command('journal').description('the journal of a state directory: check it, export it');
  const add = (name: string, about: string): Command =>
    journal.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  const check = add('check', 'check the file and the invariants of the order protocol; read-only');
  run(check, io, async () => (await import('./check.ts')).checkState);
  const exported = add('export', 'export every row')
    .addOption(new Option('--format <NAME>', 'format of the rows').choices(['jsonl', 'csv']).default('jsonl'))
    .addOption(new Option('--table <NAME>', 'only this table; repeatable').argParser(collect).default([]))
    .option('--from <DATE>', 'start time of rows, UTC', dateOption)
    .option('--until <DATE>', 'end time of rows, exclusive, UTC', dateOption)
    .option('-o, --output <PATH>', 'a file, or a directory (with / at its end) for a file of each table; else stdout');
  run(exported, io, async () => (await import('./export.ts')).exportState);
}
