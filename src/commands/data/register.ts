/** The command lines of `sluice data`. What carries them out is loaded by the command that needs it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { momentOf, momentWanted } from '../../config/times.ts';
import { formats } from '../../data/import/layout.ts';
import { type Io, reaching } from '../manual/register.ts';

const moment = (text: string): number => {
  const time = momentOf(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError(`must be ${momentWanted}`);
  return time;
};

const common = (command: Command): Command =>
  command
    .option('--data <DIR>', 'the folder of the catalogue', 'var/data')
    .option('--json', 'machine output on stdout; everything else goes to stderr', false);
const which = (command: Command): Command =>
  common(command)
    .argument('[SYMBOL]', 'only of this symbol')
    .addOption(new Option('--kind <KIND>', 'only of this kind').choices(['klines', 'trades', 'depth']))
    .option('--interval <I>', 'only klines of this interval');

/** Adds `data` with its commands. */
export function addData(program: Command, io: Io): void {
  const data = program
    .command('data')
    .description('recorded data: import, fetch, check, list, compact, resample, export, remove, query in SQL');
  const add = (name: string, about: string): Command => data.command(name).description(about);
  addImport(add, io);
  addFetch(add, io);
  which(add('list', 'what is stored')).action(async (symbol: string | undefined, given) =>
    (await import('./show.ts')).list({ ...given, symbol, ...io }),
  );
  which(add('check', 'read everything again: files as they were written, and what the rows hold')).action(
    async (symbol: string | undefined, given) => (await import('./show.ts')).check({ ...given, symbol, ...io }),
  );
  which(add('export', 'write one series into a file'))
    .requiredOption('--to <FILE>', 'ends in .csv, .csv.gz, .csv.zst, .jsonl or .parquet, which says the format')
    .option('--replace', 'overwrite an existing file', false)
    .option('--from <DATE>', 'start time, UTC', moment)
    .option('--until <DATE>', 'end time, exclusive, UTC', moment)
    .action(async (symbol: string | undefined, given) =>
      (await import('./change.ts')).exportOne({ ...given, symbol, ...io }),
    );
  which(add('resample', 'make klines of larger intervals and keep them'))
    .requiredOption('--into <I,I,…>', 'intervals, such as 60min,1day,1week')
    .option('--zone <ZONE>', 'time zone of days, weeks and months', 'UTC')
    .action(async (symbol: string | undefined, given) =>
      (await import('./change.ts')).resample({ ...given, symbol, ...io }),
    );
  which(add('remove', 'take series away'))
    .option('--yes', 'confirm', false)
    .option('--all', 'all data', false)
    .action(async (symbol: string | undefined, given) =>
      (await import('./change.ts')).remove({ ...given, symbol, ...io }),
    );
  common(add('compact', 'recorded frames into the catalogue')).action(async (given) =>
    (await import('../record/command.ts')).compact({ ...given, ...io }),
  );
  common(add('sql', 'ask the tables klines, trades and depth'))
    .argument('<SELECT>', "one SELECT, in DuckDB's SQL")
    .action(async (sql: string, given) => (await import('./show.ts')).sql(sql, { ...given, ...io }));
}

function addImport(add: (name: string, about: string) => Command, io: Io): void {
  common(add('import', 'files into the catalogue: CSV, JSON, Parquet; plain, gz, xz, zst or zip'))
    .argument('<FILE...>')
    .addOption(new Option('--as <KIND>', 'the kind of data in the file').choices(['klines', 'trades', 'depth']))
    .option('--symbol <S>', 'the symbol, if the file does not name it')
    .option('--interval <I>', 'of klines: 1min, 5min, 15min, 30min, 60min, 1day, 1week or 1month')
    .option('--source <NAME>', 'source of the data, such as binance')
    .addOption(new Option('--format <NAME>', 'the source of a file without a header').choices(Object.keys(formats)))
    .option('--columns <A,B,…>', 'names of the columns in order; - skips one')
    .option('--zone <ZONE>', 'time zone of times without one: UTC, Europe/Berlin, +02:00')
    .addOption(
      new Option('--stamps <WHICH>', 'whether times are those of the open or close')
        .choices(['open', 'close'])
        .default('open'),
    )
    .option('--repair <R,R,…>', 'sort, duplicates, impossible, unreadable: repairs that you allow; they are recorded')
    .option('--replace', 'replace stored rows that differ', false)
    .option('--accept-jumps', 'accept prices that triple or fall to a third within a day', false)
    .option('--dry-run', 'only show the detected layout and the first rows', false)
    .action(async (files: readonly string[], given) =>
      (await import('./import.ts')).importAll(files, { ...given, ...io }),
    );
}

function addFetch(add: (name: string, about: string) => Command, io: Io): void {
  reaching(add('fetch', 'the past from the exchange into the catalogue; goes on where it was stopped'))
    .argument('<SYMBOL>')
    .option('--data <DIR>', 'the folder of the catalogue', 'var/data')
    .addOption(new Option('--kind <KIND>', 'the kind of data').choices(['klines', 'trades']).default('klines'))
    .option('--interval <I>', 'of klines: 1min, 5min, 15min, 30min, 60min, 1day, 1week or 1month')
    .option('--from <DATE>', 'start time, UTC', moment)
    .option('--to <DATE>', 'end time, exclusive, UTC (now)', moment)
    .option('--source <NAME>', "source of the data (the exchange's host)")
    .option('--replace', 'replace stored rows that differ', false)
    .action(async (symbol: string, given) =>
      (await import('./fetch.ts')).fetch(symbol, { ...given, ...io, environment: process.env }),
    );
}
