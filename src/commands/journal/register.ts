/** The command lines of `sluice journal`. */
import type { Command } from 'commander';
import { type Io, jsonOption, run, stateOption, wholeNumber } from '../../terminal/options.ts';

export function addJournal(program: Command, io: Io): void {
  const journal = program
    .command('journal')
    .description('the journal of a state directory: check, back up, restore, compact, size');
  const add = (name: string, about: string): Command =>
    journal.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  const check = add('check', 'check the file and the invariants of the order protocol; read-only');
  run(check, io, async () => (await import('./check.ts')).checkState);
  const backup = add(
    'backup',
    'copy the journal and its archive into a new folder, checked; also beside a daemon',
  ).argument('<FOLDER>', 'a folder that does not exist; encrypted if SLUICE_BACKUP_PASSPHRASE is set');
  run(backup, io, async () => (await import('./backup.ts')).backup);
  const restore = add('restore', 'put a backup into a state directory without a journal, and check it first').argument(
    '<FOLDER>',
    'the folder of the backup',
  );
  run(restore, io, async () => (await import('./backup.ts')).restore);
  const compact = add(
    'compact',
    'move the evidence of orders that ended long ago to Parquet files, while no daemon runs',
  ).option('--keep-days <N>', "days by the exchange's clock that stay", wholeNumber(0, 100_000), 30);
  run(compact, io, async () => (await import('./compact.ts')).compact);
  const size = add('size', 'rows and bytes of each table, the growth per day, and what a year takes');
  run(size, io, async () => (await import('./size.ts')).showSize);
}
