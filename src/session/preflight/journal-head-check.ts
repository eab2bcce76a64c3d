/** Compares a live journal with the newest head that this machine remembers, before anything is written into it. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { userState } from '../../budget/shared-file.ts';
import { readHead } from '../../journal/hash-chain.ts';
import type { Lock } from '../../journal/lock.ts';
import {
  checkGuard,
  headFile,
  keepHead,
  lockCopies,
  type RememberedOpening,
  thisHost,
} from '../../journal/newest-head.ts';
import { metaOf } from '../../journal/schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const placeOf = (environment: Environment): string => join(userState(environment), 'journals');

/** True if the journal has traded live: only live runs record a host. */
const isGuarded = (db: Database): boolean =>
  db.prepare('SELECT 1 FROM openings WHERE host IS NOT NULL').get() !== undefined;

/** Refuses (exit 3), as a start does, a journal that is not the newest of its kind, or was last written on another host. */
export function refuseOld(db: Database, path: string, environment: Environment): void {
  if (isGuarded(db)) checkGuard(db, path, { dir: placeOf(environment), host: thisHost(), accept: undefined });
}

/** For a command that writes: refuses like `refuseOld`, and while a daemon trades with another copy. `locks` are to be released. */
export function lockNewest(db: Database, path: string, environment: Environment, locks: Lock[]): void {
  const idKey = isGuarded(db) ? metaOf(db).get('idKey') : undefined;
  const lock = idKey === undefined ? '' : lockCopies(placeOf(environment), idKey, path);
  if (typeof lock !== 'string') locks.push(lock);
  refuseOld(db, path, environment);
}

/**
 * Saves the new head after a command without a daemon, so that older copies are detected. Only if a head was saved before: a demo keeps its own in
 * its directory.
 */
export function rememberHead(db: Database, environment: Environment): void {
  if (!isGuarded(db)) return;
  const head = readHead(db);
  const path = headFile(placeOf(environment), metaOf(db).get('idKey') ?? '');
  if (head === undefined || !existsSync(path)) return;
  const last = db.prepare('SELECT epoch, mark FROM openings ORDER BY epoch DESC LIMIT 1');
  const opening = last.get() as Pick<RememberedOpening, 'epoch' | 'mark'>;
  keepHead({ path, ...opening, stateDir: resolve(dirname(db.name)) }, head);
}
