/** The command lines of `sluice data`. */
import { type Command, Option } from 'commander';
import { formats } from '../../data/import/layout.ts';
import { dataOption, dateOption, exchangeOptions, type Io, jsonOption, run } from '../../terminal/options.ts';

const kindOption = (flag: string, about: string, kinds = ['klines', 'trades', 'depth']): Option =>
  new Option(`${flag} <KIND>`, about).choices(kinds);
const intervals = '1min, 5min, 15min, 30min, 60min, 1day, 1week, 1month, or others such as 240min';

/** Passes the optional argument SYMBOL as an option. */
const withSymbol =
  <T extends object>(act: (given: T) => unknown) =>
  (symbol: string | undefined, given: T): unknown =>
    act({ ...given, ...(symbol !== undefined && { symbol }) });

export function addData(program: Command, io: Io): void {
  const data = program
    .command('data')
    .description('recorded data: import, fetch, check, list, compact, resample, export, remove, query in SQL');
  const add = (name: string, about: string): Command => data.command(name).description(about).addOption(dataOption());
  const addSeries = (name: string, about: string): Command =>
    add(name, about)
      .addOption(jsonOption())
      .argument('[SYMBOL]', 'only of this symbol')
      .addOption(kindOption('--kind', 'only of this kind'))
      .option('--interval <I>', 'only klines of this interval');
  addImport(add, io);
  addFetch(data, io);
  run(addSeries('list', 'list the stored series'), io, async () => withSymbol((await import('./show.ts')).list));
  const check = addSeries('check', 'verify the hashes of all files and check their rows');
  run(check, io, async () => withSymbol((await import('./show.ts')).check));
  const exported = addSeries('export', 'write one series into a file')
    .requiredOption(
      '-o, --output <FILE>',
      'file to write; its ending is the format: .csv, .csv.gz, .csv.zst, .jsonl or .parquet',
    )
    .option('--replace', 'overwrite an existing file', false)
    .option('--from <DATE>', 'start time, UTC', dateOption)
    .option('--to <DATE>', 'end time, exclusive, UTC', dateOption);
  run(exported, io, async () => withSymbol((await import('./change.ts')).exportOne));
  const resample = addSeries('resample', 'make klines of larger intervals and store them')
    .requiredOption('--into <I,I,…>', 'intervals, such as 60min,240min,1day')
    .option('--zone <ZONE>', 'time zone of days, weeks and months', 'UTC');
  run(resample, io, async () => withSymbol((await import('./change.ts')).resample));
  const remove = addSeries('remove', 'delete series')
    .option('--yes', 'confirm', false)
    .option('--all', 'all data', false);
  run(remove, io, async () => withSymbol((await import('./change.ts')).remove));
  const compact = add('compact', 'move recorded frames into the catalogue').addOption(jsonOption());
  run(compact, io, async () => (await import('../record/command.ts')).compact);
  const sql = add('sql', 'query the tables klines, trades and depth')
    .addOption(jsonOption())
    .argument('<SELECT>', "one SELECT, in DuckDB's SQL");
  run(sql, io, async () => (await import('./show.ts')).sql);
}

function addImport(add: (name: string, about: string) => Command, io: Io): void {
  const command = add('import', 'import files into the catalogue: CSV, JSON, Parquet; plain, gz, xz, zst or zip')
    .addOption(jsonOption())
    .argument('<FILE...>')
    .addOption(kindOption('--as', 'the kind of data in the file'))
    .option('--symbol <S>', 'the symbol, if the file does not name it')
    .option('--interval <I>', `of klines: ${intervals}`)
    .option('--source <NAME>', 'source of the data, such as binance')
    .addOption(
      new Option('--format <NAME>', 'layout of a file without a header, named by its source').choices(
        Object.keys(formats),
      ),
    )
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
    .option('--dry-run', 'only show the detected layout and the first rows', false);
  run(command, io, async () => (await import('./import.ts')).importAll);
}

function addFetch(data: Command, io: Io): void {
  const about = 'fetch history from the exchange into the catalogue; resumes after a stop';
  const command = exchangeOptions(data.command('fetch').description(about))
    .argument('<SYMBOL>')
    .addOption(dataOption())
    .addOption(kindOption('--kind', 'the kind of data', ['klines', 'trades']).default('klines'))
    .option('--interval <I>', `of klines: ${intervals}`)
    .option('--from <DATE>', 'start time, UTC', dateOption)
    .option('--to <DATE>', 'end time, exclusive, UTC (now)', dateOption)
    .option('--source <NAME>', "source of the data (the exchange's host)")
    .option('--replace', 'replace stored rows that differ', false);
  run(command, io, async () => (await import('./fetch.ts')).fetch);
}
