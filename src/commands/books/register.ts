/** The command lines of the books: `sluice pnl` and `sluice export`. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type Group, groups, methods } from '../../books/names.ts';
import { didYouMean } from '../../domain/refusal.ts';
import { collect, dateOption, type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';
import { exportLayouts, fileFormats } from './formats.ts';

/** `strategy,month`, or several options. */
function group(text: string, before: readonly Group[] | undefined): readonly Group[] {
  const given = text.split(',').map((name) => {
    const found = groups.find((one) => one === name.trim());
    if (found === undefined)
      throw new InvalidArgumentError(`${name}${didYouMean(name, groups)}: choose of ${groups.join(', ')}`);
    return found;
  });
  return [...(before ?? []), ...given];
}

export function addBooks(program: Command, io: Io): void {
  const add = (name: string, about: string): Command =>
    program
      .command(name)
      .description(about)
      .addOption(stateOption())
      .option('--from <DATE>', 'start time of fills, UTC', dateOption)
      .option('--to <DATE>', 'end time of fills, exclusive, UTC', dateOption)
      .addOption(jsonOption());
  const pnl = add('pnl', 'profit, loss and fees from the fills, and whether ledger and account agree')
    .addOption(
      new Option('--by <GROUPS>', `group by ${groups.join(', ')}; several with commas (strategy,symbol)`).argParser(
        group,
      ),
    )
    .addOption(new Option('--method <NAME>', 'which cost a sale closes').choices(methods).default('average'));
  run(pnl, io, async () => (await import('./pnl.ts')).showPnl);
  const exported = add('export', 'write the fills to a file, also for tax programs, or the tables of the journal')
    .addArgument(
      new Argument('[LAYOUT]', 'fills, koinly and cointracker (tax programs), or tables as they are')
        .choices(exportLayouts)
        .default('fills'),
    )
    .addOption(new Option('--format <NAME>', 'format; else by the ending of -o').choices(fileFormats))
    .addOption(new Option('--table <NAME>', 'only this table; repeatable').argParser(collect).default([]))
    .option('-o, --output <PATH>', 'a file, or a directory (with / at its end) for a file of each table; else stdout')
    .option('--replace', 'replace files that exist', false);
  run(exported, io, async () => (await import('./export.ts')).exportState);
}
