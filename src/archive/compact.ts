/**
 * Moves old rows of a journal to Parquet files and signs a checkpoint of each. A crash at any step loses nothing: the files are complete,
 * compared and on disk before the one transaction that deletes the rows and names the files. Files that no row names are of an
 * interrupted compaction, and are removed.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { type RowValue, writeParquetRows } from '../data/catalogue/parquet-rows.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Archive, archiveDir, archivesIn, putArchive, signatureOf } from '../journal/archive.ts';
import { chainOf, columnsOf, readHead, sumRowsOf, totalText } from '../journal/hash-chain.ts';
import { attachArchive } from './attach.ts';
import { fileColumn } from './copying.ts';
import { type OldTable, oldRows } from './old-rows.ts';

/** The key of the checkpoints in the state directory. */
export const keyFile = 'checkpoint.key';
const keyName = 'SLUICE_CHECKPOINT_KEY';
const minKey = 32;

type Environment = Readonly<Record<string, string | undefined>>;

/** The key: from the environment, or a file that only its owner can read; undefined if there is none. */
export function checkpointKey(dir: string, environment: Environment): string | undefined {
  const given = environment[keyName];
  if (given !== undefined && given !== '') {
    if (given.length < minKey)
      throw new Refusal(`${keyName} has fewer than ${minKey} characters: make one with openssl rand -hex 32`);
    return given;
  }
  const path = join(dir, keyFile);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

function keyFor(dir: string, environment: Environment): string {
  const key = checkpointKey(dir, environment);
  if (key !== undefined) return key;
  const made = randomBytes(32).toString('hex');
  writeFileSync(join(dir, keyFile), `${made}\n`, { mode: 0o600, flush: true });
  return made;
}

/** Puts a file, or the entries of a folder, on the disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

export interface Compacted {
  readonly archives: readonly Archive[];
  readonly rows: number;
}

export interface CompactOptions {
  /** Rows before this moment, UTC ms of the exchange's clock. */
  readonly until: number;
  readonly environment: Environment;
  /** Called before each step, with its name. */
  readonly step?: (name: string) => void;
}

/** Compacts an open journal of the newest schema. The caller holds its lock and has examined it. */
export async function compactJournal(db: Database, dir: string, options: CompactOptions): Promise<Compacted> {
  const { until, environment, step = () => {} } = options;
  const [folder, head] = [join(dir, archiveDir), readHead(db)];
  if (head === undefined) throw new Refusal('this journal has no chain: start a daemon on it first', 3);
  step('clean');
  removeLeftFiles(folder, archivesIn(db));
  const tables = (Object.keys(oldRows) as OldTable[]).filter((table) => countOf(db, table, until) > 0);
  const archives: Archive[] = [];
  if (tables.length > 0) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const key = keyFor(dir, environment);
    const number = 1 + archivesIn(db).reduce((max, { file }) => Math.max(max, Number.parseInt(file, 10)), 0);
    for (const table of tables) {
      step(`write ${table}`);
      const file = `${String(number).padStart(6, '0')}-${table}.parquet`;
      const written = await writeArchive(db, join(folder, file), table, until);
      const about = { file, table, ...written, until, links: head.links, link: head.link };
      archives.push({ ...about, signature: signatureOf(about, key) });
    }
    step('compare');
    syncPath(folder);
    syncPath(dir);
    compare(db, dir, archives);
    step('commit');
    commit(db, archives, until, step);
    step('shrink');
  }
  // Also after a compaction that was interrupted here.
  if (Number(db.pragma('freelist_count', { simple: true })) > 0) db.exec('VACUUM');
  db.pragma('wal_checkpoint(TRUNCATE)');
  step('end');
  return { archives, rows: archives.reduce((sum, { rows }) => sum + rows, 0) };
}

/** Files of a compaction that did not commit. */
function removeLeftFiles(folder: string, archives: readonly Archive[]): void {
  if (!existsSync(folder)) return;
  const known = new Set(archives.map(({ file }) => file));
  for (const name of readdirSync(folder))
    if (/^\d{6}-\w+\.parquet(\.new)?$/.test(name) && !known.has(name)) rmSync(join(folder, name));
}

const countOf = (db: Database, table: OldTable, until: number): number =>
  Number(db.prepare(`SELECT count(*) FROM main.${table} WHERE ${oldRows[table]}`).pluck().get(until));

async function writeArchive(
  db: Database,
  path: string,
  table: OldTable,
  until: number,
): Promise<Pick<Archive, 'rows' | 'sha256' | 'total'>> {
  const columns = columnsOf(db, table);
  const types = new Map(
    (db.pragma(`main.table_info(${table})`) as { name: string; type: string }[]).map(({ name, type }) => [name, type]),
  );
  const select = db.prepare(`SELECT ${columns.join(', ')} FROM main.${table} WHERE ${oldRows[table]}`).raw();
  const unfinished = `${path}.new`;
  const rows = await writeParquetRows(
    unfinished,
    columns.map((name) => ({ name, type: types.get(name) === 'INTEGER' ? 'integer' : 'text' })),
    select.iterate(until) as IterableIterator<RowValue[]>,
  );
  chmodSync(unfinished, 0o600);
  syncPath(unfinished);
  renameSync(unfinished, path);
  const total = totalText(sumRowsOf(db, table, `main.${table} WHERE ${oldRows[table]}`, until));
  return { rows, sha256: createHash('sha256').update(readFileSync(path)).digest('hex'), total };
}

/** Reads the files back, as every later reader does, and compares their rows with what will be deleted. */
function compare(db: Database, dir: string, archives: readonly Archive[]): void {
  const attached = attachArchive(db, dir, archives);
  try {
    for (const { file, table, total } of archives)
      if (totalText(sumRowsOf(db, table, `archived.${table} WHERE ${fileColumn} = ?`, file)) !== total)
        throw new Refusal(
          `${join(dir, archiveDir, file)} does not come back as it was written: check the disk; nothing was deleted`,
          1,
        );
  } finally {
    attached.detach();
  }
}

function commit(db: Database, archives: readonly Archive[], until: number, step: (name: string) => void): void {
  const chain = chainOf(db);
  if (chain === undefined) throw new Refusal('this journal has no chain: start a daemon on it first', 3);
  chain.commit(() => {
    for (const archive of archives) {
      const table = archive.table as OldTable;
      step(`delete ${table}`);
      const { changes } = db.prepare(`DELETE FROM ${table} WHERE ${oldRows[table]}`).run(until);
      if (changes !== archive.rows)
        throw new Error(`${archive.file} has ${archive.rows} rows of ${table}, and ${changes} would be deleted`);
      putArchive(db, archive);
    }
  });
}
