/** SQL over the catalogue: a table for each kind, `klines`, `trades` and `depth`, and writing a series out. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { causeOf, didYouMean, Refusal } from '../../domain/refusal.ts';
import { momentText } from '../check/finding.ts';
import { type Duck, openDuck, parquetFrom, quoted, quotedPath } from './duckdb.ts';
import { columnsOf, type Kind, kinds, type SeriesKey, seriesName } from './kinds.ts';
import { checkWhole } from './load.ts';
import { folderOf, listSeries, type Manifest, readAgain } from './manifest.ts';
import { parquetOptions } from './parquet.ts';

/** Rows of an answer that are printed; more belong into a file (`sluice data export`). */
export const maxAnswerRows = 10_000;

/** Answers one SELECT. A `Refusal` for anything that is none, for damaged files of a kind that it names, and with DuckDB's own words for what it cannot do. */
export const query = (dir: string, sql: string) => readAgain(dir, () => queryNow(dir, sql));

/** Whether a question is about a kind. */
export const isAbout = (sql: string, kind: Kind): boolean => new RegExp(`\\b${kind}\\b`, 'i').test(sql);

async function queryNow(dir: string, sql: string) {
  const isAsked = ({ kind }: Pick<SeriesKey, 'kind'>): boolean => isAbout(sql, kind);
  const all = listSeries(dir, isAsked);
  for (const one of all) if (isAsked(one)) checkWhole(dir, one);
  const duck = await openDuck();
  try {
    for (const kind of kinds) await duck.connection.run(viewOf(dir, all, kind));
    // The query may read only the catalogue. Patterns are compared with it as they are written.
    await duck.connection.run(`SET allowed_directories = [${quoted(dir)}, ${quotedPath(dir)}]`);
    await duck.connection.run('SET enable_external_access = false');
    await duck.connection.run('SET lock_configuration = true');
    return await answer(duck, sql);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`the query failed: ${errorText(error)}`);
  } finally {
    duck.close();
  }
}

/** DuckDB's words, but for tables that are not there: it proposes those of its own. */
function errorText(error: unknown): string {
  const text = causeOf(error);
  const table = /Table with name (\S+) does not exist/.exec(text)?.[1];
  if (table === undefined) return text;
  return `unknown table ${table}${didYouMean(table.toLowerCase(), kinds)}; there are ${kinds.join(', ')}`;
}

async function answer({ api, connection }: Duck, sql: string) {
  // Of nothing but space and comments DuckDB says no more than "Error in native callback".
  if (sql.replace(/--.*$|\/\*[\s\S]*?\*\/|;/gm, '').trim() === '')
    throw new Refusal('the query is empty: give one SELECT, such as "SELECT count(*) FROM klines"');
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new Refusal('give one SELECT at a time');
  const statement = await statements.prepare(0);
  const { EXPLAIN, SELECT } = api.StatementType;
  if (statement.statementType !== SELECT && statement.statementType !== EXPLAIN)
    throw new Refusal('only SELECT is allowed: import, resample and remove change stored data');
  const reader = await statement.streamAndReadUntil(maxAnswerRows + 1);
  const rows = reader.getRowsJson();
  return { columns: reader.columnNames(), rows: rows.slice(0, maxAnswerRows), cut: rows.length > maxAnswerRows };
}

function viewOf(dir: string, all: readonly Manifest[], kind: Kind): string {
  const series = all.filter((one) => one.kind === kind && one.months.length > 0);
  const selects = series.map((one) => {
    const interval = kind === 'klines' ? `, ${quoted(one.interval ?? '')} AS "interval"` : '';
    return `SELECT ${quoted(one.symbol)} AS symbol${interval}, make_timestamp(time_ms * 1000) AS time, * FROM ${filesOf(dir, one)}`;
  });
  // The columns are there without a row, too: a question may name them.
  const interval = kind === 'klines' ? ', NULL::VARCHAR AS "interval"' : '';
  const types = columnsOf[kind].map(({ name, type }) => `NULL::${type} AS ${name}`);
  const none = `SELECT NULL::VARCHAR AS symbol${interval}, NULL::TIMESTAMP AS time, ${types.join(', ')} WHERE false`;
  return `CREATE VIEW ${kind} AS ${selects.length > 0 ? selects.join(' UNION ALL ') : none}`;
}

const filesOf = (dir: string, manifest: Manifest): string =>
  parquetFrom(...manifest.months.map(({ file }) => join(folderOf(dir, manifest), file)));

const formats = {
  csv: 'FORMAT csv, HEADER true',
  'csv.gz': 'FORMAT csv, HEADER true, COMPRESSION gzip',
  'csv.zst': 'FORMAT csv, HEADER true, COMPRESSION zstd',
  jsonl: 'FORMAT json',
  // As the catalogue writes it, so that what is exported and imported again is the same byte by byte.
  parquet: parquetOptions,
} as const;

/**
 * Writes a series into one file and returns the number of rows. The file's ending is the format. Throws a `Refusal` if there are no rows;
 * an existing file then stays.
 */
export async function exportSeries(
  dir: string,
  manifest: Manifest,
  file: string,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<number> {
  const ending = Object.keys(formats).find((one): one is keyof typeof formats => file.endsWith(`.${one}`));
  if (ending === undefined) throw new Refusal(`${file}: the name must end in ${Object.keys(formats).join(', ')}`);
  checkWhole(dir, manifest);
  const duck = await openDuck();
  const limits = [
    ...(from === undefined ? [] : [`time_ms >= ${from}`]),
    ...(to === undefined ? [] : [`time_ms < ${to}`]),
  ];
  const where = limits.length === 0 ? '' : ` WHERE ${limits.join(' AND ')}`;
  const names = columnsOf[manifest.kind].map(({ name }) => name).join(', ');
  const rows = ` FROM ${filesOf(dir, manifest)}${where}`;
  const select = `SELECT ${names}${rows}`;
  // Under another name until it is complete: a full disk or a kill must not leave what looks like data.
  const unfinished = `${file}.unfinished.${process.pid}`;
  const options = `${formats[ending]}, USE_TMP_FILE false`;
  try {
    const counted = await duck.connection.runAndReadAll(`SELECT count(*)${rows}`);
    if (Number(counted.getRows()[0]?.[0] ?? 0) === 0) throw noRows(manifest, file);
    const result = await duck.connection.runAndReadAll(`COPY (${select}) TO ${quoted(unfinished)} (${options})`);
    renameSync(unfinished, file);
    return Number(result.getRows()[0]?.[0] ?? 0);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`${file} cannot be written: ${causeOf(error)}`, 1);
  } finally {
    rmSync(unfinished, { force: true });
    duck.close();
  }
}

function noRows(manifest: Manifest, file: string): Refusal {
  const { months } = manifest;
  return new Refusal(
    `${seriesName(manifest)} has no rows in that time, so ${file} is not written: it spans ${momentText(months[0]?.from ?? 0)} to ${momentText(months.at(-1)?.to ?? 0)}`,
  );
}
