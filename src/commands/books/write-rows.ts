/** Rows to a file or a terminal, as CSV, JSON lines or Parquet. A file is written whole or not at all. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type RowColumn, type RowValue, writeParquetRows } from '../../data/catalogue/parquet-rows.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { cellText } from '../../report/csv.ts';
import type { FileFormat } from './formats.ts';

export interface Source {
  readonly name: string;
  readonly columns: readonly RowColumn[];
  readonly rows: () => Iterable<readonly RowValue[]>;
}

export interface Written {
  readonly file: string;
  readonly rows: number;
}

/** As every CSV of ours; NULL is nothing, and the empty text a pair of quotes where the two mean different things. */
const csvField = (value: RowValue, isRaw: boolean): string => (value === '' && isRaw ? '""' : cellText(value));

/** Rows as lines of text. `isRaw`: of tables as stored; `isNamed`: each line says of which table it is. */
export function* linesOf(
  { name, columns, rows }: Source,
  format: 'csv' | 'jsonl',
  { isRaw, isNamed }: { readonly isRaw: boolean; readonly isNamed: boolean },
): Iterable<string> {
  if (format === 'csv') yield columns.map((column) => column.name).join(',');
  for (const row of rows()) {
    if (format === 'csv') yield row.map((value) => csvField(value, isRaw)).join(',');
    else {
      const fields = Object.fromEntries(columns.map((column, index) => [column.name, row[index]]));
      yield JSON.stringify(isNamed ? { table: name, ...fields } : fields);
    }
  }
}

/** Lines gathered before they are written, characters. */
const chunk = 1_048_576;

/** Refuses (exit 1) a file that exists, unless `replace`, or that cannot be written. What was there stays until the last row is on disk. */
export async function writeSources(
  file: string,
  sources: readonly Source[],
  { format, replace, isRaw }: { readonly format: FileFormat; readonly replace: boolean; readonly isRaw: boolean },
): Promise<Written> {
  if (!replace && existsSync(file))
    throw new Refusal(`${file} exists: choose another name with -o, or overwrite it with --replace`, 1);
  const unfinished = `${file}.new`;
  try {
    rmSync(unfinished, { force: true });
    const rows =
      format === 'parquet' ? await writeParquet(unfinished, sources) : writeText(unfinished, sources, format, isRaw);
    renameSync(unfinished, file);
    return { file, rows };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const why = causeOf(error);
    throw new Refusal(
      `${file} cannot be written (${why}): no incomplete file was left; choose another path with -o`,
      1,
    );
  } finally {
    try {
      rmSync(unfinished, { force: true });
    } catch {
      // An unreadable folder has no unfinished file.
    }
  }
}

async function writeParquet(path: string, sources: readonly Source[]): Promise<number> {
  const [source] = sources;
  if (source === undefined) return 0;
  // Made first: DuckDB's own message of a folder that does not exist names none of ours.
  closeSync(openSync(path, 'w', 0o600));
  const rows = await writeParquetRows(path, source.columns, source.rows());
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
  return rows;
}

function writeText(path: string, sources: readonly Source[], format: 'csv' | 'jsonl', isRaw: boolean): number {
  let rows = format === 'csv' ? -sources.length : 0;
  const to = openSync(path, 'w', 0o600);
  try {
    let text = '';
    for (const source of sources)
      for (const line of linesOf(source, format, { isRaw, isNamed: sources.length > 1 })) {
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
  return rows;
}
