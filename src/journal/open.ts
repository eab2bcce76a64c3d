/** Opening a state directory for writing: the lock, the checks that refuse a wrong one, the epoch, and what is in it. */
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { machineWall } from '../clock/clock.ts';
import type { Account } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Examining, examine } from './examine.ts';
import { oneLine } from './examiner.ts';
import { chainOf, commitIn, readHead } from './hash-chain.ts';
import { type Loaded, load } from './load.ts';
import { type Lock, takeLock } from './lock.ts';
import { refuseNetworkPlace } from './network-disk.ts';
import {
  checkGuard,
  type Guard,
  headFile,
  memoryOf,
  nothingAgainst,
  type Remember,
  type Taken,
} from './outside-copy.ts';
import { type Past, pastIn } from './past-orders.ts';
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
  /** Where its writer keeps the newest head; undefined: nowhere. */
  readonly remember: Remember | undefined;
  /** What the operator should be told of the opening. */
  readonly said: readonly string[];
}

/** Makes a directory and those above it that are missing. Node's own way never returns where, as in /proc, none can be made. */
export function makeDirs(dir: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(dir); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at, { mode });
    } catch (error) {
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Refuses links: whoever put one there chose which file of ours is overwritten. */
export function refuseLinks(dir: string): void {
  const links = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  if (links.length === 0) return;
  const names = links.map(({ name }) => join(dir, name)).join(', ');
  throw new Refusal(
    `state directory ${dir} holds symbolic links, and what is written would go where they lead: remove ${names}, then start again; nothing was written`,
    3,
  );
}

/** Refuses a directory with other files that others may use: making it private would take it from them. */
function refuseForeign(dir: string): void {
  const isOpen = process.platform !== 'win32' && (statSync(dir).mode & 0o077) !== 0;
  const names = isOpen ? readdirSync(dir) : [];
  if (names.length === 0 || names.includes(journalFile)) return;
  throw new Refusal(
    `${dir} is not a state directory: it holds other files, such as ${names[0]}, and is open to other users. Name a new directory with --state DIR; nothing was changed`,
  );
}

/** Makes sure that a state directory is there, ours alone and writable; refuses one that cannot be (exit 2). */
export function prepareDir(dir: string): void {
  try {
    makeDirs(dir);
    refuseLinks(dir);
    refuseForeign(dir);
    chmodSync(dir, 0o700);
    accessSync(dir, constants.W_OK | constants.R_OK);
    // Nobody else can add one from here on.
    refuseLinks(dir);
    refuseNetworkPlace(dir);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      `state directory ${dir} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)}): give another with --state DIR, or change its permissions`,
    );
  }
}

/** Opens `dir`, creating it when it is new. Refuses (exit 3) a locked, newer, damaged, foreign or older one and changes nothing in it. */
export const openState = (dir: string, binding: Binding, strategyIds: readonly string[], guard?: Guard): OpenedState =>
  beginOpening(dir, binding, strategyIds, guard).block();

/** A state directory that is locked and read, while threads may still examine what is in it: nothing is written before they are done. */
export interface Opening {
  readonly lock: Lock;
  /** Waits for the examination with this thread standing still. */
  readonly block: () => OpenedState;
  /** Waits for it while this thread goes on. */
  readonly settle: () => Promise<OpenedState>;
}

/** Begins what `openState` does: what tells of itself at once is refused here, what a large journal hides at its end. */
export function beginOpening(dir: string, binding: Binding, strategyIds: readonly string[], guard?: Guard): Opening {
  prepareDir(dir);
  const lock = takeLock(dir);
  if (lock === undefined)
    throw new Refusal(
      `state directory ${dir} is in use by a running daemon: stop it first, or give another with --state DIR`,
      3,
    );
  const refused = (error: unknown): never => {
    lock.release();
    throw refusalOf(error, dir);
  };
  const write = (looked: Looked | undefined): OpenedState => ({
    ...openLocked(dir, binding, strategyIds, guard, looked),
    lock,
  });
  try {
    const path = join(dir, journalFile);
    const looking = existsSync(path) ? look(path, dir, binding, guard) : undefined;
    return {
      lock,
      block() {
        try {
          return write(looking?.block());
        } catch (error) {
          return refused(error);
        }
      },
      settle: () => Promise.resolve(looking?.settle()).then(write).catch(refused),
    };
  } catch (error) {
    return refused(error);
  }
}

function refusalOf(error: unknown, dir: string): Refusal {
  if (error instanceof Refusal) return error;
  if (isFull(error))
    return new Refusal(`state directory ${dir} has no space left: make room, then start again; nothing was lost`, 3);
  return new Refusal(
    `journal in ${dir} cannot be opened (${oneLine(error instanceof Error ? error.message : String(error))}): restore a backup or give another with --state DIR`,
    3,
  );
}

function openLocked(
  dir: string,
  binding: Binding,
  strategyIds: readonly string[],
  guard: Guard | undefined,
  looked: Looked | undefined,
): Omit<OpenedState, 'lock'> {
  const path = join(dir, journalFile);
  const db = openForWriting(path);
  try {
    const version = versionOf(db);
    backUpBeforeMigration(db, path);
    migrate(db);
    const taken = looked?.taken ?? nothingAgainst;
    const { identity, mark } = begin(db, binding, strategyIds, guard?.host ?? null, taken);
    const remember =
      guard === undefined
        ? undefined
        : { path: headFile(guard.dir, Buffer.from(identity.idKey).toString('hex')), epoch: identity.epoch, mark };
    rememberNow(db, remember);
    const said = [
      ...(version > 0 && version < schemaVersion
        ? [`${path} was brought from schema ${version} to ${schemaVersion}; a copy is kept beside it`]
        : []),
      ...(taken.accepted === null ? [] : [`${path} is taken as it is: ${taken.accepted}`]),
    ];
    return {
      path,
      identity,
      loaded: looked?.loaded ?? load(db, pastAt(path)),
      isNew: looked === undefined,
      remember,
      said,
    };
  } finally {
    db.close();
    chmodSync(path, 0o600);
  }
}

/** By a connection of its own, since none of those that open a journal stays. */
const pastAt = (path: string): Past => pastIn(() => new Database(path, { readonly: true, timeout: 2_000 }));

interface Looked {
  /** Undefined where a migration comes before anything can be loaded. */
  readonly loaded: Loaded | undefined;
  readonly taken: Taken;
}

/** Begins to examine a journal that is there; undefined for an empty file, such as a start leaves that was killed at once. */
const look = (path: string, dir: string, binding: Binding, guard: Guard | undefined): Examining<Looked> | undefined =>
  examine(path, (db) => {
    checkBinding(db, dir, binding);
    const version = versionOf(db);
    return {
      loaded: version === schemaVersion ? load(db, pastAt(path)) : undefined,
      taken: guard === undefined ? nothingAgainst : checkGuard(db, path, guard),
    };
  });

/** The head is remembered from the first commit of an opening on: a copy from before it is an old one. */
function rememberNow(db: Database.Database, remember: Remember | undefined): void {
  const head = chainOf(db)?.head;
  if (remember === undefined || head === undefined) return;
  const memory = memoryOf(remember);
  memory.keep(head);
  memory.close();
}

const isFull = (error: unknown): boolean => error instanceof Database.SqliteError && error.code === 'SQLITE_FULL';

/** Takes a journal away again that was made for a start which was then refused: it must not bind its directory to a wrong key. */
export function discard({ path, remember }: Pick<OpenedState, 'path' | 'remember'>): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
  if (remember !== undefined) rmSync(remember.path, { force: true });
}

/** Keeps a copy of a journal of an earlier schema beside it, as `journal.db.before-N`. */
export function backUpBeforeMigration(db: Database.Database, path: string, target = schemaVersion): void {
  const version = versionOf(db);
  if (version === 0 || version >= target) return;
  // One that was begun and not followed by the migration would be in the way.
  rmSync(`${path}.before-${target}`, { force: true });
  db.exec(`VACUUM INTO '${path.replaceAll("'", "''")}.before-${target}'`);
}

/** Counts one more opening for writing: what it writes is numbered after all that was written before. */
export function raiseEpoch(db: Database.Database): number {
  commitIn(db, () => db.prepare("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'").run());
  return Number(metaOf(db).get('epoch') ?? 0);
}

const metaOf = (db: Database.Database): ReadonlyMap<string, string> =>
  new Map(
    (db.prepare('SELECT key, value FROM meta').all() as { key: string; value: string }[]).map(({ key, value }) => [
      key,
      value,
    ]),
  );

/** Refuses a journal of another account, exchange or mode. */
function checkBinding(db: Database.Database, dir: string, binding: Binding): void {
  const meta = metaOf(db);
  for (const [key, value] of Object.entries(binding)) {
    const bound = meta.get(key);
    if (bound !== undefined && bound !== value)
      throw new Refusal(
        `state directory ${dir} belongs to ${key} "${bound}", not "${value}": give another with --state DIR; nothing was changed`,
        3,
      );
  }
}

/** One commit: the binding made, the epoch raised, the opening written down, new strategies numbered. */
function begin(
  db: Database.Database,
  binding: Binding,
  strategyIds: readonly string[],
  host: string | null,
  { accepted, leastEpoch }: Taken,
): { readonly identity: Identity; readonly mark: string } {
  const mark = randomBytes(8).toString('hex');
  const before = readHead(db);
  const identity = commitIn(db, () => {
    const meta = new Map(metaOf(db));
    const put = (key: string, value: string): void => {
      db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, value);
      meta.set(key, value);
    };
    for (const [key, value] of Object.entries(binding)) if (!meta.has(key)) put(key, value);
    const random = randomBytes(4).readUInt32BE();
    if (!meta.has('instance')) put('instance', String(random % 32 ** 5));
    if (!meta.has('idKey')) put('idKey', randomBytes(32).toString('hex'));
    const epoch = Math.max(Number(meta.get('epoch') ?? '0') + 1, leastEpoch);
    put('epoch', String(epoch));
    db.prepare('INSERT INTO openings VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      epoch,
      machineWall(),
      mark,
      host,
      before?.links ?? 0,
      before?.link ?? '',
      accepted,
    );
    const number = db.prepare('INSERT OR IGNORE INTO strategies (id) VALUES (?)');
    for (const id of strategyIds) number.run(id);
    const strategies = db.prepare('SELECT id, number FROM strategies').all() as { id: string; number: number }[];
    return {
      instance: Number(meta.get('instance')),
      epoch,
      idKey: Buffer.from(meta.get('idKey') ?? '', 'hex'),
      strategies: new Map(strategies.map((row) => [row.id, row.number])),
    };
  });
  return { identity, mark };
}
