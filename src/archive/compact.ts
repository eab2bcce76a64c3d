/**
 * Moves old rows of a journal to Parquet files and signs a checkpoint of each. A crash at any step loses nothing and doubles nothing: the files
 * are complete, compared and on disk before the journal names them, and only then their rows leave it, in small commits. Readers count a row once
 * that is in both places. The next compaction removes what is left, and files that the journal does not name.
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
import Database from 'better-sqlite3';
import { type RowValue, writeParquetRows } from '../data/catalogue/parquet-rows.ts';
import { type Archive, type ArchivedTable, archivedTables, type RowKey } from '../domain/archive.ts';
import { Refusal } from '../domain/refusal.ts';
import { archiveDir, archivesIn, keysOf, signatureOf } from '../journal/archive.ts';
import { columnsOf, readHead, sumRowsOf, totalText } from '../journal/hash-chain.ts';
import { journalFile } from '../journal/open.ts';
import { attachArchive } from './attach.ts';
import { fileColumn } from './copying.ts';
import { oldRows } from './old-rows.ts';

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

/** The journal's one writer: this program, or the daemon that runs. */
export interface RowMover {
  /** Rows that it removes in one commit: orders may wait for that. */
  readonly rowsAtOnce: number;
  /** Names a complete file in the journal; on disk once it resolves. */
  readonly name: (archive: Archive) => Promise<void> | void;
  /** Removes rows that a named file has. */
  readonly remove: (table: ArchivedTable, keys: readonly RowKey[]) => Promise<void> | void;
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

/** Compacts a journal of the newest schema. The caller has examined it, and keeps others from compacting it. */
export async function compactJournal(dir: string, mover: RowMover, options: CompactOptions): Promise<Compacted> {
  const { step = () => {} } = options;
  const path = join(dir, journalFile);
  step('clean');
  await inReader(path, async (db) => {
    const known = archivesIn(db);
    removeLeftFiles(join(dir, archiveDir), known);
    // An interrupted compaction has named its files, and left some of their rows.
    attachArchive(db, dir, known);
    await removeNamed(db, known, mover, step);
  });
  const archives = await inReader(path, (db) => writeArchives(db, dir, options));
  if (archives.length > 0) {
    step('compare');
    syncPath(join(dir, archiveDir));
    syncPath(dir);
    await inReader(path, (db) => moveRows(db, dir, archives, mover, step));
  }
  step('end');
  return { archives, rows: archives.reduce((sum, { rows }) => sum + rows, 0) };
}

async function inReader<T>(path: string, work: (db: Database.Database) => Promise<T> | T): Promise<T> {
  const db = new Database(path, { readonly: true, timeout: 2_000 });
  try {
    return await work(db);
  } finally {
    db.close();
  }
}

/** Writes and signs the files of one moment of the journal, whatever a daemon writes meanwhile. */
async function writeArchives(
  db: Database.Database,
  dir: string,
  { until, environment, step = () => {} }: CompactOptions,
): Promise<readonly Archive[]> {
  db.exec('BEGIN');
  const head = readHead(db);
  if (head === undefined) throw new Refusal('this journal has no chain: start a daemon on it first', 3);
  const tables = archivedTables.filter((table) => countOf(db, table, until) > 0);
  if (tables.length === 0) return [];
  const folder = join(dir, archiveDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const key = keyFor(dir, environment);
  const number = 1 + archivesIn(db).reduce((max, { file }) => Math.max(max, Number.parseInt(file, 10)), 0);
  const archives: Archive[] = [];
  for (const table of tables) {
    step(`write ${table}`);
    const file = `${String(number).padStart(6, '0')}-${table}.parquet`;
    const written = await writeArchive(db, join(folder, file), table, until);
    const about = { file, table, ...written, until, links: head.links, link: head.link };
    archives.push({ ...about, signature: signatureOf(about, key) });
  }
  return archives;
}

/** Reads the files back, as every later reader does, and compares their rows with those of the journal. Then the rows leave it. */
async function moveRows(
  db: Database.Database,
  dir: string,
  archives: readonly Archive[],
  mover: RowMover,
  step: (name: string) => void,
): Promise<void> {
  attachArchive(db, dir, archives);
  for (const { file, table, total } of archives)
    if (totalText(sumRowsOf(db, table, `archived.${table} WHERE ${fileColumn} = ?`, file)) !== total)
      throw new Refusal(
        `${join(dir, archiveDir, file)} does not come back as it was written: check the disk; nothing was deleted`,
        1,
      );
  step('commit');
  for (const archive of archives) await mover.name(archive);
  await removeNamed(db, archives, mover, step);
}

/** Removes rows that these attached files have, and that are still in the journal. Readers count such a row once. */
async function removeNamed(
  db: Database.Database,
  archives: readonly Archive[],
  mover: RowMover,
  step: (name: string) => void,
): Promise<void> {
  for (const table of new Set(archives.map(({ table: one }) => one))) {
    step(`delete ${table}`);
    const keys = keysOf(db, table);
    const isSame = keys.map((name) => `old.${name} = new.${name}`).join(' AND ');
    const left = db
      .prepare(
        `SELECT old.rowid, ${keys.map((name) => `old.${name}`).join(', ')} FROM archived.${table} AS old
         WHERE old.rowid > ? AND EXISTS (SELECT 1 FROM main.${table} AS new WHERE ${isSame}) ORDER BY old.rowid LIMIT ?`,
      )
      .raw();
    for (let last = 0; ; ) {
      const rows = left.all(last, mover.rowsAtOnce) as (readonly [number, ...RowKey])[];
      if (rows.length === 0) break;
      await mover.remove(
        table,
        rows.map(([, ...key]) => key),
      );
      step(`deleted of ${table}`);
      last = rows.at(-1)?.[0] ?? last;
    }
  }
}

/** Files of a compaction that did not commit. */
function removeLeftFiles(folder: string, archives: readonly Archive[]): void {
  if (!existsSync(folder)) return;
  const known = new Set(archives.map(({ file }) => file));
  for (const name of readdirSync(folder))
    if (/^\d{6}-\w+\.parquet(\.new)?$/.test(name) && !known.has(name)) rmSync(join(folder, name));
}

const countOf = (db: Database.Database, table: ArchivedTable, until: number): number =>
  Number(db.prepare(`SELECT count(*) FROM main.${table} WHERE ${oldRows[table]}`).pluck().get(until));

async function writeArchive(
  db: Database.Database,
  path: string,
  table: ArchivedTable,
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
