/** What a journal says of its archive: the files with old rows, and a signed checkpoint of each. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Archive, ArchivedTable, RowKey } from '../domain/archive.ts';

/** In the state directory. */
export const archiveDir = 'archive';

/** The archive of a journal, oldest first; none in one of an earlier schema. */
export function archivesIn(db: Database): readonly Archive[] {
  const isThere = db.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = 'archives'").get();
  if (isThere === undefined) return [];
  return db
    .prepare(
      'SELECT file, of_table AS "table", rows, sha256, total, until, links, link, signature FROM main.archives ORDER BY file',
    )
    .all() as Archive[];
}

export function putArchive(db: Database, archive: Archive): void {
  const { file, table, rows, sha256, total, until, links, link, signature } = archive;
  db.prepare(
    'INSERT INTO archives (file, of_table, rows, sha256, total, until, links, link, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ).run(file, table, rows, sha256, total, until, links, link, signature);
}

/** The signature of a checkpoint. */
export function signatureOf(archive: Omit<Archive, 'signature'>, key: string): string {
  const { file, table, rows, sha256, total, until, links, link } = archive;
  const text = JSON.stringify([file, table, rows, sha256, total, until, links, link]);
  return createHmac('sha256', key).update(text).digest('hex');
}

export function isSigned(archive: Archive, key: string): boolean {
  const [given, made] = [Buffer.from(archive.signature, 'hex'), Buffer.from(signatureOf(archive, key), 'hex')];
  return given.length === made.length && timingSafeEqual(given, made);
}

/** The columns of a table's key. */
export const keysOf = (db: Database, table: string): readonly string[] =>
  (db.pragma(`main.table_info(${table})`) as { name: string; pk: number }[])
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name);

/** Removes rows that the archive has. */
export function removeArchived(db: Database, table: ArchivedTable, keys: readonly RowKey[]): void {
  const isThis = keysOf(db, table).map((name) => `${name} = ?`);
  const remove = db.prepare(`DELETE FROM main.${table} WHERE ${isThis.join(' AND ')}`);
  for (const key of keys) remove.run(...key);
}
