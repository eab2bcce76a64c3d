/** Opens a state directory for writing: takes the lock, refuses a wrong journal, raises the epoch and loads the contents. */
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { machineWall } from '../clock/clock.ts';
import { clientOrderIdLength, readClientOrderId } from '../domain/ids.ts';
import type { Account } from '../domain/order.ts';
import { causeOf, isNoSpace, NoSpace, Refusal } from '../domain/refusal.ts';
import { type Examining, examine } from './examine.ts';
import { oneLine } from './examiner.ts';
import { chainOf, commitIn, readHead } from './hash-chain.ts';
import { type Loaded, load } from './load.ts';
import { type Lock, takeLock } from './lock.ts';
import { refuseNetworkDisk } from './network-disk.ts';
import {
  type Acceptance,
  checkGuard,
  forgetHead,
  type Guard,
  headFile,
  isNewest,
  keepHead,
  lockCopies,
  type RememberedOpening,
} from './newest-head.ts';
import { keepFewPages, openForWriting } from './open-for-writing.ts';
import { type Past, pastIn } from './past-orders.ts';
import { metaOf, migrate, schemaVersion, versionOf } from './schema.ts';

export const journalFile = 'journal.db';

/** What a journal belongs to for ever: figures of different accounts must not mix, nor paper and real ones. */
export interface Binding {
  readonly mode: string;
  readonly account: Account;
  /** Host and port of the exchange's REST address, and the fingerprint of the key (not the secret). */
  readonly venue: string;
}

export interface Identity {
  /** This journal's number in client order ids. */
  readonly instance: number;
  /** How often it was opened for writing. */
  readonly epoch: number;
  /** The key of the ids' MAC; it never leaves the journal. */
  readonly idKey: Uint8Array;
  /** Each strategy's number in client order ids. */
  readonly strategies: ReadonlyMap<string, number>;
}

export interface OpenedState {
  readonly path: string;
  readonly identity: Identity;
  readonly loaded: Loaded;
  readonly lock: Lock;
  /** True if it was created now. */
  readonly isNew: boolean;
  /** Where its writer keeps the newest head; undefined: not at all. */
  readonly remember: RememberedOpening | undefined;
  /** Notices about the opening. */
  readonly notices: readonly string[];
}

/** Creates a directory and its missing parents. Node's own `recursive` never returns where none can be created, as in /proc. */
export function makeDirs(dir: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let path = resolve(dir); !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Refuses symbolic links: they would choose which file is overwritten. */
export function refuseLinks(dir: string): void {
  const links = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  if (links.length === 0) return;
  const names = links.map(({ name }) => join(dir, name)).join(', ');
  throw new Refusal(
    `state directory ${dir} contains symbolic links, which redirect what is written: remove ${names}, then start again; nothing was written`,
    3,
  );
}

/** Refuses a directory with foreign files that is open to others: making it private would lock them out. */
function refuseForeign(dir: string): void {
  const isOpen = process.platform !== 'win32' && (statSync(dir).mode & 0o077) !== 0;
  const names = isOpen ? readdirSync(dir) : [];
  if (names.length === 0 || names.includes(journalFile)) return;
  throw new Refusal(
    `${dir} is not a state directory: it holds other files, such as ${names[0]}, and is open to other users. Name a new directory with --state DIR; nothing was changed`,
  );
}

/** Ensures that a state directory exists, private and writable; refuses otherwise (exit 2). */
export function prepareDir(dir: string): void {
  try {
    makeDirs(dir);
    refuseLinks(dir);
    refuseForeign(dir);
    chmodSync(dir, 0o700);
    accessSync(dir, constants.W_OK | constants.R_OK);
    // From here on nobody else can add a link.
    refuseLinks(dir);
    refuseNetworkDisk(dir);
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

/** Another process holds the directory. */
export class InUse extends Refusal {}

export const refusedAsHeld = (dir: string): Refusal =>
  new InUse(`state directory ${dir} is in use by a running daemon: stop it first, or give another with --state DIR`, 3);

/** A locked state directory whose journal threads may still examine. Nothing is written before they have finished. */
export interface Opening {
  readonly lock: Lock;
  /** Waits for the examination and blocks this thread. */
  readonly block: () => OpenedState;
  /** Waits for it without blocking. */
  readonly settle: () => Promise<OpenedState>;
}

/** Begins `openState`. Obvious faults are refused here; damage in a large journal is refused at the end. */
export function beginOpening(dir: string, binding: Binding, strategyIds: readonly string[], guard?: Guard): Opening {
  prepareDir(dir);
  const own = takeLock(dir);
  if (own === undefined) throw refusedAsHeld(dir);
  let ofCopies: Lock | undefined;
  const lock: Lock = {
    release() {
      ofCopies?.release();
      own.release();
    },
  };
  const path = join(dir, journalFile);
  const guarded = guard && {
    ...guard,
    notices: [] as string[],
    lockCopies(idKey: string): void {
      if (ofCopies !== undefined) return;
      const taken = lockCopies(guard.dir, idKey, path);
      if (typeof taken !== 'string') ofCopies = taken;
      else if (!this.notices.includes(taken)) this.notices.push(taken);
    },
  };
  const refused = (error: unknown): never => {
    lock.release();
    throw refusalOf(error, dir);
  };
  const write = (examined: Examined | undefined): OpenedState => ({
    ...openLocked(dir, binding, strategyIds, guarded, examined),
    lock,
  });
  try {
    const examining = existsSync(path) ? begin(path, dir, binding, guarded) : undefined;
    return {
      lock,
      block() {
        try {
          return write(examining?.block());
        } catch (error) {
          return refused(error);
        }
      },
      settle: () => Promise.resolve(examining?.settle()).then(write).catch(refused),
    };
  } catch (error) {
    return refused(error);
  }
}

function refusalOf(error: unknown, dir: string): Refusal {
  if (error instanceof Refusal) return error;
  if (isNoSpace(error)) return new NoSpace(`state directory ${dir} has no free space: free some; nothing was lost`, 3);
  if (!isOurs(dir))
    return new Refusal(
      `journal in ${dir} belongs to another user, or this one may not write it: give the directory and its files to the user that runs sluice (chown -R); nothing was changed`,
      3,
    );
  return new Refusal(
    `journal in ${dir} cannot be opened (${oneLine(causeOf(error))}): restore a backup or give another with --state DIR`,
    3,
  );
}

/** Whether this user may read and write what lies in a state directory. */
function isOurs(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
    for (const name of readdirSync(dir))
      if (name.startsWith(journalFile)) accessSync(join(dir, name), constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface Guarded extends Guard {
  /** Why copies would not be noticed. */
  readonly notices: readonly string[];
  /** Once per opening; the lock goes with that of the directory. */
  readonly lockCopies: (idKey: string) => void;
}

function openLocked(
  dir: string,
  binding: Binding,
  strategyIds: readonly string[],
  guard: Guarded | undefined,
  examined: Examined | undefined,
): Omit<OpenedState, 'lock'> {
  const path = join(dir, journalFile);
  const db = openForWriting(path);
  try {
    const version = versionOf(db);
    backUpBeforeMigration(db, path);
    migrate(db);
    const acceptance = examined?.acceptance ?? isNewest;
    const { identity, mark } = commitOpening(db, binding, strategyIds, guard?.host ?? null, acceptance);
    const idKey = Buffer.from(identity.idKey).toString('hex');
    guard?.lockCopies(idKey);
    const remember = guard && {
      path: headFile(guard.dir, idKey),
      epoch: identity.epoch,
      mark,
      stateDir: resolve(dir),
    };
    const head = chainOf(db)?.head;
    // Any earlier copy is old from the first commit of an opening on.
    if (remember !== undefined && head !== undefined) keepHead(remember, head);
    const notices = [
      ...(version > 0 && version < schemaVersion
        ? [`${path} was brought from schema ${version} to ${schemaVersion}; a copy is kept beside it`]
        : []),
      ...(acceptance.accepted === null ? [] : [`${path} is taken as it is: ${acceptance.accepted}`]),
      ...(guard?.notices ?? []),
    ];
    return {
      path,
      identity,
      loaded: examined?.loaded ?? load(db, pastAt(path)),
      isNew: examined === undefined,
      remember,
      notices,
    };
  } finally {
    db.close();
    chmodSync(path, 0o600);
  }
}

/** Reads by a connection of its own, since those that open a journal are closed. */
const pastAt = (path: string): Past =>
  pastIn(() => {
    const db = new Database(path, { readonly: true, timeout: 2_000 });
    keepFewPages(db);
    return db;
  });

interface Examined {
  /** Undefined if the journal must be migrated first. */
  readonly loaded: Loaded | undefined;
  readonly acceptance: Acceptance;
}

/** Begins to examine an existing journal; undefined for an empty file, which a start leaves that was killed at once. */
const begin = (
  path: string,
  dir: string,
  binding: Binding,
  guard: Guarded | undefined,
): Examining<Examined> | undefined =>
  examine(path, (db) => {
    checkBinding(db, dir, binding);
    const idKey = metaOf(db).get('idKey');
    if (idKey !== undefined) guard?.lockCopies(idKey);
    const version = versionOf(db);
    const { accepted, minEpoch } = guard === undefined ? isNewest : checkGuard(db, path, guard);
    return {
      loaded: version === schemaVersion ? load(db, pastAt(path)) : undefined,
      acceptance: { accepted, minEpoch: Math.max(minEpoch, newestEpochShown(db, idKey) + 1) },
    };
  });

/** Removes the new journal of a start that was then refused: it must not bind its directory to a wrong key. */
export function discard({ path, remember }: Pick<OpenedState, 'path' | 'remember'>): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
  if (remember !== undefined) forgetHead(remember);
}

/** Keeps a copy of a journal of an earlier schema beside it, as `journal.db.before-N`. */
export function backUpBeforeMigration(db: Database.Database, path: string, target = schemaVersion): void {
  const version = versionOf(db);
  if (version === 0 || version >= target) return;
  // An interrupted start may have left one.
  rmSync(`${path}.before-${target}`, { force: true });
  db.exec(`VACUUM INTO '${path.replaceAll("'", "''")}.before-${target}'`);
}

/** Raises the epoch of a new opening for writing: its rows are numbered after all earlier ones. */
export function raiseEpoch(db: Database.Database): number {
  commitIn(db, () => db.prepare("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'").run());
  return Number(metaOf(db).get('epoch') ?? 0);
}

/** Refuses a journal of another account, exchange or mode. */
function checkBinding(db: Database.Database, dir: string, binding: Binding): void {
  const meta = metaOf(db);
  for (const [key, value] of Object.entries(binding)) {
    const bound = meta.get(key);
    if (bound !== undefined && bound !== value)
      throw new Refusal(
        `state directory ${dir} belongs to ${key} "${bound}", not "${value}": give another with --state DIR, which knows no position of this one; nothing was changed`,
        3,
      );
  }
}

/** The newest epoch in ids that the exchange has shown: a copy of this journal may have used epochs that this one has not reached. */
function newestEpochShown(db: Database.Database, idKey = ''): number {
  const key = Buffer.from(idKey, 'hex');
  // The first ten characters are the journal's number and the epoch.
  const shown = db
    .prepare(
      `SELECT client_order_id FROM venue_orders WHERE length(client_order_id) = ${clientOrderIdLength} GROUP BY lower(substr(client_order_id, 1, 10))`,
    )
    .pluck()
    .all() as string[];
  return Math.max(0, ...shown.map((id) => readClientOrderId(id, key)?.epoch ?? 0));
}

/** In one commit: binds the journal, raises the epoch, records the opening and numbers new strategies. */
function commitOpening(
  db: Database.Database,
  binding: Binding,
  strategyIds: readonly string[],
  host: string | null,
  { accepted, minEpoch }: Acceptance,
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
    const epoch = Math.max(Number(meta.get('epoch') ?? '0') + 1, minEpoch);
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
    const strategies = db.prepare('SELECT id, number FROM strategies').raw().all() as [string, number][];
    return {
      instance: Number(meta.get('instance')),
      epoch,
      idKey: Buffer.from(meta.get('idKey') ?? '', 'hex'),
      strategies: new Map(strategies),
    };
  });
  return { identity, mark };
}
