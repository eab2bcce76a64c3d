/** `sluice journal export`: every row of a journal as JSON lines or CSV. Money and ids stay text, as stored. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { oneLine } from '../../journal/examiner.ts';
import { makeDirs } from '../../journal/open.ts';
import { openToRead } from '../../journal/reader.ts';
import { cellText } from '../../report/csv.ts';
import { chooseState, type StateChoice } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { thenExamined } from '../show/read-state.ts';

export interface ExportOptions extends Output {
  readonly dir: string;
  readonly format: 'jsonl' | 'csv';
  /** Only these; none: all. */
  readonly table: readonly string[];
  /** UTC ms: rows of this moment and later. */
  readonly from?: number;
  /** UTC ms: rows before this moment. */
  readonly until?: number;
  /** A file, or an existing directory, or one to be made when it ends in /: then a file for each table. */
  readonly output?: string;
}

/** Which column of a table says when a row was written; the others hold what counts now, and are exported whole. */
const timeOf = (columns: readonly string[]): string | undefined =>
  ['at', 'time', 'created_at', 'seen_at', 'day'].find((name) => columns.includes(name));

/** The key of the ids' mac proves what is ours: it never leaves the journal. */
const secret = "WHERE key <> 'idKey'";

interface Source {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: () => Iterable<readonly (string | number | null)[]>;
}

export function exportState({ state, ...options }: Omit<ExportOptions, 'dir'> & StateChoice): void {
  const chosen = chooseState(state, options.say);
  thenExamined(chosen, () => exportJournal({ ...options, dir: chosen.dir }));
}

export function exportJournal(options: ExportOptions): void {
  const { dir, format, output, json, out, say, from, until } = options;
  if (from !== undefined && until !== undefined && from >= until)
    throw new Refusal('--from is not before --until: swap them, or leave one out');
  const { db, path } = openToRead(dir);
  try {
    // One moment of it, whatever a daemon writes meanwhile.
    db.exec('BEGIN');
    const sources = chosen(db, options);
    if (output === undefined) {
      refuseSeveral(sources, format, 'DIR');
      for (const source of sources) for (const line of linesOf(source, format, sources.length > 1)) out(line);
      return;
    }
    const written = isDir(output) ? intoDir(output, sources, format) : [write(output, sources, format)];
    for (const { file, rows } of written) {
      if (json) out(JSON.stringify({ version: 2, file, rows }));
      else say(`${rows} rows in ${file}`);
    }
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new Refusal(
      `${path} cannot be read (${oneLine(error.message)}): sluice journal check says what is wrong with it`,
      3,
    );
  } finally {
    db.close();
  }
}

const isDir = (output: string): boolean =>
  output.endsWith('/') || (existsSync(output) && statSync(output).isDirectory());

function chosen(db: Database.Database, { table, from, until }: ExportOptions): readonly Source[] {
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all() as string[];
  const unknown = table.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Refusal(`unknown table ${unknown}${didYouMean(unknown, names)}: there are ${names.join(', ')}`);
  return names
    .filter((name) => table.length === 0 || table.includes(name))
    .map((name) => {
      const columns = (db.pragma(`table_info(${name})`) as { name: string }[]).map((column) => column.name);
      const time = timeOf(columns);
      const between = time === undefined ? '' : `WHERE ${time} >= ? AND ${time} < ?`;
      const rows = db.prepare(`SELECT * FROM ${name} ${name === 'meta' ? secret : between}`).raw();
      const bounds = time === undefined ? [] : [from ?? 0, until ?? Number.MAX_SAFE_INTEGER];
      return { name, columns, rows: () => rows.iterate(...bounds) as IterableIterator<(string | number | null)[]> };
    });
}

/** As every CSV of ours; NULL is nothing, and the empty text a pair of quotes. */
const csvField = (value: string | number | null): string => (value === '' ? '""' : cellText(value));

/** A table as lines; in a file with others each line says which table it is of. */
function* linesOf({ name, columns, rows }: Source, format: 'jsonl' | 'csv', isNamed: boolean): Iterable<string> {
  if (format === 'csv') yield columns.join(',');
  for (const row of rows()) {
    if (format === 'csv') yield row.map(csvField).join(',');
    else {
      const fields = Object.fromEntries(columns.map((column, index) => [column, row[index]]));
      yield JSON.stringify(isNamed ? { table: name, ...fields } : fields);
    }
  }
}

function refuseSeveral({ length }: readonly Source[], format: ExportOptions['format'], dir: string): void {
  if (format === 'csv' && length > 1)
    throw new Refusal(`a CSV file holds one table: choose one with --table NAME, or give a directory with -o ${dir}/`);
}

interface Written {
  readonly file: string;
  readonly rows: number;
}

function intoDir(dir: string, sources: readonly Source[], format: 'jsonl' | 'csv'): readonly Written[] {
  try {
    makeDirs(dir);
  } catch (error) {
    throw new Refusal(
      `${dir} cannot be made (${(error as NodeJS.ErrnoException).code}): choose another path with -o`,
      1,
    );
  }
  return sources.map((source) => write(join(dir, `${source.name}.${format}`), [source], format));
}

/** Lines gathered before they are written, characters. */
const chunk = 1_048_576;

/** Writes a file whole or not at all: what was there stays until the last row is on disk. */
function write(file: string, sources: readonly Source[], format: ExportOptions['format']): Written {
  refuseSeveral(sources, format, file);
  const unfinished = `${file}.new`;
  let rows = format === 'csv' ? -sources.length : 0;
  try {
    const to = openSync(unfinished, 'w', 0o600);
    try {
      let text = '';
      for (const source of sources)
        for (const line of linesOf(source, format, sources.length > 1)) {
          rows++;
          text += `${line}\n`;
          if (text.length < chunk) continue;
          writeFileSync(to, text);
          text = '';
        }
      writeFileSync(to, text);
      fsyncSync(to);
    } finally {
      closeSync(to);
    }
    renameSync(unfinished, file);
  } catch (error) {
    try {
      rmSync(unfinished, { force: true });
    } catch {
      // An unreadable folder has no unfinished file.
    }
    if (error instanceof Error && 'syscall' in error)
      throw new Refusal(
        `${file} cannot be written (${error.message}): no incomplete file was left; choose another path with -o`,
        1,
      );
    throw error;
  }
  return { file, rows };
}
