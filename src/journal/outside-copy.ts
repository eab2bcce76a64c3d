/**
 * What is known of a journal outside of it: on which host it was last written, and how far it had come. A database that was
 * restored from a backup, or brought from another host, is whole in itself; only from outside can it be told from the newest.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { Refusal } from '../domain/refusal.ts';
import { type Head, readHead } from './hash-chain.ts';

export interface Guard {
  /** Where the newest head of each journal is remembered, outside every state directory. */
  readonly dir: string;
  /** This machine. */
  readonly host: string;
  /** Why the operator wants a journal taken that is not the newest, or from elsewhere; undefined: it is refused. */
  readonly accept: string | undefined;
}

/** This machine's name for good, as a digest: its machine id, or where it has none the name of the host. */
export function thisHost(): string {
  let name = '';
  try {
    name = readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    // Not every system has one.
  }
  return createHash('sha256')
    .update(name || hostname())
    .digest('hex')
    .slice(0, 16);
}

export interface Remembered {
  readonly epoch: number;
  /** The opening's random name. */
  readonly mark: string;
  readonly links: number;
  readonly link: string;
}

const nameOf = (idKey: string): string => `${createHash('sha256').update(idKey).digest('hex').slice(0, 16)}.json`;

/** The file in which a journal's newest head is kept. */
export const headFile = (dir: string, idKey: string): string => join(dir, nameOf(idKey));

function recall(path: string): Remembered | undefined {
  try {
    const { epoch, mark, links, link } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Remembered>;
    const isWhole = typeof epoch === 'number' && typeof links === 'number' && mark !== undefined && link !== undefined;
    return isWhole ? { epoch, mark, links, link } : undefined;
  } catch {
    // A missing one is that of a new machine; half a one is what a power cut leaves. Neither says that the journal is old.
    return undefined;
  }
}

/** The same length for every head, so that one write in place replaces the last one whole. */
const headBytes = 256;

/** Where the head of an opening is remembered. */
export interface Remember extends Pick<Remembered, 'epoch' | 'mark'> {
  readonly path: string;
}

export interface Memory {
  /** Written after each commit without waiting for the disk: what a power cut takes from it only makes it remember less. */
  keep(head: Head): void;
  close(): void;
}

/** Keeps the head of an opening up to date. Whoever cannot write here goes on: it guards against old copies, not against loss. */
export function memoryOf({ path, ...opening }: Remember): Memory {
  const file = open(path);
  return {
    keep({ links, link }) {
      const text = JSON.stringify({ ...opening, links, link } satisfies Remembered).padEnd(headBytes - 1);
      try {
        if (file !== undefined) writeSync(file, `${text}\n`, 0);
      } catch {
        // As when it could not be opened.
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
    },
  };
}

function open(path: string): number | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Not truncated: until the first commit of this opening, what was remembered holds.
    return openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  } catch {
    return undefined;
  }
}

/** Epochs between the last one in a journal that is not the newest and its next: ids of those in between are taken. */
const epochsLeftOut = 1_000;

export interface Taken {
  /** Why it was taken although something spoke against it, for its row in `openings`; null when nothing did. */
  readonly accepted: string | null;
  /** The least epoch that the next opening may have. */
  readonly leastEpoch: number;
}

export const nothingAgainst: Taken = { accepted: null, leastEpoch: 0 };

/** Refuses (exit 3) a journal that is not the newest of its kind or from another host, unless the operator accepts it. */
export function checkGuard(db: Database, path: string, guard: Guard): Taken {
  const last = db.prepare('SELECT epoch, host FROM openings ORDER BY epoch DESC LIMIT 1').get() as
    | { readonly epoch: number; readonly host: string | null }
    | undefined;
  const idKey = db.prepare("SELECT value FROM meta WHERE key = 'idKey'").pluck().get() as string | undefined;
  const known = idKey === undefined ? undefined : recall(headFile(guard.dir, idKey));
  const against =
    last !== undefined && last.host !== null && last.host !== guard.host
      ? 'was last written on another host, where a daemon may still trade with it'
      : known === undefined || holds(db, known)
        ? undefined
        : `is older than the one that traded here last, or went another way (that one was opened ${known.epoch} times and had ${known.links} commits)`;
  if (against === undefined) return nothingAgainst;
  if (guard.accept === undefined)
    throw new Refusal(
      `${path} ${against}: put the newest one there; when it is lost, start once with --accept-restored REASON, and what happened since is looked for at the exchange; nothing was changed`,
      3,
    );
  return {
    accepted: `${guard.accept} (it ${against})`,
    leastEpoch: Math.max(last?.epoch ?? 0, known?.epoch ?? 0) + epochsLeftOut,
  };
}

/** Whether a journal holds the opening that is remembered, and all that was committed in it. */
function holds(db: Database, { epoch, mark, links, link }: Remembered): boolean {
  const opening = db.prepare('SELECT 1 FROM openings WHERE epoch = ? AND mark = ?').get(epoch, mark);
  const head = readHead(db);
  if (opening === undefined || head === undefined || head.links < links) return false;
  return head.links > links || head.link === link;
}
