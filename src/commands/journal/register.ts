/** The command lines of `sluice journal`: reading commands, which change nothing. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { momentOf, momentWanted } from '../../config/times.ts';

interface Io {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

const moment = (text: string): number => {
  const time = momentOf(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError(`must be ${momentWanted}`);
  return time;
};
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Adds `journal` with its commands. */
export function addJournal(program: Command, io: Io): void {
  const journal = program.command('journal').description('the journal of a state directory: check it, export it');
  const add = (name: string, about: string): Command =>
    journal
      .command(name)
      .description(about)
      .option('--state <DIR>', 'the state directory')
      .option('--json', 'machine output on stdout; everything else goes to stderr', false);
  add('check', "whether it is whole and keeps the order protocol's invariants; read-only").action(
    async (given: { state?: string; json: boolean }) => {
      const [{ check }, { chooseState }] = await Promise.all([import('./check.ts'), import('../../session/state.ts')]);
      check({ dir: chooseState(given.state, io.say).dir, environment: process.env, json: given.json, out: io.out });
    },
  );
  add('export', 'every row, as it was written')
    .addOption(new Option('--format <NAME>', 'of the rows').choices(['jsonl', 'csv']).default('jsonl'))
    .addOption(new Option('--table <NAME>', 'only this table; repeatable').argParser(collect).default([]))
    .option('--from <DATE>', 'start time of rows, UTC', moment)
    .option('--until <DATE>', 'end time of rows, exclusive, UTC', moment)
    .option('-o, --output <PATH>', 'a file, or a directory (with / at its end) for a file of each table; else stdout')
    .action(async (given) => {
      const [{ exportJournal }, { chooseState }, { doubted }] = await Promise.all([
        import('./export.ts'),
        import('../../session/state.ts'),
        import('../show/show.ts'),
      ]);
      const chosen = chooseState(given.state, io.say);
      doubted(chosen, () => exportJournal({ ...given, dir: chosen.dir, ...io }));
    });
}
