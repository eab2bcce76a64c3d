/**
 * Keeps the newest head of each journal outside of it. A journal that was restored from a backup or copied from another host is valid in
 * itself; only this copy shows that it is not the newest.
 */

import { createHash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { causeOf, Refusal } from '../domain/refusal.ts';
import { counted } from '../domain/words.ts';
import { type Head, readHead } from './hash-chain.ts';
import { type Lock, takeLock } from './lock.ts';
import { metaOf } from './schema.ts';

export interface Guard {
  /** The directory of the newest heads, outside every state directory. */
  readonly dir: string;
  /** This machine. */
  readonly host: string;
  /** The operator's reason to accept a journal that is old or from another host; undefined: it is refused. */
  readonly accept: string | undefined;
}

/** A digest of this machine's id, or of its host name if it has none. */
export function thisHost(): string {
  let name = '';
  try {
    name = readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    // Not every system has a machine id.
  }
  return createHash('sha256')
    .update(name || hostname())
    .digest('hex')
    .slice(0, 16);
}

interface HeadCopy {
  readonly epoch: number;
  /** A random name of the opening. */
  readonly mark: string;
  readonly links: number;
  readonly link: string;
  /** The state directory. */
  readonly stateDir: string;
}

const nameOf = (idKey: string): string => `${createHash('sha256').update(idKey).digest('hex').slice(0, 16)}.json`;
/** The lock of a journal's copies lies beside its head. */
const lockEnding = '.lock';

/** The file with a journal's newest head. */
export const headFile = (dir: string, idKey: string): string => join(dir, nameOf(idKey));

/**
 * Takes the lock of a journal and all its copies on this machine; refuses (exit 3) if a daemon trades with another copy. Both would give
 * their orders the same ids. Where the lock cannot be used, returns why: as for the head, trading goes on.
 */
export function lockCopies(dir: string, idKey: string, path: string): Lock | string {
  const name = `${nameOf(idKey)}${lockEnding}`;
  let lock: Lock | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    lock = takeLock(dir, name);
  } catch (error) {
    return `another copy of this journal would not be noticed: ${join(dir, name)} cannot be used (${causeOf(error)}). Give it to the user of the daemon, or delete it`;
  }
  if (lock !== undefined) return lock;
  const { stateDir = '' } = readCopy(headFile(dir, idKey)) ?? {};
  if (stateDir === '' || join(stateDir, basename(path)) === resolve(path))
    throw new Refusal(
      `${path}, or a copy, is in use by another process, such as sluice journal compact: try again when that has ended; nothing was changed`,
      3,
    );
  throw new Refusal(
    `${path} is a copy of the journal with which a daemon of this machine runs (state directory ${stateDir}): both would trade the same positions, with the same order ids. Use that daemon, or stop it first; nothing was changed`,
    3,
  );
}

function readCopy(path: string): HeadCopy | undefined {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split('\n');
    const { epoch, mark, links, link, stateDir = '' } = JSON.parse(line) as Partial<HeadCopy>;
    const isWhole = typeof epoch === 'number' && typeof links === 'number' && mark !== undefined && link !== undefined;
    return isWhole ? { epoch, mark, links, link, stateDir } : undefined;
  } catch {
    // A new machine has none, and a power cut leaves half of one. Neither proves that the journal is old.
    return undefined;
  }
}

/** The file for the heads of an opening. */
export interface RememberedOpening extends Pick<HeadCopy, 'epoch' | 'mark' | 'stateDir'> {
  readonly path: string;
}

/** Keeps the head of an opening up to date. If it cannot be written, trading goes on: it guards against old copies, not against loss. */
export function headWriter({ path, ...opening }: RememberedOpening) {
  const file = open(path);
  return {
    /**
     * Written after each commit without waiting for the disk: after a power cut the copy is merely older. One write in place; the first
     * line counts, whatever a longer one left behind it.
     */
    keep({ links, link }: Head): void {
      const text = JSON.stringify({ ...opening, links, link } satisfies HeadCopy);
      try {
        if (file !== undefined) writeSync(file, `${text}\n`, 0);
      } catch {
        // As if it could not be opened.
      }
    },
    close(): void {
      if (file !== undefined) closeSync(file);
    },
  };
}

/** Keeps one head, of a commit that no writer makes. */
export function keepHead(opening: RememberedOpening, head: Head): void {
  const heads = headWriter(opening);
  heads.keep(head);
  heads.close();
}

/** Forgets a journal that was removed. */
export function forgetHead({ path }: Pick<RememberedOpening, 'path'>): void {
  for (const file of [path, `${path}${lockEnding}`]) rmSync(file, { force: true });
}

function open(path: string): number | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Not truncated: the last head is valid until the first commit of this opening.
    return openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  } catch {
    return undefined;
  }
}

/** Epochs skipped after an old journal was accepted: ids of the lost epochs are taken. */
const skippedEpochs = 1_000;

export interface Acceptance {
  /** Why an old or foreign journal was accepted, for its row in `openings`; null for the newest one. */
  readonly accepted: string | null;
  /** The least epoch of the next opening. */
  readonly minEpoch: number;
}

export const isNewest: Acceptance = { accepted: null, minEpoch: 0 };

/** Refuses (exit 3) a journal that is not the newest or is from another host, unless the operator accepts it. */
export function checkGuard(db: Database, path: string, guard: Guard): Acceptance {
  const last = db.prepare('SELECT epoch, host FROM openings ORDER BY epoch DESC LIMIT 1').get() as
    | { readonly epoch: number; readonly host: string | null }
    | undefined;
  const idKey = metaOf(db).get('idKey');
  const known = idKey === undefined ? undefined : readCopy(headFile(guard.dir, idKey));
  const against =
    last !== undefined && last.host !== null && last.host !== guard.host
      ? 'was last written on another host, where a daemon may still trade with it'
      : known === undefined || holds(db, known)
        ? undefined
        : `is older than the one that traded here last, or differs from it (that one had ${counted(known.links, 'commit')})`;
  if (against === undefined) return isNewest;
  if (guard.accept === undefined)
    throw new Refusal(
      `${path} ${against}: put the newest one there; when it is lost, start once with --accept-restored REASON, and Sluice asks the exchange for what happened since; nothing was changed`,
      3,
    );
  return {
    accepted: `${guard.accept} (it ${against})`,
    minEpoch: Math.max(last?.epoch ?? 0, known?.epoch ?? 0) + skippedEpochs,
  };
}

/** Whether a journal contains the copied opening with all its commits. */
function holds(db: Database, { epoch, mark, links, link }: HeadCopy): boolean {
  const opening = db.prepare('SELECT 1 FROM openings WHERE epoch = ? AND mark = ?').get(epoch, mark);
  const head = readHead(db);
  if (opening === undefined || head === undefined || head.links < links) return false;
  return head.links > links || head.link === link;
}
