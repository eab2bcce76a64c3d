/**
 * Lets a connection read the archive as if its rows had never moved: each table becomes a temporary view over both. A process copies the
 * Parquet files into a temporary database, which is attached; the journal itself is not written.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from 'better-sqlite3';
import { moduleUrl } from '../domain/module-url.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Archive, archiveDir, archivesIn } from '../journal/archive.ts';
import { columnsOf } from '../journal/hash-chain.ts';
import type { Copying } from './copying.ts';

/** A reader that takes longer hangs, and is ended; real ms. */
const maxMs = 600_000;

export interface Attached {
  readonly detach: () => void;
}

/** Attaches these files, or those that the journal names. Refuses (exit 3) a file that is missing or was changed. */
export function attachArchive(db: Database, dir: string, archives = archivesIn(db)): Attached {
  if (archives.length === 0) return { detach: () => {} };
  for (const archive of archives) refuseChanged(dir, archive);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-archive-'));
  try {
    chmodSync(folder, 0o700);
    const to = join(folder, 'rows.db');
    copy({
      files: archives.map(({ file, table }) => ({
        path: join(dir, archiveDir, file),
        file,
        table,
        keys: keysOf(db, table),
      })),
      to,
    });
    db.prepare('ATTACH ? AS archived').run(to);
  } finally {
    // The connection keeps the file open. Where an open file cannot be removed, the system's own cleaning does.
    rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
  }
  const tables = new Set(archives.map(({ table }) => table));
  for (const table of tables) db.exec(viewOf(db, table));
  return {
    detach() {
      for (const table of tables) db.exec(`DROP VIEW temp.${table}`);
      db.exec('DETACH archived');
    },
  };
}

/** A row that came again after it was archived, such as a trade that the exchange showed once more, counts once. */
function viewOf(db: Database, table: string): string {
  const columns = columnsOf(db, table).join(', ');
  const isSame = keysOf(db, table).map((name) => `old.${name} = new.${name}`);
  return `CREATE TEMP VIEW ${table} AS SELECT ${columns} FROM archived.${table} UNION ALL SELECT ${columns} FROM main.${table} AS new
    WHERE NOT EXISTS (SELECT 1 FROM archived.${table} AS old WHERE ${isSame.join(' AND ')})`;
}

/** The columns of a table's key. */
const keysOf = (db: Database, table: string): readonly string[] =>
  (db.pragma(`main.table_info(${table})`) as { name: string; pk: number }[])
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name);

/** Refuses (exit 3) a file that is missing, or is not the one that the journal names. */
export function refuseChanged(dir: string, { file, sha256 }: Archive): void {
  const path = join(dir, archiveDir, file);
  if (!existsSync(path)) throw new Refusal(`${path} is missing: restore it from a backup`, 3);
  if (createHash('sha256').update(readFileSync(path)).digest('hex') !== sha256)
    throw new Refusal(`${path} is not the file that the journal names: restore it from a backup`, 3);
}

/** In a process: one that dies, also without a word, is noticed at once, although this one waits for it. */
function copy(given: Copying): void {
  const { status, signal, stdout, error } = spawnSync(
    process.execPath,
    [fileURLToPath(moduleUrl('./copier', import.meta.url))],
    { input: JSON.stringify(given), encoding: 'utf8', timeout: maxMs, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  if (status === 0) return;
  const why = stdout.trim() || (error?.message ?? `its reader ended with ${signal ?? `exit code ${status}`}`);
  throw new Refusal(`the archive cannot be read (${why}): restore it from a backup`, 3);
}
