/** Opening a state directory for writing: the lock, the checks that refuse a wrong one, the epoch, and what is in it. */
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { Account } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Loaded, load } from './load.ts';
import { type Lock, takeLock } from './lock.ts';
import { migrate, schemaVersion, versionOf } from './schema.ts';
import { openForWriting } from './worker.ts';

export const journalFile = 'journal.db';

/** What a journal belongs to for good: numbers of one account must never mix with another's, nor paper's with real ones. */
export interface Binding {
  readonly mode: string;
  readonly account: Account;
  /** The exchange, as host and port of its REST address, and the key's fingerprint; not the secret. */
  readonly venue: string;
}

export interface Identity {
  /** This journal's number in client order ids. */
  readonly instance: number;
  /** How often it was opened for writing. */
  readonly epoch: number;
  /** The key of the ids' mac; it never leaves the journal. */
  readonly idKey: Uint8Array;
  /** Each strategy's number in client order ids. */
  readonly strategies: ReadonlyMap<string, number>;
}

export interface OpenedState {
  readonly path: string;
  readonly identity: Identity;
  readonly loaded: Loaded;
  readonly lock: Lock;
  /** It was made just now. */
  readonly isNew: boolean;
}

function prepareDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    accessSync(dir, constants.W_OK | constants.R_OK);
  } catch (error) {
    throw new Refusal(
      `state directory ${dir} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)}): give another with --state DIR, or change its permissions`,
    );
  }
}

/** Opens `dir`, creating it when it is new. Refuses (exit 3) a locked, newer, damaged or foreign one and changes nothing in it. */
export function openState(dir: string, binding: Binding, strategyIds: readonly string[]): OpenedState {
  prepareDir(dir);
  const lock = takeLock(dir);
  if (lock === undefined)
    throw new Refusal(
      `state directory ${dir} is in use by a running daemon: stop it first, or give another with --state DIR`,
      3,
    );
  try {
    const path = join(dir, journalFile);
    const isNew = !existsSync(path);
    const db = openForWriting(path);
    try {
      if (!isNew) checkSound(db, path);
      backUpBeforeMigration(db, path);
      migrate(db);
      const identity = begin(db, dir, binding, strategyIds);
      return { path, identity, loaded: load(db), lock, isNew };
    } finally {
      db.close();
      chmodSync(path, 0o600);
    }
  } catch (error) {
    lock.release();
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      `journal in ${dir} cannot be opened (${error instanceof Error ? error.message : String(error)}): restore a backup or give another with --state DIR`,
      3,
    );
  }
}

/** Takes a journal away again that was made for a start which was then refused: it must not bind its directory to a wrong key. */
export function discard({ path }: Pick<OpenedState, 'path'>): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
}

function checkSound(db: Database.Database, path: string): void {
  const version = versionOf(db);
  if (version > schemaVersion) {
    throw new Refusal(
      `${path} was written by a newer Sluice (schema ${version}, this one knows ${schemaVersion}): upgrade Sluice; nothing was changed`,
      3,
    );
  }
  const verdict = db.pragma('quick_check(1)', { simple: true });
  if (verdict !== 'ok')
    throw new Refusal(`${path} is damaged (${String(verdict)}): restore a backup; nothing was changed`, 3);
}

/** Keeps a copy of a journal of an earlier schema beside it, as `journal.db.before-N`. */
export function backUpBeforeMigration(db: Database.Database, path: string): void {
  const version = versionOf(db);
  if (version === 0 || version >= schemaVersion) return;
  // One that was begun and not followed by the migration would be in the way.
  rmSync(`${path}.before-${schemaVersion}`, { force: true });
  db.exec(`VACUUM INTO '${path.replaceAll("'", "''")}.before-${schemaVersion}'`);
}

/** Counts one more opening for writing: what it writes is numbered after all that was written before. */
export function raiseEpoch(db: Database.Database): number {
  db.prepare("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'").run();
  const row = db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string } | undefined;
  return Number(row?.value ?? 0);
}

/** One commit: the binding checked or made, the epoch raised, new strategies numbered. */
function begin(db: Database.Database, dir: string, binding: Binding, strategyIds: readonly string[]): Identity {
  return db.transaction(() => {
    const meta = new Map(
      (db.prepare('SELECT key, value FROM meta').all() as { key: string; value: string }[]).map((row) => [
        row.key,
        row.value,
      ]),
    );
    const put = (key: string, value: string): void => {
      db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, value);
      meta.set(key, value);
    };
    for (const [key, value] of Object.entries(binding)) {
      const bound = meta.get(key);
      if (bound === undefined) put(key, value);
      else if (bound !== value)
        throw new Refusal(
          `state directory ${dir} belongs to ${key} "${bound}", not "${value}": give another with --state DIR; nothing was changed`,
          3,
        );
    }
    const random = randomBytes(4).readUInt32BE();
    if (!meta.has('instance')) put('instance', String(random % 32 ** 5));
    if (!meta.has('idKey')) put('idKey', randomBytes(32).toString('hex'));
    put('epoch', String(Number(meta.get('epoch') ?? '0') + 1));
    const number = db.prepare('INSERT OR IGNORE INTO strategies (id) VALUES (?)');
    for (const id of strategyIds) number.run(id);
    const strategies = db.prepare('SELECT id, number FROM strategies').all() as { id: string; number: number }[];
    return {
      instance: Number(meta.get('instance')),
      epoch: Number(meta.get('epoch')),
      idKey: Buffer.from(meta.get('idKey') ?? '', 'hex'),
      strategies: new Map(strategies.map((row) => [row.id, row.number])),
    };
  })();
}
