/** The command lines of `sluice journal`: they read only. */
import type { Command } from 'commander';
import { type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';

export function addJournal(program: Command, io: Io): void {
  const journal = program.command('journal').description('the journal of a state directory: check it');
  const add = (name: string, about: string): Command =>
    journal.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  const check = add('check', 'check the file and the invariants of the order protocol; read-only');
  run(check, io, async () => (await import('./check.ts')).checkState);
}
