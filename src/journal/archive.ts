/** What a journal says of its archive: the files with old rows, and a signed checkpoint of each. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** In the state directory. */
export const archiveDir = 'archive';

/** A file of the archive, as its journal row says it. */
export interface Archive {
  /** Its name in the archive's folder. */
  readonly file: string;
  readonly table: string;
  readonly rows: number;
  /** Of the file. */
  readonly sha256: string;
  /** The sum of the rows' hashes, as the chain counts them. */
  readonly total: string;
  /** UTC ms: its rows are older. */
  readonly until: number;
  /** The head of the chain from which the rows were taken. */
  readonly links: number;
  readonly link: string;
  /** HMAC-SHA-256 of all of this under the key of the checkpoints. */
  readonly signature: string;
}

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
