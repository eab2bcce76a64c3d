/** `sluice export`: the fills of a journal, also for tax programs, or its tables as they are. Money and ids stay text. */

import { existsSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import Database from 'better-sqlite3';
import { attachArchive } from '../../archive/attach.ts';
import { layouts, rowsOf } from '../../books/layouts.ts';
import type { LayoutName } from '../../books/names.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { oneLine } from '../../journal/examiner.ts';
import { makeDirs } from '../../journal/open.ts';
import { readFills } from '../../journal/past-orders.ts';
import { openToRead } from '../../journal/reader.ts';
import { readRows, timeOf } from '../../journal/rows.ts';
import { chooseState, type StateChoice } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { thenExamined } from '../show/read-state.ts';
import { type ExportLayout, type FileFormat, fileFormats } from './formats.ts';
import { linesOf, type Source, type Written, writeSources } from './write-rows.ts';

export interface ExportOptions extends Output {
  readonly dir: string;
  /** Default: by the ending of `output`; otherwise JSON lines for tables and CSV for fills. */
  readonly format?: FileFormat;
  /** Only these tables; none: all. */
  readonly table: readonly string[];
  /** UTC ms: rows of this moment and later. */
  readonly from?: number;
  /** UTC ms: rows before this moment. */
  readonly to?: number;
  /** A file, or of tables an existing directory, or one to be made when it ends in /: then a file for each table. */
  readonly output?: string;
  /** Overwrites files. */
  readonly replace?: boolean;
}

/** The key of the ids' mac proves what is ours: it never leaves the journal. */
const secret = "WHERE key <> 'idKey'";

export async function exportState(
  layout: ExportLayout,
  { state, ...options }: Omit<ExportOptions, 'dir'> & StateChoice,
): Promise<void> {
  const chosen = chooseState(state, options.say);
  await thenExamined(chosen, () => exportJournal(layout, { ...options, dir: chosen.dir }));
}

export async function exportJournal(layout: ExportLayout, options: ExportOptions): Promise<void> {
  const { dir, output, json, out, say, from, to, table, replace = false } = options;
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal('--from is not before --to: swap them, or leave one out');
  if (layout !== 'tables' && table.length > 0)
    throw new Refusal(`--table chooses among tables: write sluice export tables --table ${table[0]}`);
  const format = formatOf(layout, options);
  const { db, path } = openToRead(dir);
  try {
    if (layout === 'tables') attachArchive(db, dir);
    // One moment of it, whatever a daemon writes meanwhile.
    db.exec('BEGIN');
    const isRaw = layout === 'tables';
    const sources = isRaw ? tablesOf(db, options) : [fillsIn(db, layout, options)];
    if (output === undefined) {
      if (format === 'parquet') throw new Refusal('a Parquet file needs a name: give it with -o FILE.parquet');
      refuseSeveral(sources, format, 'DIR');
      const isNamed = sources.length > 1;
      for (const source of sources) for (const line of linesOf(source, format, { isRaw, isNamed })) out(line);
      return;
    }
    for (const { file, rows } of await write(output, sources, { format, replace, isRaw })) {
      if (json) out(JSON.stringify({ version: 2, file, rows }));
      else say(`${counted(rows, 'row')} in ${file}`);
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

function formatOf(layout: ExportLayout, { format, output }: ExportOptions): FileFormat {
  const ending = output === undefined || output.endsWith('/') ? '' : extname(output);
  const named = fileFormats.find((name) => ending === `.${name}`);
  if (format === undefined && named === undefined && ending !== '' && !isDir(output ?? ''))
    throw new Refusal(
      `${output}: export writes no ${ending} files: use ${fileFormats.map((name) => `.${name}`).join(', ')}, or choose with --format`,
    );
  const chosen = format ?? named ?? (layout === 'tables' ? 'jsonl' : 'csv');
  if ((layout === 'koinly' || layout === 'cointracker') && chosen !== 'csv')
    throw new Refusal(`the layout ${layout} is a CSV file: leave out --format, and give a name that ends in .csv`);
  return chosen;
}

const fillsIn = (db: Database.Database, name: LayoutName, { from, to }: ExportOptions): Source => ({
  name,
  columns: layouts[name].columns,
  rows: () =>
    rowsOf(layouts[name], readFills(db, '1'), readRows(db, 'instrument', ''), {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    }),
});

function tablesOf(db: Database.Database, { table, from, to }: ExportOptions): readonly Source[] {
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
      const columns = (db.pragma(`table_info(${name})`) as { name: string; type: string }[]).map(
        (column) => ({ name: column.name, type: column.type === 'INTEGER' ? 'integer' : 'text' }) as const,
      );
      const time = timeOf(columns.map((column) => column.name));
      const between = time === undefined ? '' : `WHERE ${time} >= ? AND ${time} < ?`;
      const rows = db.prepare(`SELECT * FROM ${name} ${name === 'meta' ? secret : between}`).raw();
      const bounds = time === undefined ? [] : [from ?? 0, to ?? Number.MAX_SAFE_INTEGER];
      return { name, columns, rows: () => rows.iterate(...bounds) as IterableIterator<(string | number | null)[]> };
    });
}

function refuseSeveral({ length }: readonly Source[], format: FileFormat, dir: string): void {
  if (format !== 'jsonl' && length > 1)
    throw new Refusal(
      `a file of this format holds one table: choose one with --table NAME, or give a directory with -o ${dir}/`,
    );
}

const isDir = (output: string): boolean =>
  output.endsWith('/') || (existsSync(output) && statSync(output).isDirectory());

type How = Parameters<typeof writeSources>[2];

async function write(output: string, sources: readonly Source[], how: How): Promise<readonly Written[]> {
  if (!isDir(output)) {
    refuseSeveral(sources, how.format, output);
    return [await writeSources(output, sources, how)];
  }
  try {
    makeDirs(output);
  } catch (error) {
    throw new Refusal(
      `${output} cannot be made (${(error as NodeJS.ErrnoException).code}): choose another path with -o`,
      1,
    );
  }
  const written: Written[] = [];
  for (const source of sources)
    written.push(await writeSources(join(output, `${source.name}.${how.format}`), [source], how));
  return written;
}
